//! Flash with a cache for reads; one device in five has none.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, a read of the medium takes twice as long as a cached
//! one, and
//! the cache lies between the smallest span and half of the largest.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "cache", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (cost_us, link_us, rate_gb) = (dice.log(0.5, 5.0), dice.log(2.0, 20.0), dice.log(0.5, 7.0));
    let (read_us, cached_us) = (dice.log(40.0, 300.0), dice.log(3.0, 20.0));
    // Whole pages of 4 KiB.
    let bytes = (dice.log(6e6, 2e8) / 4096.0).round() * 4096.0;
    let present = dice.chance(0.8);
    let cache = format!("read_cache = {{ size = \"{bytes}B\", latency = \"{cached_us:.2}us\" }}\n");
    let device = format!(
        "name = \"blind\"\nsummary = \"a cache\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"{cost_us:.3}us\"\n\
         [link]\nbandwidth = \"{rate_gb:.3}GB/s\"\nlatency = \"{link_us:.2}us\"\n[flash]\nunits = 16\nstripe = \
         \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"{read_us:.2}us\"\nprogram = \"700us\"\nerase = \
         \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n{}{}",
        if present { &cache } else { "" },
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"60s\"\nprecision = \"2%\"\n[[experiment]]\nkind = \
                 \"working-set\"\nspan = \"4M..512M*2\"\ndepth = 1\n";
    let way_us = cost_us + link_us + 16384.0 / rate_gb / 1e3;
    let told = noise.is_quiet()
        && way_us + read_us >= 2.0 * (way_us + cached_us)
        && (4_194_304.0..=268_435_456.0).contains(&bytes);
    let expected = if present {
        vec![
            Expected::new(FindingName::CacheBytes, Op::Read, True::Fixed(bytes), told),
            Expected::new(FindingName::CacheLatency, Op::Read, True::Fixed((way_us + cached_us) * 1e3), told),
        ]
    } else {
        vec![
            Expected::new(FindingName::CacheBytes, Op::Read, True::Absent, true),
            Expected::new(FindingName::CacheLatency, Op::Read, True::Absent, true),
        ]
    };
    Drawn { study: study.into(), span_bytes: 1 << 30, drift: noise.drift, expected, device }
}

//! Flash with memory for writes, and behind it cells that take them quickly and empty only at rest: a long write
//! falls twice.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, each level lasts for 0.3 s and the second for 0.8 s,
//! and after the shorter pause the cells are not empty again.

use iosonde_model::{Finding, FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "two buffers", draw };

const PAGE: f64 = 16_384.0;

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let units = dice.power(2, 4) as f64;
    let (quick_us, slower) = (dice.log(200.0, 600.0), dice.log(2.5, 5.0));
    let program_us = quick_us * slower;
    let quick = units * PAGE * 1e6 / quick_us;
    // An erase for every 256 pages; folding senses each page.
    let dense_us = program_us + 3000.0 / 256.0;
    let (lasting, folding) = (units * PAGE * 1e6 / dense_us, units * PAGE * 1e6 / (dense_us + 60.0));
    let link = quick * dice.log(1.4, 4.0);
    let cells_s = dice.log(0.8, 11.0 / slower);
    let (cells, memory) = ((quick * cells_s).round(), (lasting * dice.log(0.2, 2.0)).round());
    let memory_s = memory / (link - quick);
    let device = format!(
        "name = \"blind\"\nsummary = \"two buffers\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"2us\"\n[link]\n\
         bandwidth = \"{link:.0}B/s\"\nlatency = \"5us\"\n[flash]\nunits = {units}\nstripe = \"16KiB\"\n\
         page = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"{program_us:.1}us\"\nerase = \"3ms\"\n\
         pages_per_block = 256\nplacement = \"static\"\nwrite_buffer = {{ size = \"{memory}B\", latency = \"15us\" }}\n\
         slc = {{ size = \"{cells}B\", program = \"{quick_us:.1}us\", fold = \"idle 1s\" }}\n{}",
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"8m\"\n[[experiment]]\nkind = \"sustained-write\"\n\
                 block_size = \"256k\"\ndepth = 8\ntrial = \"20s\"\ngap = \"6s\"\nrest = 0.2\n";
    // Within the pause memory drains, and after a second without requests the cells do, but for the second after the
    // one read in it.
    let left_s = 6.0 - memory / lasting - 2.0;
    let told = noise.is_quiet()
        && memory_s >= 0.3
        && cells_s - memory_s >= 0.8
        && cells / folding >= 1.2 * left_s.max(0.0);
    let of = |finding, stage: fn(&Finding) -> bool, truth| Expected {
        which: stage,
        ..Expected::new(finding, Op::Write, truth, told)
    };
    let first = |finding: &Finding| finding.conditions.stage == Some(1);
    let second = |finding: &Finding| finding.conditions.stage == Some(2);
    let expected = vec![
        of(FindingName::BurstRate, first, True::Fixed(link)),
        of(FindingName::BurstRate, second, True::Rate(quick / (1.0 + noise.tail))),
        of(FindingName::SustainedRate, |_| true, True::Rate(lasting / (1.0 + noise.tail))),
        of(FindingName::WriteBufferBytes, first, True::Fixed(memory)),
        of(FindingName::WriteBufferBytes, second, True::Fixed(cells)),
    ];
    Drawn { study: study.into(), span_bytes: 32 << 30, drift: noise.drift, expected, device }
}

//! Flash that reads with all its units, and takes writes into a small buffer that drains at a rate of its own; on one
//! device in five it drains faster than any number of reads that was measured.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, and neither neighbouring power of two lies within a tenth
//! of where the rates meet.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "crossing", draw };

const PAGE: f64 = 16_384.0;

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (cost_us, link_us, rate_gb) = (dice.log(0.3, 1.0), dice.log(2.0, 20.0), dice.log(6.0, 7.0));
    let read_us = dice.log(250.0, 500.0);
    let alone_us = cost_us + link_us + read_us + PAGE / rate_gb / 1e3;
    let present = dice.chance(0.8);
    let met_at = if present { dice.log(1.3, 24.0) } else { dice.log(48.0, 64.0) };
    let drain = met_at * PAGE * 1e6 / alone_us;
    let device = format!(
        "name = \"blind\"\nsummary = \"a crossing\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"{cost_us:.3}us\"\n\
         [link]\nbandwidth = \"{rate_gb:.3}GB/s\"\nlatency = \"{link_us:.2}us\"\n[flash]\nunits = 32\nstripe = \
         \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"{read_us:.2}us\"\nprogram = \"80us\"\nerase = \
         \"3ms\"\npages_per_block = 4096\nplacement = \"static\"\nwrite_buffer = {{ size = \"2MiB\", \
         latency = \"8us\", drain = \"{drain:.0}B/s\" }}\n{}",
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"60s\"\nprecision = \"2%\"\n[[experiment]]\nkind = \
                 \"queue-depth\"\nrw = [\"read\", \"write\"]\nblock_size = \"16k\"\ndepth = \"1..32*2\"\n";
    let below = 2f64.powf(met_at.log2().floor());
    let clear = met_at >= 1.1 * below && met_at <= 2.0 * below / 1.1;
    let truth = if present { True::Fixed(met_at) } else { True::Absent };
    let of = Expected {
        op: None,
        ..Expected::new(FindingName::Crossover, Op::Read, truth, noise.is_quiet() && clear)
    };
    let expected = if present || noise.is_quiet() { vec![of] } else { Vec::new() };
    Drawn { study: study.into(), span_bytes: 8 << 30, drift: noise.drift, expected, device }
}

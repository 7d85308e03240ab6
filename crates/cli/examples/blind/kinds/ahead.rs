//! A kernel that reads ahead 16 KiB to 1 MiB for a sequential buffered reader; one device in five is read with
//! direct I/O, without read-ahead.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, and fetching a piece takes three times as long as copying
//! a block.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "ahead", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let piece = dice.power(14, 20);
    let (cost_us, link_us, rate_gb) = (dice.log(0.5, 3.0), dice.log(2.0, 30.0), dice.log(0.5, 5.0));
    let (service_us, copy_gb) = (dice.log(50.0, 500.0), dice.log(3.0, 12.0));
    let present = dice.chance(0.8);
    let cache = format!(
        "memory = \"64MiB\"\npage_cache = true\ncopy_rate = \"{copy_gb:.2}GB/s\"\nreadahead = \"{piece}B\"\n"
    );
    let device = format!(
        "name = \"blind\"\nsummary = \"reading ahead\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \
         \"{cost_us:.3}us\"\n{}[link]\nbandwidth = \"{rate_gb:.3}GB/s\"\nlatency = \
         \"{link_us:.2}us\"\n[queue]\nservers = 4\nservice = {{ \
         fixed = \"{service_us:.1}us\" }}\n{}",
        if present { &cache } else { "" },
        noise.section()
    );
    let study = format!(
        "name = \"blind\"\nquestion = \"?\"\ntime = \"20s\"\nprecision = \"2%\"\n[[experiment]]\nkind = \"readahead\"\n\
         block_size = [\"4k\", \"16k\", \"64k\"]\nbuffered = {present}\n{}",
        if present { "rw = \"read\"\n" } else { "" }
    );
    let fetch_us = service_us + link_us + piece as f64 / rate_gb / 1e3;
    let told = noise.is_quiet() && fetch_us >= 3.0 * (cost_us + 65_536.0 / copy_gb / 1e3);
    let truth = if present { True::Fixed(piece as f64) } else { True::Absent };
    let expected = match present || noise.is_quiet() {
        true => vec![Expected::new(FindingName::ReadaheadBytes, Op::Read, truth, told)],
        false => Vec::new(),
    };
    Drawn { study, span_bytes: 1 << 30, drift: noise.drift, expected, device }
}

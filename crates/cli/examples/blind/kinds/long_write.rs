//! Flash behind a buffer that takes writes faster than it drains; one device in five has none.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, the link is at least 1.5 times as fast as what drains, and
//! the buffer lasts for 0.5 s to half of a trial and drains within the pause.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "long write", draw };

const TRIAL_S: f64 = 5.0;

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let units = dice.power(2, 5);
    let program_us = dice.log(400.0, 1500.0);
    let page = 16_384.0;
    // What the chips take, and a drain that is slower.
    let chips = units as f64 * page * 1e6 / (program_us + 3000.0 / 256.0);
    let drain = dice.log(5e6, 0.9 * chips);
    let link = dice.log(1.2, 6.0) * drain;
    let buffered = dice.chance(0.8);
    let bytes = (dice.log(0.3, 4.0) * (link - drain)).round();
    let buffer =
        format!("write_buffer = {{ size = \"{bytes}B\", latency = \"15us\", drain = \"{drain:.0}B/s\" }}\n");
    let device = format!(
        "name = \"blind\"\nsummary = \"flash\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"2us\"\n[link]\n\
         bandwidth = \"{link:.0}B/s\"\nlatency = \"5us\"\n[flash]\nunits = {units}\nstripe = \"16KiB\"\n\
         page = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"{program_us:.1}us\"\nerase = \"3ms\"\n\
         pages_per_block = 256\nplacement = \"static\"\n{}{}",
        if buffered { &buffer } else { "" },
        noise.section()
    );
    let study = format!(
        "name = \"blind\"\nquestion = \"?\"\ntime = \"80s\"\n[[experiment]]\nkind = \"sustained-write\"\n\
         block_size = \"256k\"\ndepth = 8\ntrial = \"{TRIAL_S}s\"\n"
    );
    let lasts_s = bytes / (link - drain);
    let told = noise.is_quiet()
        && link >= 1.5 * drain
        && (0.5..=TRIAL_S / 2.0).contains(&lasts_s)
        && bytes / drain <= TRIAL_S;
    let of = |finding, truth| Expected::new(finding, Op::Write, truth, told);
    // What drains is stretched by tail and drift as the medium is; the link is not.
    let expected = if buffered {
        vec![
            of(FindingName::BurstRate, True::Fixed(link)),
            of(FindingName::SustainedRate, True::Rate(drain / (1.0 + noise.tail))),
            of(FindingName::WriteBufferBytes, True::Fixed(bytes)),
        ]
    } else {
        vec![of(FindingName::BurstRate, True::Absent), of(FindingName::WriteBufferBytes, True::Absent)]
    };
    Drawn { study, span_bytes: 16 << 30, drift: noise.drift, expected, device }
}

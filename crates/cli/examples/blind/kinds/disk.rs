//! Disks, and one device in five that has no platter.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, and the outer rate is at least 1.1 times the inner.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "disk", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (cost_us, link_us) = (dice.log(1.0, 10.0), dice.log(5.0, 100.0));
    let host = format!(
        "name = \"blind\"\nsummary = \"a disk or none\"\ncapacity = \"2TB\"\n[host]\nrequest_cost = \
            \"{cost_us:.2}us\"\n\
         [link]\nbandwidth = \"600MB/s\"\nlatency = \"{link_us:.1}us\"\nduplex = false\n"
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"4m\"\nprecision = \
        \"2%\"\n[[experiment]]\nkind = \"disk\"\n";
    let drawn = |device: String, expected| Drawn {
        study: study.into(),
        span_bytes: 2_000_000_000_000,
        drift: noise.drift,
        expected,
        device: device + &noise.section(),
    };
    if dice.chance(0.2) {
        let flash = dice.chance(0.5);
        let medium = if flash {
            "[flash]\nunits = 16\nstripe = \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"70us\"\n\
             program = \"700us\"\nerase = \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n"
        } else {
            "[queue]\nservers = 8\nservice = { lognormal = { mean = \"400us\", cv = 0.3 } }\n"
        };
        let absent = |finding| Expected { op: None, ..Expected::new(finding, Op::Read, True::Absent, true) };
        let expected = vec![
            absent(FindingName::RotationPeriod),
            absent(FindingName::SeekTimeAverage),
            absent(FindingName::ZoneRatio),
        ];
        return drawn(host + medium, expected);
    }
    let rpm = [4200.0, 5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0][dice.below(6) as usize];
    let track_ms = dice.log(0.2, 1.5);
    let average_ms = track_ms + dice.log(2.0, 14.0);
    let outer = dice.log(60e6, 290e6);
    let ratio = dice.between(1.0, 2.2);
    let medium = format!(
        "[disk]\nrpm = {rpm}\nseek = {{ track = \"{track_ms:.4}ms\", average = \"{average_ms:.4}ms\" }}\nouter = \
         \"{outer:.0}B/s\"\ninner = \"{:.0}B/s\"\ncache = \"64MiB\"\nqueue = {{ slots = 32, policy = \"{}\" }}\n",
        outer / ratio,
        if dice.chance(0.5) { "sptf" } else { "fifo" }
    );
    let quiet = noise.is_quiet();
    let of = |finding, truth, told| Expected { op: None, ..Expected::new(finding, Op::Read, truth, told) };
    // Times of the medium are stretched by drift as rates are; a platter's turn is stretched with them here.
    let expected = vec![
        of(FindingName::RotationPeriod, True::Fixed(60e9 / rpm), quiet),
        of(FindingName::SeekTimeAverage, True::Time(average_ms * 1e6), quiet),
        of(FindingName::ZoneRatio, True::Fixed(ratio), quiet && ratio >= 1.1),
    ];
    drawn(host + &medium, expected)
}

//! A cloud volume with a rate of its own and a credit to be spent faster; one device in five has no limit.
//!
//! Identifiable: all of them; the credit lasts for 5 to 40 of 100 seconds.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "volume", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let iops = dice.log(300.0, 3000.0).round();
    let burst = (iops * dice.log(1.5, 6.0)).round();
    let credit = ((burst - iops) * dice.log(5.0, 40.0)).round();
    let limited = dice.chance(0.8);
    let limit = format!("[throttle]\niops = {iops}\nburst = {{ iops = {burst}, credit = {credit} }}\n");
    // The medium is at least twice as fast as the burst.
    let service_us = dice.log(0.1, 0.5) * 32e6 / burst;
    let device = format!(
        "name = \"blind\"\nsummary = \"a volume\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"2us\"\n[link]\n\
         bandwidth = \"2GB/s\"\nlatency = \"50us\"\n[queue]\nservers = 32\nservice = {{ fixed = \"{service_us:.1}us\" \
         }}\n{}{}",
        if limited { &limit } else { "" },
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"100s\"\nprecision = \"1%\"\n[[experiment]]\nkind = \
                 \"limit\"\ndepth = 64\n";
    let of = |finding, truth| {
        let truth = if limited { True::Fixed(truth) } else { True::Absent };
        Expected::new(finding, Op::Read, truth, true)
    };
    let expected =
        vec![of(FindingName::ThrottleRate, iops), of(FindingName::BurstCreditBytes, credit * 4096.0)];
    Drawn { study: study.into(), span_bytes: 1 << 30, drift: noise.drift, expected, device }
}

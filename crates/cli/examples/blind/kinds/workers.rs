//! Workers at QD 1, against one worker at the same total queue depth: storage that does not see who submits, and
//! a single worker whose processor is the limit.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

/// It does not matter who asks.
pub const ALIKE: Kind = Kind { name: "workers alike", draw: alike };
/// One worker's processor is the limit.
pub const BUSY: Kind = Kind { name: "busy worker", draw: busy };

const WORKERS: f64 = 8.0;

fn alike(dice: &mut Dice) -> Drawn {
    let (servers, service_us) = (dice.power(0, 4), dice.log(200.0, 5000.0));
    let link_us = dice.log(2.0, 100.0);
    let parts =
        format!("[link]\nbandwidth = \"4GB/s\"\nlatency = \"{link_us:.2}us\"\n[queue]\nservers = {servers}");
    // One queue, and nothing in it knows whose request it holds.
    drawn(Noise::draw(dice), &parts, service_us, 1.0)
}

fn busy(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (ratio, service_us) = (dice.between(1.5, 6.0), dice.log(200.0, 5000.0));
    // 8 / (c + s) over 1 / c, with a server for each request.
    let on_medium_us = service_us * (1.0 + noise.tail);
    let cost_us = ratio * on_medium_us / (WORKERS - ratio);
    let parts = format!("[host]\nrequest_cost = \"{cost_us:.3}us\"\nprocessors = 8\n[queue]\nservers = 8");
    drawn(noise, &parts, service_us, ratio)
}

fn drawn(noise: Noise, parts: &str, service_us: f64, ratio: f64) -> Drawn {
    let device = format!(
        "name = \"blind\"\nsummary = \"workers\"\ncapacity = \"64GiB\"\n{parts}\nservice = {{ fixed = \
         \"{service_us:.2}us\" }}\n{}",
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"30s\"\nprecision = \"2%\"\n[[experiment]]\n\
                 kind = \"jobs\"\njobs = [1, 8]\n";
    let expected =
        vec![Expected::new(FindingName::JobsEffect, Op::Read, True::Fixed(ratio), noise.is_quiet())];
    Drawn { study: study.into(), span_bytes: 1 << 30, drift: noise.drift, expected, device }
}

//! Servers that share one queue, behind a link: which queue depth saturates them.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, the saturation point is between QD 1.5 and an eighth of the
//! deepest number, and neither the link nor the program comes within a quarter of the servers' rate.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True, stated};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "queue", draw };

const DEEPEST: f64 = 256.0;

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let servers = dice.log(1.0, 48.0).round();
    let service_us = dice.log(80.0, 2000.0);
    let service = match dice.below(3) {
        0 => format!("{{ fixed = \"{service_us:.2}us\" }}"),
        1 => format!("{{ exponential = \"{service_us:.2}us\" }}"),
        _ => format!(
            "{{ lognormal = {{ mean = \"{service_us:.2}us\", cv = {:.2} }} }}",
            dice.between(0.1, 1.0)
        ),
    };
    let (cost_us, link_us, rate_gb) = (dice.log(0.5, 5.0), dice.log(2.0, 50.0), dice.log(0.3, 7.0));
    let device = format!(
        "name = \"blind\"\nsummary = \"a queue\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"{cost_us:.3}us\"\n\
         [link]\nbandwidth = \"{rate_gb:.3}GB/s\"\nlatency = \"{link_us:.2}us\"\n[queue]\nservers = {servers}\n\
         service = {service}\n{}",
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"20s\"\nprecision = \"2%\"\n[[experiment]]\n\
                 kind = \"queue-depth\"\nrw = \"randread\"\nblock_size = \"4k\"\ndepth = \"1..256*2\"\n";
    let per_s = servers * 1e6 / service_us;
    let free = 0.75 * f64::min(1e6 / cost_us, rate_gb * 1e9 / 4096.0);
    let told = noise.is_quiet() && per_s <= free;
    let truth = |finding| stated(&device, finding, Op::Read);
    let mut expected = Vec::new();
    let knee = truth(FindingName::QueueDepthKnee);
    let seen = told && knee.is_some_and(|knee| (1.5..=DEEPEST / 8.0).contains(&knee));
    let mut expect = |finding, value: Option<f64>, kind: fn(f64) -> True, identifiable| {
        expected.extend(value.map(|value| Expected::new(finding, Op::Read, kind(value), identifiable)));
    };
    expect(FindingName::BaseLatency, truth(FindingName::BaseLatency), True::Time, noise.is_quiet());
    expect(FindingName::MaxIops, truth(FindingName::MaxIops), True::Rate, seen);
    expect(FindingName::QueueDepthKnee, knee, True::Fixed, seen);
    // Neither a curve that saturates nor chance makes a shape.
    if noise.is_quiet() {
        expected.push(Expected::new(FindingName::Shape, Op::Read, True::Absent, true));
    }
    Drawn { study: study.into(), span_bytes: 1 << 30, drift: noise.drift, expected, device }
}

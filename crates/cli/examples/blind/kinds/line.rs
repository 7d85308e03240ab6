//! A cost that every request pays, and a rate at which bytes flow: the line of times over sizes.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, and half size lies between the smallest size and a quarter
//! of the largest (for `plateau_block_size`, 19 times half size at most the largest).

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True, stated};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "line", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (service_us, link_us) = (dice.log(20.0, 1000.0), dice.log(2.0, 100.0));
    let (cost_us, rate) = (dice.log(0.5, 20.0), dice.log(50e6, 7e9));
    let device = format!(
        "name = \"blind\"\nsummary = \"a line\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"{cost_us:.3}us\"\n\
         [link]\nbandwidth = \"{rate:.0}B/s\"\nlatency = \"{link_us:.2}us\"\n[queue]\nservers = 32\n\
         service = {{ fixed = \"{service_us:.2}us\" }}\n{}",
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"30s\"\nprecision = \"2%\"\n[[experiment]]\n\
                 kind = \"block-size\"\nrw = \"randread\"\nblock_size = \"4k..4M*2\"\n[[experiment]]\n\
                 kind = \"random-vs-sequential\"\nrw = [\"read\", \"randread\"]\ndepth = 16\n";
    let truth = |finding| stated(&device, finding, Op::Read);
    let half = truth(FindingName::HalfSize);
    let seen = noise.is_quiet() && half.is_some_and(|half| (4096.0..=1048576.0).contains(&half));
    let mut expected = Vec::new();
    let mut expect = |finding, value: Option<f64>, kind: fn(f64) -> True, identifiable| {
        expected.extend(value.map(|value| Expected::new(finding, Op::Read, kind(value), identifiable)));
    };
    expect(FindingName::PerRequestCost, truth(FindingName::PerRequestCost), True::Time, seen);
    expect(FindingName::HalfSize, half, True::Fixed, seen);
    expect(FindingName::DeviceBandwidth, truth(FindingName::DeviceBandwidth), True::Fixed, noise.is_quiet());
    if noise.is_quiet() {
        expected.push(Expected::new(FindingName::Shape, Op::Read, True::Absent, true));
    }
    Drawn { study: study.into(), span_bytes: 1 << 30, drift: noise.drift, expected, device }
}

//! A server that has everything in memory, 50 µs to 5 ms away, over a link of 12 MB/s to 1.2 GB/s.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, and the bytes that the link carries in a round trip
//! lie between the smallest size and a quarter of the largest.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "network", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (trip_us, cost_us) = (dice.log(50.0, 5000.0), dice.log(2.0, 10.0));
    let (link, service_us) = (dice.log(12e6, 1.2e9), dice.log(50.0, 500.0));
    let device = format!(
        "name = \"blind\"\nsummary = \"a server\"\ncapacity = \"64MiB\"\n[host]\nrequest_cost = \"{cost_us:.2}us\"\n\
         [network]\nround_trip = \"{trip_us:.2}us\"\nbandwidth = \"{link:.0}B/s\"\nserver_cache = \"1GiB\"\n[queue]\n\
         servers = 8\nservice = {{ fixed = \"{service_us:.1}us\" }}\n{}",
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"60s\"\nprecision = \"2%\"\n[[experiment]]\nkind = \
                 \"block-size\"\nrw = \"read\"\nblock_size = \"4k..1M*2\"\ndepth = 1\n[[experiment]]\nkind = \
                 \"random-vs-sequential\"\nrw = [\"read\", \"randread\"]\nblock_size = \"1M\"\ndepth = 16\n";
    let carried = link * trip_us / 1e6;
    let told = noise.is_quiet() && (4096.0..=262_144.0).contains(&carried);
    let expected = vec![
        Expected::new(FindingName::NetworkRoundTrip, Op::Read, True::Fixed(1e3 * trip_us), told),
        Expected::new(FindingName::DeviceBandwidth, Op::Read, True::Fixed(link), noise.is_quiet()),
    ];
    Drawn { study: study.into(), span_bytes: 64 << 20, drift: noise.drift, expected, device }
}

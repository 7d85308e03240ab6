//! Flash that spreads its addresses over units in stripes; one device in five does not look at addresses.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less, at most half as many units as the queue depth, neither
//! the link nor the program comes within 1.5 times what all units give, and a page is larger than the reads: where it
//! is not, large reads move no more than small ones do, so that no run can tell the units' limit from the link's.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "units", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (cost_us, link_us, rate_gb) = (dice.log(0.5, 3.0), dice.log(2.0, 20.0), dice.log(0.5, 7.0));
    let host = format!(
        "name = \"blind\"\nsummary = \"units\"\ncapacity = \"256GiB\"\n[host]\nrequest_cost = \"{cost_us:.3}us\"\n\
         [link]\nbandwidth = \"{rate_gb:.3}GB/s\"\nlatency = \"{link_us:.2}us\"\n"
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"26s\"\nprecision = \
        \"2%\"\n[[experiment]]\nkind = \"units\"\n\
                 depth = 64\nstride = [\"4k..16M*2\", \"24k..6M*4\"]\n";
    let span_bytes = 8u64 << 30;
    let of = |finding, truth, told| Expected { op: None, ..Expected::new(finding, Op::Read, truth, told) };
    let drawn = |device: String, expected| Drawn {
        study: study.into(),
        span_bytes,
        drift: noise.drift,
        expected,
        device: device + &noise.section(),
    };
    if dice.chance(0.2) {
        let servers = dice.log(1.0, 16.0).round();
        let queue = format!(
            "[queue]\nservers = {servers}\nservice = {{ fixed = \"{:.1}us\" }}\n",
            dice.log(60.0, 400.0)
        );
        return drawn(host + &queue, vec![of(FindingName::StripeBytes, True::Absent, true)]);
    }
    let units = if dice.chance(0.75) { dice.power(1, 6) } else { 3 * dice.power(0, 4) };
    let page = dice.power(12, 14);
    let stripe = page << dice.below(5);
    let read_us = dice.log(80.0, 400.0);
    let flash = format!(
        "[flash]\nunits = {units}\nstripe = \"{stripe}B\"\npage = \"{page}B\"\nmapping_unit = \"4KiB\"\nread = \
         \"{read_us:.2}us\"\nprogram = \"700us\"\nerase = \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n"
    );
    let per_s = units as f64 * 1e6 / read_us;
    let free = f64::min(1e6 / cost_us, rate_gb * 1e9 / 4096.0) / 1.5;
    let told = noise.is_quiet() && per_s <= free && units <= 32 && page > 4096;
    let expected = vec![
        of(FindingName::Parallelism, True::Fixed(units as f64), told),
        of(FindingName::StripeBytes, True::Fixed(stripe as f64), told),
    ];
    drawn(host + &flash, expected)
}

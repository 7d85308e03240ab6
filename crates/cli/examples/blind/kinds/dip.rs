//! Flash with as many units as one stride skips: that stride meets one unit only, its neighbours go round all of
//! them. For one device in five the study leaves that stride out.
//!
//! Identifiable: rates over 100 ms scatter by 3 % or less.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "dip", draw };

const STRIPE: u64 = 16_384;

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let units = dice.power(2, 4);
    let (cost_us, link_us, rate_gb) = (dice.log(0.3, 1.0), dice.log(2.0, 20.0), dice.log(5.0, 7.0));
    let read_us = dice.log(80.0, 400.0);
    let device = format!(
        "name = \"blind\"\nsummary = \"one bad stride\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \
         \"{cost_us:.3}us\"\n[link]\nbandwidth = \"{rate_gb:.3}GB/s\"\nlatency = \
         \"{link_us:.2}us\"\n[flash]\nunits = {units}\nstripe = \
         \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"{read_us:.2}us\"\nprogram = \"700us\"\nerase = \
         \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n{}",
        noise.section()
    );
    let present = dice.chance(0.8);
    // Odd numbers of stripes go round all units, whose number is a power of two.
    let steps = [units - 3, units - 1, units, units + 1, units + 3];
    let strides: Vec<String> = steps
        .into_iter()
        .filter(|step| present || *step != units)
        .map(|step| format!("{}", step * STRIPE))
        .collect();
    // Deep enough that no unit runs dry while another one stalls for ten reads.
    let study = format!(
        "name = \"blind\"\nquestion = \"?\"\ntime = \"20s\"\nprecision = \"2%\"\n[[experiment]]\nkind = \"stride\"\n\
         rw = \"read\"\nblock_size = \"16k\"\nstride = [{}]\ndepth = {}\n",
        strides.join(", "),
        16 * units
    );
    let truth = if present { True::Fixed(1.0 / units as f64) } else { True::Absent };
    let expected = match present || noise.is_quiet() {
        true => vec![Expected::new(FindingName::Shape, Op::Read, truth, noise.is_quiet())],
        false => Vec::new(),
    };
    Drawn { study, span_bytes: 8 << 30, drift: noise.drift, expected, device }
}

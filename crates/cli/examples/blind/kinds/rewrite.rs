//! Flash whose mapping has pieces of 512 B to 256 KiB, with a buffer or without.
//!
//! Identifiable: the piece is larger than the smallest write (512 B), rates over 100 ms scatter by 3 % or less, and
//! what is read first makes the write of half a piece longer by 3 % or more, by twice the scatter and, with a
//! buffer, by
//! three times the buffer's answer.

use iosonde_model::{FindingName, Op};

use super::{Drawn, Expected, Kind, True};
use crate::draw::{Dice, Noise};

pub const KIND: Kind = Kind { name: "rewrite", draw };

fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let units = dice.power(2, 5);
    let page = dice.power(12, 14);
    let stripe = page << dice.below(3);
    let unit = dice.power(9, 18);
    let (read_us, program_us) = (dice.log(40.0, 150.0), dice.log(300.0, 1500.0));
    let buffer = dice.chance(0.5);
    let flush_us = dice.log(10.0, 1000.0);
    let (cost_us, rate_gb, link_us) = (dice.log(0.5, 10.0), dice.log(0.5, 7.0), dice.log(2.0, 30.0));
    let device = format!(
        "name = \"blind\"\nsummary = \"pieces\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \
            \"{cost_us:.2}us\"\n[link]\n\
         bandwidth = \"{rate_gb:.2}GB/s\"\nlatency = \"{link_us:.1}us\"\n[flash]\nunits = {units}\nstripe = \
             \"{stripe}B\"\npage = \
         \"{page}B\"\nmapping_unit = \"{unit}B\"\nread = \"{read_us:.2}us\"\nprogram = \"{program_us:.2}us\"\nerase = \
         \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n{}{}",
        if buffer {
            format!(
                "write_buffer = {{ size = \"16MiB\", latency = \"15us\", flush = \"{flush_us:.1}us\" }}\n"
            )
        } else {
            String::new()
        },
        noise.section()
    );
    let study = "name = \"blind\"\nquestion = \"?\"\ntime = \"80s\"\nprecision = \"1%\"\n[[experiment]]\nkind = \
                 \"rewrite\"\nblock_size = \"512..1M*2\"\n";
    // A write of half a piece: pages that one unit programs one after another, and those it senses first.
    let pages = |bytes: u64| bytes.div_ceil(page);
    let round = units * stripe / page;
    let turns = |count: u64| count / round * (stripe / page) + (count % round).min(stripe / page);
    let programs = turns(pages(unit)) as f64 * program_us + if buffer { flush_us + 30.0 } else { 20.0 };
    let share = read_us / programs;
    let answer_us = cost_us + link_us + 15.0 + unit as f64 / rate_gb / 1e3;
    let early = buffer && read_us < 3.0 * answer_us;
    let told = !early && unit > 512 && noise.is_quiet() && share >= 0.03 && share >= 2.0 * noise.rate_cv;
    let expected =
        vec![Expected::new(FindingName::MappingUnitBytes, Op::Write, True::Fixed(unit as f64), told)];
    Drawn { study: study.into(), span_bytes: 8 << 30, drift: noise.drift, expected, device }
}

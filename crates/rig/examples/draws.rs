//! Prints what a request's address costs, pattern by pattern: nanoseconds of one core for each draw, the
//! median of 15 repeats of a million, and the share of the 50 ns that the loop may spend on a request in all.
//!
//! `taskset -c 1 cargo run --release -p iosonde-rig --example draws`

#![allow(clippy::print_stdout)]

use std::hint::black_box;

use iosonde_model::{Op, Rw, StridePass, TrialSpec};
use iosonde_rig::{clock::Clock, offset::Offsets};

const DRAWS: u32 = 1_000_000;
const REPEATS: usize = 15;

fn spec(rw: Rw) -> TrialSpec {
    TrialSpec { rw, span_bytes: 4 << 30, ..TrialSpec::default() }
}

fn random(distribution: &str) -> TrialSpec {
    let distribution = distribution.parse().expect("it is a distribution");
    TrialSpec { distribution, ..spec(Rw::RandRead) }
}

fn patterns() -> Vec<(&'static str, TrialSpec)> {
    let several = "4k:60,16k:30,64k:10".parse().expect("these are sizes");
    let stride_bytes = Some(65_536);
    // One block more than a power of two: half of what the permutation gives is sent through it again.
    let worst = TrialSpec { span_bytes: (4 << 30) + 4096, ..random("once") };
    vec![
        ("uniform", spec(Rw::RandRead)),
        ("uniform, read/write mix", spec(Rw::RandRw)),
        ("uniform, three sizes", TrialSpec { block_sizes: several, ..spec(Rw::RandRead) }),
        ("sequential", spec(Rw::Read)),
        ("stride", TrialSpec { stride_bytes, ..spec(Rw::Read) }),
        ("stride, shifted", TrialSpec { stride_bytes, stride_pass: StridePass::Shifted, ..spec(Rw::Read) }),
        ("once, 2^20 blocks", random("once")),
        ("once, 2^20 + 1 blocks", worst.clone()),
        ("zipf:0.5", random("zipf:0.5")),
        ("zipf:1", random("zipf:1")),
        ("zipf:1.2", random("zipf:1.2")),
        ("zipf:1.2, 2^20 + 1 blocks", TrialSpec { distribution: random("zipf:1.2").distribution, ..worst }),
        ("zipf:3", random("zipf:3")),
        ("pareto:0.2", random("pareto:0.2")),
        ("normal:10%", random("normal:10%")),
        ("hot:80%/20%", random("hot:80%/20%")),
    ]
}

fn median_ns(clock: &Clock, mut draw: impl FnMut(u64) -> (Op, u64, u32)) -> f64 {
    let mut repeats: Vec<u64> = (0..REPEATS)
        .map(|_| {
            let begun_ns = clock.now_ns();
            for n in 0..DRAWS {
                black_box(draw(n.into()));
            }
            clock.now_ns() - begun_ns
        })
        .collect();
    repeats.sort_unstable();
    repeats[REPEATS / 2] as f64 / f64::from(DRAWS)
}

fn main() {
    let clock = Clock::real();
    println!("{:26} {:5.1} ns", "(this program's own loop)", median_ns(&clock, |n| (Op::Read, n, 4096)));
    for (name, spec) in patterns() {
        let mut offsets = Offsets::new(&spec, 0, 1);
        let ns = median_ns(&clock, |_| offsets.draw());
        println!("{name:26} {ns:5.1} ns {:4.0} %", ns / 50.0 * 100.0);
    }
}

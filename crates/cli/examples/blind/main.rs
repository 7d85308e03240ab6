//! Prints how often findings hold the truth on devices that nobody chose: the table of `docs/findings.md`.
//!
//! `blind [--devices N] [--seed N] [--kinds TEXT] [--show]`: of each kind of device N are drawn at random, with noise,
//! correlation, drift and tails, each is studied in the ordinary way (plan, schedule, checks, findings) in virtual
//! time, and what was found is compared with what is true. `--kinds` keeps the kinds whose name contains the text;
//! `--show` prints each miss. The seed is fresh unless one is given, and is printed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod draw;
mod kinds;
mod rules;
mod score;
mod study;

use std::hash::{BuildHasher, Hasher, RandomState};

use draw::Dice;
use score::Scores;

struct Args {
    devices: u64,
    seed: u64,
    kinds: String,
    show: bool,
}

fn args() -> Result<Args, String> {
    let mut args = Args {
        devices: 400,
        seed: RandomState::new().build_hasher().finish() >> 11,
        kinds: String::new(),
        show: false,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("`{text}` is no number"));
        match word.as_str() {
            "--devices" => args.devices = number(value()?)?,
            "--seed" => args.seed = number(value()?)?,
            "--kinds" => args.kinds = value()?,
            "--show" => args.show = true,
            other => return Err(format!("unknown option {other}; see the head of examples/blind/main.rs")),
        }
    }
    Ok(args)
}

fn main() -> std::process::ExitCode {
    let args = match args() {
        Ok(args) => args,
        Err(why) => {
            eprintln!("{why}");
            return std::process::ExitCode::from(2);
        }
    };
    let mut scores = Scores::default();
    for kind in kinds::KINDS.iter().filter(|kind| kind.name.contains(&args.kinds)) {
        for nth in 0..args.devices {
            let seed = args.seed.wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let drawn = (kind.draw)(&mut Dice::new(seed ^ 0x0b11_d0b1));
            match study::run(&drawn.device, &drawn.study, drawn.span_bytes, seed) {
                Ok(run) => scores.add(kind.name, &drawn, &run, args.show),
                Err(why) => eprintln!("{}: {why}\n{}", kind.name, drawn.device),
            }
        }
        eprintln!("{}: {} devices", kind.name, args.devices);
    }
    println!("seed {}, {} devices of each kind\n", args.seed, args.devices);
    println!("{}", scores.table());
    std::process::ExitCode::SUCCESS
}

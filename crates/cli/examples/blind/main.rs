//! Prints how often findings hold the truth on devices that nobody chose: the table of `docs/findings.md`.
//!
//! `blind [--devices N] [--seed N] [--kinds TEXT,..] [--show] [--keep FILE]`: of each kind of device N are drawn at
//! random, with noise, correlation, drift and tails, each is studied by the functions that `iosonde run` calls, and
//! what was found is compared with what is true. `--kinds` keeps the kinds whose name contains one of the texts;
//! `--show` prints each miss. The seed is fresh unless one is given, and is printed. With `--keep` each device's
//! answers are kept in a file as soon as they are there: the same command goes on where it was ended, and its table
//! has all that the file has of the seed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod draw;
mod kinds;
mod rules;
mod score;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io::Write,
};

use draw::Dice;
use score::{Kept, Scores};

struct Args {
    devices: u64,
    seed: u64,
    kinds: String,
    show: bool,
    keep: Option<String>,
}

fn args() -> Result<Args, String> {
    let mut args = Args {
        devices: 400,
        seed: RandomState::new().build_hasher().finish() >> 11,
        kinds: String::new(),
        show: false,
        keep: None,
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
            "--keep" => args.keep = Some(value()?),
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
    let kept: Vec<Kept> = match args.keep.as_deref().map_or(Ok(Vec::new()), read) {
        Ok(kept) => kept.into_iter().filter(|one| one.seed == args.seed).collect(),
        Err(why) => {
            eprintln!("{why}");
            return std::process::ExitCode::FAILURE;
        }
    };
    for kind in kinds::KINDS.iter().filter(|kind| args.kinds.split(',').any(|text| kind.name.contains(text)))
    {
        for nth in 0..args.devices {
            if kept.iter().any(|one| (one.kind.as_str(), one.nth) == (kind.name, nth)) {
                continue;
            }
            let seed = args.seed.wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let drawn = (kind.draw)(&mut Dice::new(seed ^ 0x0b11_d0b1));
            match iosonde_cli::run_simulated(&drawn.device, &drawn.study, Some(drawn.span_bytes), seed) {
                Ok(run) => {
                    let answers = score::answers(kind.name, (args.seed, nth), &drawn, &run, args.show);
                    if let Err(why) = args.keep.as_deref().map_or(Ok(()), |path| write(path, &answers)) {
                        eprintln!("{why}");
                        return std::process::ExitCode::FAILURE;
                    }
                    answers.into_iter().for_each(|answer| scores.add(answer));
                }
                Err(why) => eprintln!("{}: {why}\n{}", kind.name, drawn.device),
            }
        }
        eprintln!("{}: {} devices", kind.name, args.devices);
    }
    kept.into_iter().for_each(|one| scores.add(one));
    println!("seed {}, {} devices of each kind\n", args.seed, args.devices);
    println!("{}", scores.table());
    std::process::ExitCode::SUCCESS
}

/// What a file has already; nothing where there is none.
fn read(path: &str) -> Result<Vec<Kept>, String> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other.map_err(|error| format!("{path}: {error}"))?,
    };
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{path}: {error}"))).collect()
}

fn write(path: &str, answers: &[Kept]) -> Result<(), String> {
    let lines = answers.iter().map(|one| serde_json::to_string(one).map(|line| line + "\n"));
    let text: String = lines.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| format!("{path}: {error}"))
}

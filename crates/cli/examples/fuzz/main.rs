//! Gives damaged files to every parser and prints how many were accepted, and how long the slowest took. No panic, and
//! nothing over 5 s.
//!
//! `fuzz [--minutes 1] [--seed N] [PARSER ..]`: so many minutes for each parser; without a seed, a fresh one, which is
//! printed. A mutant that did harm is written to the folder for temporary files. Ends with 1 if there was one.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod mutate;
mod parsers;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    process::{Command, ExitCode},
};

use iosonde_rig::clock::Clock;
use parsers::{parsers, series};

fn main() -> ExitCode {
    let (mut minutes, mut seed, mut names) =
        (1.0, RandomState::new().build_hasher().finish() >> 16, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse::<f64>().ok());
        match word.as_str() {
            "--minutes" => minutes = number().expect("--minutes takes a number"),
            "--seed" => seed = number().expect("--seed takes a number") as u64,
            _ => names.push(word),
        }
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let program = std::env::var_os("IOSONDE").expect("IOSONDE names the program that makes the first run");
    let store = folder.path().join("n.db");
    let make = |words: &[&str]| {
        let command =
            Command::new(&program).args(words).arg("--store").arg(&store).current_dir(folder.path()).output();
        assert!(command.is_ok_and(|output| output.status.success()), "{words:?}");
    };
    make(&["run", "queue-depth", "sim:sata-ssd", "--time", "20s", "--seed", "1", "-q"]);
    make(&["export", "last", "-f", "json", "-o", "run.json"]);
    println!("seed {seed}\n\n| parser | mutants | accepted | slowest | harm |\n|---|---|---|---|---|");
    let (clock, mut harm) = (Clock::real(), 0);
    let all = parsers(folder.path());
    if let Some(strange) = names.iter().find(|name| !all.iter().any(|own| own.name.contains(name.as_str()))) {
        let known: Vec<&str> = all.iter().map(|own| own.name).collect();
        eprintln!("no parser has `{strange}` in its name; there are {}", known.join(", "));
        return ExitCode::FAILURE;
    }
    for parser in all {
        if !names.is_empty() && !names.iter().any(|name| parser.name.contains(name.as_str())) {
            continue;
        }
        let began_s = clock.now_s();
        let tally = series(&parser, folder.path(), seed, |_| clock.now_s() - began_s < minutes * 60.0);
        let (name, slowest_s) = (parser.name, tally.longest.as_secs_f64());
        println!(
            "| {name} | {} | {} | {slowest_s:.2} s | {} |",
            tally.mutants,
            tally.accepted,
            tally.wrong.len()
        );
        tally.wrong.iter().for_each(|wrong| eprintln!("{wrong}"));
        harm += tally.wrong.len();
    }
    if harm == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

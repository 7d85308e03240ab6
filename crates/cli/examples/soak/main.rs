//! Runs `full` on simulated devices under random faults and prints what came out: no panic, every trial with a fault
//! excluded, no finding that rests on one.
//!
//! `soak [--hours 24] [--seeds 100] [--seed 1] [DEVICE ..]`: so many runs of half an hour at least, and until so many
//! hours have passed on the simulated clocks; each has a device and faults of its own. Ends with 1 if anything did not
//! hold.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod faulty;

use std::process::ExitCode;

use faulty::{Tally, soak};

/// The built-in study, which takes half an hour.
const FULL: &str = include_str!("../../../../studies/full.toml");
const FULL_S: f64 = 1800.0;
/// Devices of which half a simulated hour takes seconds.
const DEVICES: [&str; 6] = ["hdd-7200", "cloud-volume", "container", "nfs", "usb-stick", "cloud-gp3"];

fn main() -> ExitCode {
    let (mut hours, mut seeds, mut seed, mut devices) = (24.0, 100, 1, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|text| text.parse::<f64>().ok());
        match word.as_str() {
            "--hours" => hours = number().expect("--hours takes a number"),
            "--seeds" => seeds = number().expect("--seeds takes a number") as u64,
            "--seed" => seed = number().expect("--seed takes a number") as u64,
            _ => devices.push(word),
        }
    }
    if devices.is_empty() {
        devices = DEVICES.map(str::to_owned).into();
    }
    let (mut sum, mut runs, mut refused) = (Tally::default(), 0_u64, 0_u64);
    while sum.simulated_s < hours * 3600.0 || runs < seeds {
        let device = &devices[(runs % devices.len() as u64) as usize];
        let tally = soak(device, FULL, FULL_S, seed + runs);
        eprintln!(
            "{device} {}: {:.0} s, {} of {} trials met a fault, {} found",
            seed + runs,
            tally.simulated_s,
            tally.met,
            tally.trials,
            tally.found
        );
        tally.wrong.iter().for_each(|wrong| println!("{device}, seed {}: {wrong}", seed + runs));
        runs += 1;
        if runs > 20 && refused + 1 >= runs {
            println!("no run got as far as a result");
            return ExitCode::FAILURE;
        }
        refused += u64::from(tally.refused);
        sum.simulated_s += tally.simulated_s;
        sum.trials += tally.trials;
        sum.met += tally.met;
        sum.found += tally.found;
        sum.wrong.extend(tally.wrong);
    }
    println!(
        "| runs | ended with an error | simulated hours | trials | with a fault | findings | did not hold |"
    );
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| {runs} | {refused} | {:.1} | {} | {} | {} | {} |",
        sum.simulated_s / 3600.0,
        sum.trials,
        sum.met,
        sum.found,
        sum.wrong.len()
    );
    if sum.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

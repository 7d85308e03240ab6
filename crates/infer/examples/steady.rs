//! Prints how often a storage is accepted as steady, by drift and correlation: a table of `docs/checks.md`.
//!
//! `steady [--replicates N] [--seed N]`; with `--thresholds`, what each kind of change scores by chance alone.

#![allow(clippy::print_stdout)]

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_stats::{
    change_point::{Change, Likeliest},
    steady::{self, BOUND, LOOKS},
};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

const ROUNDS: usize = 60;

/// ln(rate) of `length` rounds: `change` is what a round does to the rate.
fn rounds(
    random: &mut Xoshiro256PlusPlus,
    length: usize,
    cv: f64,
    correlation: f64,
    change: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut state: f64 = random.sample(StandardNormal);
    let mut one = |round: usize| {
        let fresh: f64 = random.sample(StandardNormal);
        state = correlation * state + (1.0 - correlation * correlation).sqrt() * fresh;
        change(round) + (1.0 + cv * state).max(0.05).ln()
    };
    (0..length).map(&mut one).collect()
}

fn percent(count: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * count as f64 / of as f64)
}

fn acceptance(random: &mut Xoshiro256PlusPlus, replicates: usize) {
    println!(
        "| CV | change a round | correlation | accepted | median round | SNIA accepts | its median round |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (cv, changes) in [(0.05, &[0.0, -0.005, -0.01, -0.015, -0.02][..]), (0.12, &[0.0, -0.02][..])] {
        for &change in changes {
            for correlation in [0.0, 0.3, 0.6] {
                let (mut ours, mut theirs) = (Vec::new(), Vec::new());
                for _ in 0..replicates {
                    let logs = rounds(random, ROUNDS, cv, correlation, |r| (1.0f64 + change).ln() * r as f64);
                    ours.extend(steady::first(&logs, BOUND).map(|s| s.to));
                    theirs.extend(steady::snia(&logs.iter().map(|l| l.exp()).collect::<Vec<_>>()));
                }
                let middle = |all: &mut Vec<usize>| {
                    all.sort_unstable();
                    all.get(all.len() / 2).map_or("-".into(), ToString::to_string)
                };
                let shares = (percent(ours.len(), replicates), percent(theirs.len(), replicates));
                println!(
                    "| {:.0} % | {:.1} % | {correlation} | {} | {} | {} | {} |",
                    cv * 100.0,
                    change * 100.0,
                    shares.0,
                    middle(&mut ours),
                    shares.1,
                    middle(&mut theirs)
                );
            }
        }
    }
}

fn kinds(random: &mut Xoshiro256PlusPlus, replicates: usize) {
    println!(
        "\n| storage (CV 5 %) | correlation | accepted | from the later part | a cycle is named by round 60 |"
    );
    println!("|---|---|---|---|---|");
    let step = |round: usize| if round < 8 { 0.0 } else { 0.7f64.ln() };
    let cycle = |round: usize| 0.1 * (std::f64::consts::TAU * round as f64 / 12.0).sin();
    for (name, shape) in
        [("30 % lower from round 8 on", &step as &dyn Fn(usize) -> f64), ("±10 % every 12 rounds", &cycle)]
    {
        for correlation in [0.0, 0.3, 0.6] {
            let (mut accepted, mut later, mut named) = (0, 0, 0);
            for _ in 0..replicates {
                let logs = rounds(random, ROUNDS, 0.05, correlation, shape);
                if let Some(window) = steady::first(&logs, BOUND) {
                    accepted += 1;
                    later += usize::from(window.from >= 8);
                }
                let found = Likeliest::of(&logs).map(|found| found.change());
                named += usize::from(
                    matches!(found, Some(Change::Cycle { period, .. }) if (period - 12.0).abs() < 1.5),
                );
            }
            let of = |count| percent(count, replicates);
            println!("| {name} | {correlation} | {} | {} | {} |", of(accepted), of(later), of(named));
        }
    }
}

fn thresholds(random: &mut Xoshiro256PlusPlus, replicates: usize) {
    println!("| rounds | correlation | drift 99.7 % | step | cycle | anything beyond its threshold |");
    println!("|---|---|---|---|---|---|");
    for length in [LOOKS[0], LOOKS[2], LOOKS[4], LOOKS[6], ROUNDS] {
        for correlation in [0.0, 0.3, 0.6, 0.75] {
            let mut all = [Vec::new(), Vec::new(), Vec::new()];
            let mut beyond = 0;
            for _ in 0..replicates {
                let found =
                    Likeliest::of(&rounds(random, length, 0.05, correlation, |_| 0.0)).expect("long enough");
                all[0].push(found.scores.drift);
                all[1].push(found.scores.step);
                all[2].push(found.scores.cycle);
                beyond += usize::from(found.change() != Change::None);
            }
            let at = all.map(|mut scores| {
                scores.sort_by(f64::total_cmp);
                scores[scores.len() * 997 / 1000]
            });
            println!(
                "| {length} | {correlation} | {:.1} | {:.1} | {:.1} | {} |",
                at[0],
                at[1],
                at[2],
                percent(beyond, replicates)
            );
        }
    }
}

fn main() {
    let (mut replicates, mut seed, mut chance) =
        (1000, RandomState::new().build_hasher().finish() >> 11, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok()).expect("a number follows");
        match argument.as_str() {
            "--replicates" => replicates = number() as usize,
            "--seed" => seed = number(),
            "--thresholds" => chance = true,
            other => panic!("{other}: --replicates N, --seed N or --thresholds"),
        }
    }
    println!("seed {seed}, {replicates} runs a cell\n");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    if chance {
        thresholds(&mut random, replicates);
    } else {
        acceptance(&mut random, replicates);
        kinds(&mut random, replicates);
    }
}

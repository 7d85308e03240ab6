//! Prints how often the time left that a run announces after a third of itself is right within a fifth, for every kind
//! of noise and for runs that end early, in the middle and with their budget: the figures of `docs/studies.md`.
//!
//! `time_left [--runs N] [--seed N] [--points N]`

#![allow(clippy::print_stdout)]

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_plan::schedule::{Terms, TimeLeft};
use iosonde_testkit::schedule::{Kinship, Noise, Shape, time_left};

/// A precision in units of the noise, and where it ends a run of 27 points.
const ENDS: [(f64, &str); 4] =
    [(2.0, "earliest rounds"), (0.7, "some rounds later"), (0.4, "middle"), (0.01, "budget")];
const KINDS: [(f64, Kinship, &str); 5] = [
    (0.0, Kinship::Time, "none"),
    (0.3, Kinship::Time, "0.3 in time"),
    (0.6, Kinship::Time, "0.6 in time"),
    (0.3, Kinship::Point, "0.3 in a point"),
    (0.6, Kinship::Point, "0.6 in a point"),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let number = |name: &str, otherwise: u64| given(name).and_then(|t| t.parse().ok()).unwrap_or(otherwise);
    let runs = number("--runs", 100);
    let points = number("--points", 27) as usize;
    let first = number("--seed", RandomState::new().build_hasher().finish() >> 1);
    println!(
        "{runs} runs a line, {points} points, seed {first}; noise of 5 %, six kinds of drift and outliers in turn"
    );
    println!(
        "correlation | the run ends | within 20 %, % | one number said, % | and right, % | range right, % | ends apart"
    );
    for (correlation, kinship, kind) in KINDS {
        for (precision, end) in ENDS {
            let said: Vec<(TimeLeft, f64)> = (first..first + runs)
                .filter_map(|seed| {
                    let drift_per_minute = [0.0, -0.05, -0.18][(seed % 3) as usize];
                    let outliers = [0.0, 0.02][(seed / 3 % 2) as usize];
                    let (cv, unlike, shape) = (0.05, 1.0, Shape::Steady);
                    let noise = Noise { cv, unlike, correlation, kinship, drift_per_minute, shape, outliers };
                    let terms = Terms {
                        seed,
                        precision: precision * cv,
                        confidence: 0.95,
                        budget_s: 600.0,
                        rounds: None,
                        overhead_s: 0.01,
                    };
                    time_left(points, noise, &terms).ok()
                })
                .collect();
            println!("{kind:14} | {end:17} | {}", line(&said));
        }
    }
}

fn line(said: &[(TimeLeft, f64)]) -> String {
    let near = |(said, left_s): &&(TimeLeft, f64)| (said.likely_s / left_s - 1.0).abs() <= 0.2;
    // A third of a trial: what ends a run is a round's beginning.
    let held =
        |(said, left_s): &&(TimeLeft, f64)| said.least_s <= left_s * 1.02 && *left_s <= said.most_s * 1.02;
    let (numbers, ranges): (Vec<_>, Vec<_>) =
        said.iter().copied().partition(|(left, _)| left.is_one_number());
    let share = |count: usize, of: usize| 100.0 * count as f64 / of as f64;
    let mut apart: Vec<f64> = ranges.iter().map(|(left, _)| left.most_s / left.least_s).collect();
    apart.sort_by(f64::total_cmp);
    format!(
        "{:5.1} | {:5.1} | {:5.1} | {:5.1} | {:.2}",
        share(said.iter().filter(near).count(), said.len()),
        share(numbers.len(), said.len()),
        share(numbers.iter().filter(near).count(), numbers.len()),
        share(ranges.iter().filter(held).count(), ranges.len()),
        apart.get(apart.len() / 2).copied().unwrap_or(f64::NAN),
    )
}

//! Prints what each kind of change scores by chance alone, by length and correlation of a series: the source of
//! `change_point::THRESHOLDS`.
//!
//! `change_thresholds [REPLICATES] [SEED]`

#![allow(clippy::print_stdout)]

use iosonde_stats::change_point::{Change, Likeliest};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Noise with a CV of 5 %.
fn noise(random: &mut Xoshiro256PlusPlus, length: usize, correlation: f64) -> Vec<f64> {
    let mut state: f64 = random.sample(StandardNormal);
    let mut one = || {
        let fresh: f64 = random.sample(StandardNormal);
        state = correlation * state + (1.0 - correlation * correlation).sqrt() * fresh;
        (1.0 + 0.05 * state).max(0.05).ln()
    };
    (0..length).map(|_| one()).collect()
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().expect("a whole number"));
    let (replicates, seed) = (numbers.next().unwrap_or(1000) as usize, numbers.next().unwrap_or(20_261_122));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    println!("seed {seed}, {replicates} series a row\n");
    println!("| members | correlation | drift 99.7 % | step | cycle | anything beyond its threshold |");
    println!("|---|---|---|---|---|---|");
    for length in [10, 15, 24, 38, 60] {
        for correlation in [0.0, 0.3, 0.6, 0.75] {
            let series = (0..replicates).map(|_| noise(&mut random, length, correlation));
            let found: Vec<Likeliest> =
                series.map(|logs| Likeliest::of(&logs).expect("long enough")).collect();
            let at = |score: fn(&Likeliest) -> f64| {
                let mut scores: Vec<f64> = found.iter().map(score).collect();
                scores.sort_by(f64::total_cmp);
                scores[replicates * 997 / 1000]
            };
            let (drift, step, cycle) =
                (at(|f| f.scores.drift), at(|f| f.scores.step), at(|f| f.scores.cycle));
            let beyond = found.iter().filter(|found| found.change() != Change::None).count();
            let share = 100.0 * beyond as f64 / replicates as f64;
            println!("| {length} | {correlation} | {drift:.1} | {step:.1} | {cycle:.1} | {share:.1} % |");
        }
    }
}

//! Intervals must cover, whatever stopped the run. A Latin square of the cells that `bench/coverage` covers
//! in full: every noise with every correlation, with a drift that changes from cell to cell, with and without
//! outliers.
//!
//! Each cell has 40 runs of 27 points, so that a coverage of 96 % shows as 94.5 to 97.5 %.

use iosonde_model::Closed;
use iosonde_plan::schedule::Terms;
use iosonde_testkit::schedule::{
    Adding, Answer, Kinship, Noise, Shape, simulate, simulate_adding, time_left,
};

const POINTS: usize = 27;
const RUNS: u64 = 40;
const CONFIDENCE: f64 = 0.95;

/// The bar of the intervals, as shares: 0.93 of what 0.95 promises.
const LEAST: f64 = 0.93;

fn cells() -> Vec<Noise> {
    let mut out = Vec::new();
    for (i, cv) in [0.02, 0.05, 0.10].into_iter().enumerate() {
        for (j, correlation) in [0.0, 0.3, 0.6].into_iter().enumerate() {
            for (k, outliers) in [0.0, 0.02].into_iter().enumerate() {
                let drift_per_minute = [0.0, -0.05, -0.18][(i + j + k) % 3];
                let kinship = if k == 0 { Kinship::Time } else { Kinship::Point };
                let (unlike, shape) = (1.0, Shape::Steady);
                out.push(Noise { cv, unlike, correlation, kinship, drift_per_minute, shape, outliers });
            }
        }
    }
    out
}

fn coverage(answers: &[Answer]) -> f64 {
    let covers: Vec<bool> = answers.iter().filter_map(|answer| answer.covers(CONFIDENCE)).collect();
    assert_eq!(covers.len(), answers.len(), "a refusal would be a way to look honest");
    covers.iter().filter(|covers| **covers).count() as f64 / covers.len() as f64
}

/// Runs every cell; `precision` in units of the noise. Gives the cells that fall short, and how many points
/// were closed by their precision.
fn short_of_the_bar(noises: &[Noise], precision: f64, budget_s: f64, runs: u64) -> (Vec<String>, f64) {
    let (mut short, mut precise, mut all) = (Vec::new(), 0.0, 0.0);
    for noise in noises {
        let (mut points, mut ratios) = (Vec::new(), Vec::new());
        for seed in 0..runs {
            let precision = precision * noise.cv;
            let confidence = CONFIDENCE;
            let terms = Terms { seed, precision, confidence, budget_s, rounds: None, overhead_s: 0.01 };
            let outcome =
                simulate(POINTS, *noise, &terms, Some(0.24)).expect("the budget holds three rounds");
            precise += outcome.closed.iter().filter(|c| **c == Some(Closed::Precision)).count() as f64;
            all += POINTS as f64;
            points.extend(outcome.points);
            ratios.extend(outcome.ratios);
        }
        let (points, ratios) = (coverage(&points), coverage(&ratios));
        if points < LEAST || ratios < LEAST {
            short.push(format!("points {points:.3} ratios {ratios:.3} {noise:?}"));
        }
    }
    (short, precise / all)
}

#[test]
fn where_the_budget_stops() {
    let (short, precise) = short_of_the_bar(&cells(), 1e-6, 70.0, RUNS);
    assert!(short.is_empty(), "{short:#?}");
    assert_eq!(precise, 0.0);
}

#[test]
fn where_the_precision_stops() {
    // 0.8 of the noise: independent trials reach it in rounds 9 to 10, trials of one point that resemble each
    // other by 0.6 after 30.
    let (short, precise) = short_of_the_bar(&cells(), 0.8, 300.0, RUNS);
    assert!(short.is_empty(), "{short:#?}");
    assert!(precise > 0.99, "{precise}");
}

#[test]
fn where_the_points_are_unlike() {
    // From 1.7 to 15 %: what borrows its scatter from the others must not borrow its confidence.
    let noise = |kinship| Noise {
        cv: 0.05,
        unlike: 9.0,
        correlation: 0.3,
        kinship,
        drift_per_minute: -0.05,
        shape: Shape::Steady,
        outliers: 0.02,
    };
    let both = [noise(Kinship::Time), noise(Kinship::Point)];
    let (short, _) = short_of_the_bar(&both, 0.8, 70.0, RUNS);
    assert!(short.is_empty(), "{short:#?}");
}

#[test]
fn where_the_study_is_small() {
    // Few points tell little of correlation; more and shorter rounds make up for it.
    for points in [1, 3] {
        let (mut covered, mut all) = (0.0, 0.0);
        for seed in 0..400 {
            let noise = Noise {
                cv: 0.05,
                unlike: 1.0,
                correlation: 0.3,
                kinship: Kinship::Time,
                drift_per_minute: -0.18,
                shape: Shape::Steady,
                outliers: 0.0,
            };
            let terms = Terms {
                seed,
                precision: 0.03,
                confidence: CONFIDENCE,
                budget_s: 20.0,
                rounds: None,
                overhead_s: 0.01,
            };
            let outcome = simulate(points, noise, &terms, None).expect("the budget holds three rounds");
            covered += coverage(&outcome.points);
            all += 1.0;
        }
        assert!(covered / all >= LEAST, "{points} points: {}", covered / all);
    }
}

#[test]
fn where_rounds_are_added_until_the_intervals_please() {
    // Somebody looks at the intervals and adds a half of the budget, up to four times, while one is too wide.
    let (mut points, mut ratios) = (Vec::new(), Vec::new());
    for noise in cells() {
        for seed in 0..10 {
            let terms = Terms {
                seed,
                precision: 0.72 * noise.cv,
                confidence: CONFIDENCE,
                budget_s: 70.0,
                rounds: None,
                overhead_s: 0.01,
            };
            let adding = Adding { precision: 0.5 * noise.cv, budget_s: 35.0, times: 4 };
            let outcome = simulate_adding(POINTS, noise, &terms, Some(0.24), Some(adding))
                .expect("the budget holds three rounds");
            points.extend(outcome.points);
            ratios.extend(outcome.ratios);
        }
    }
    let (points, ratios) = (coverage(&points), coverage(&ratios));
    assert!(points >= LEAST && ratios >= LEAST, "points {points:.3} ratios {ratios:.3}");
}

/// The share of runs whose announcement after a third was right: one number within 20 % of the time that was left, or
/// a range that holds it; and the share of single numbers.
fn announced_right(noise: Noise, points: usize, precision: f64, runs: u64) -> (f64, f64) {
    let (mut right, mut numbers) = (0.0, 0.0);
    for seed in 0..runs {
        let terms = Terms {
            seed,
            precision: precision * noise.cv,
            confidence: CONFIDENCE,
            budget_s: 600.0,
            rounds: None,
            overhead_s: 0.01,
        };
        let (said, left_s) = time_left(points, noise, &terms).expect("the budget holds three rounds");
        let near = (said.likely_s / left_s - 1.0).abs() <= 0.2;
        // 2 %: a range is rounded outwards by more.
        let held = said.least_s <= left_s * 1.02 && left_s <= said.most_s * 1.02;
        right += f64::from(u8::from(if said.is_one_number() { near } else { held }));
        numbers += f64::from(u8::from(said.is_one_number()));
    }
    (right / runs as f64, numbers / runs as f64)
}

#[test]
fn the_time_left_is_right_after_a_third_of_the_run() {
    let (mut wrong, mut rights, mut numbers) = (Vec::new(), 0.0, 0.0);
    for noise in cells() {
        // A precision that the budget does not reach, one that it reaches in the middle, and one at the earliest.
        for precision in [0.01, 0.4, 2.0] {
            let (right, number) = announced_right(noise, POINTS, precision, 20);
            (rights, numbers) = (rights + right, numbers + number);
            if right < 0.75 {
                wrong.push(format!("{right:.2} at {precision} of {noise:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let runs = (cells().len() * 3) as f64;
    assert!(rights / runs >= 0.93, "{}", rights / runs);
    // A range is for what cannot be known.
    assert!(numbers / runs >= 0.6, "{}", numbers / runs);
}

//! The highest of several points, without the winner's curse.
//!
//! The largest of k estimates is too high, because it was selected for being the largest. For the true maximum M of
//! k points this holds whatever their differences, with z(α) the quantile of an error that is exceeded with
//! probability α:
//! - M exceeds the largest of all upper ends with probability at most α/2, since the upper end of the point whose
//!   truth is M already does;
//! - M lies below the largest of all lower ends only if one of k lower ends fails: at most α/2 where each is made
//!   for α/2k (Bonferroni).
//!
//! The value is the weighted mean of the points whose own estimates lie within that interval. A point whose interval
//! reaches into it, but whose estimate lies below, does not count: it may only be wide.
//!
//! The value is not free of bias, as no value that was chosen is. In standard errors of one point (3,000 draws each):
//!
//! | points | this value | largest estimate |
//! |---|---|---|
//! | 2 / 8 / 16 with one truth | +0.16 / +0.27 / +0.27 | +0.56 / +1.44 / +1.76 |
//! | 8 with one truth, 8 two errors below | -0.07 | +1.43 |
//! | 8 that rise by one error each | -0.71 | +0.21 |
//! | one, and 8 three errors below | -1.14 | +0.05 |
//!
//! The largest estimate is too high on a plateau, where most sweeps end, and more so with more points. The interval
//! holds the truth in 97 % and more of these draws.
//!
//! One point with a very wide interval makes the upper end useless, whatever the others say. Where there is reason
//! to think that it is not the highest, the caller may leave it out ([`without_ignorance`]), and must say so.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Estimate,
    detail::{Highest, SizeAndDepth},
};
use iosonde_stats::{LogEstimate, student_t};

/// The highest of these, with its interval, and the indexes of those that may be it.
pub(super) fn highest(estimates: &[LogEstimate], confidence: f64) -> Option<(Estimate, Vec<usize>)> {
    let count = estimates.len() as f64;
    let strict = 1.0 - (1.0 - confidence) / count;
    let low_of = |e: &LogEstimate| e.log_mean - student_t(strict, e.degrees_of_freedom) * e.standard_error;
    let low = estimates.iter().map(low_of).max_by(f64::total_cmp)?;
    let high = estimates.iter().map(|e| e.log_mean + e.half_width(confidence)).max_by(f64::total_cmp)?;
    let top: Vec<usize> = (0..estimates.len()).filter(|&i| estimates[i].log_mean >= low).collect();
    let weight = |i: &usize| estimates[*i].standard_error.powi(-2);
    let total: f64 = top.iter().map(weight).sum();
    let mean = top.iter().map(|i| weight(i) * estimates[*i].log_mean).sum::<f64>() / total;
    Some((Estimate { value: mean.exp(), low: Some(low.exp()), high: Some(high.exp()) }, top))
}

/// Facts of the points that may be the highest, out of all that were compared.
pub(super) fn facts(points: usize, best: &[&Evidence]) -> Highest {
    let ends = |of: fn(&Evidence) -> u64| {
        let all = || best.iter().map(|evidence| of(evidence));
        [all().min().unwrap_or(0), all().max().unwrap_or(0)]
    };
    Highest {
        points,
        best_points: best.iter().map(|evidence| evidence.point.id).collect(),
        queue_depths: ends(|evidence| evidence.point.spec.asked_in_flight()),
        block_sizes_bytes: ends(|evidence| evidence.point.spec.block_size_bytes),
        imprecise: Vec::new(),
        invalid: Vec::new(),
    }
}

/// A workload in the list of those that were excluded.
pub(super) fn size_and_depth(evidence: &Evidence) -> SizeAndDepth {
    let spec = &evidence.point.spec;
    SizeAndDepth { block_size_bytes: spec.block_size_bytes, queue_depth: spec.asked_in_flight() }
}

/// How many times as wide as what the others give together an interval must be to be left out.
const IGNORANCE: f64 = 3.0;

/// The places of those that take part in [`highest`]. Left out, the widest first, is whose interval holds all of the
/// interval that the others give and is three times as wide, as long as `may_go` allows it and two are left: it adds
/// nothing but its own ignorance.
pub(super) fn without_ignorance(
    estimates: &[LogEstimate],
    confidence: f64,
    may_go: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let half = |place: usize| estimates[place].half_width(confidence);
    let mut left: Vec<usize> = (0..estimates.len()).collect();
    let mut widest: Vec<usize> = (0..estimates.len()).filter(|&place| may_go(place)).collect();
    widest.sort_by(|&a, &b| half(b).total_cmp(&half(a)));
    for place in widest {
        let others: Vec<usize> = left.iter().copied().filter(|&other| other != place).collect();
        let of: Vec<LogEstimate> = others.iter().map(|&other| estimates[other]).collect();
        let Some((Estimate { low: Some(low), high: Some(high), .. }, _)) = highest(&of, confidence) else {
            break;
        };
        let middle = estimates[place].log_mean;
        let holds = middle - half(place) < low.ln() && middle + half(place) > high.ln();
        if others.len() < 2 || !holds || 2.0 * half(place) < IGNORANCE * (high / low).ln() {
            break;
        }
        left = others;
    }
    left
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn estimate(value: f64, standard_error: f64) -> LogEstimate {
        LogEstimate { log_mean: value.ln(), standard_error, degrees_of_freedom: 1e6 }
    }

    #[test]
    fn a_clear_winner_is_itself_with_a_stricter_lower_end() {
        let (found, top) = highest(&[estimate(100.0, 0.01), estimate(50.0, 0.01)], 0.95).unwrap();
        assert_eq!(top, [0]);
        assert!((found.value - 100.0).abs() < 1e-9);
        // z(0.975) = 1.95996; of two points, z(0.9875) = 2.24140.
        assert!((found.high.unwrap() - 100.0 * 0.019_599_6f64.exp()).abs() < 1e-3);
        assert!((found.low.unwrap() - 100.0 * (-0.022_414_0f64).exp()).abs() < 1e-3);
    }

    /// Mean error of the value and of the largest estimate in standard errors, and the share of right intervals.
    fn errors(truths: &[f64]) -> [f64; 3] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (error, draws, most) = (0.01, 3000, truths.iter().copied().fold(f64::MIN, f64::max) * 0.01);
        let mut sums = [0.0; 3];
        for _ in 0..draws {
            let noisy = |truth: &f64| {
                let drawn: f64 = random.sample(StandardNormal);
                LogEstimate {
                    log_mean: error * (truth + drawn),
                    standard_error: error,
                    degrees_of_freedom: 1e6,
                }
            };
            let drawn: Vec<LogEstimate> = truths.iter().map(noisy).collect();
            let (found, _) = highest(&drawn, 0.95).unwrap();
            let largest = drawn.iter().map(|one| one.log_mean).fold(f64::MIN, f64::max);
            let holds = found.low.unwrap().ln() <= most && most <= found.high.unwrap().ln();
            let each =
                [(found.value.ln() - most) / error, (largest - most) / error, f64::from(u8::from(holds))];
            sums.iter_mut().zip(each).for_each(|(sum, one)| *sum += one);
        }
        sums.map(|sum| sum / f64::from(draws))
    }

    /// The table of the page above. The mean of 3,000 draws is known to 0.02.
    #[test]
    fn the_value_is_nearer_to_the_highest_than_the_largest_estimate_is_where_points_are_alike() {
        let below = |count: usize, by: f64| vec![-by; count];
        let cases = [
            (below(2, 0.0), 0.16, 0.56),
            (below(8, 0.0), 0.27, 1.44),
            (below(16, 0.0), 0.27, 1.76),
            ([below(8, 0.0), below(8, 2.0)].concat(), -0.07, 1.43),
            ((0..8).map(f64::from).collect(), -0.71, 0.21),
            ([below(1, 0.0), below(8, 3.0)].concat(), -1.14, 0.05),
        ];
        for (truths, own, largest) in cases {
            let [of_value, of_largest, held] = errors(&truths);
            let told = format!("{truths:?}: {of_value:.2} {of_largest:.2} {held:.3}");
            assert!((of_value - own).abs() < 0.08 && (of_largest - largest).abs() < 0.08, "{told}");
            assert!(held > 0.96, "{told}");
        }
    }

    #[test]
    fn what_is_hardly_known_is_left_out_where_that_is_allowed() {
        // ±0.8, around three of ±0.04.
        let all = [estimate(98.0, 0.02), estimate(110.0, 0.4), estimate(100.0, 0.02), estimate(101.0, 0.02)];
        assert_eq!(without_ignorance(&all, 0.95, |_| true), [0, 2, 3]);
        assert_eq!(without_ignorance(&all, 0.95, |place| place != 1), [0, 1, 2, 3]);
        // Surely above the others, or no wider than they are: it is the highest, or may well be.
        let above = [estimate(98.0, 0.02), estimate(400.0, 0.4), estimate(100.0, 0.02)];
        assert_eq!(without_ignorance(&above, 0.95, |_| true), [0, 1, 2]);
        let alike = [estimate(98.0, 0.02), estimate(104.0, 0.03), estimate(100.0, 0.02)];
        assert_eq!(without_ignorance(&alike, 0.95, |_| true), [0, 1, 2]);
        // At least two are left.
        assert_eq!(without_ignorance(&all[..2], 0.95, |_| true), [0, 1]);
    }

    #[test]
    fn points_that_cannot_be_told_apart_are_averaged() {
        let (found, top) =
            highest(&[estimate(102.0, 0.02), estimate(100.0, 0.02), estimate(10.0, 0.02)], 0.95).unwrap();
        assert_eq!(top, [0, 1]);
        assert!((found.value - (102.0f64 * 100.0).sqrt()).abs() < 1e-9);
        // Half as much, and hardly known: it may be the highest and names no value.
        let (found, top) =
            highest(&[estimate(102.0, 0.02), estimate(50.0, 0.4), estimate(100.0, 0.02)], 0.95).unwrap();
        assert_eq!(top, [0, 2]);
        assert!((found.value - (102.0f64 * 100.0).sqrt()).abs() < 1e-9);
        assert!((found.high.unwrap() / 50.0 - (1.959_964f64 * 0.4).exp()).abs() < 1e-3);
        assert!(highest(&[], 0.95).is_none());
    }
}

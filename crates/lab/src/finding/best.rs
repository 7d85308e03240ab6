//! The highest of several points, without the winner's curse.
//!
//! The largest of k estimates is too high: it was chosen for being so. Of the true maximum M of k points
//! this holds whatever their differences, with z(α) the quantile of an error that is exceeded with
//! probability α:
//! - M exceeds the largest of all upper ends with probability at most α/2, since already the upper end of
//!   the point whose truth is M does;
//! - M lies below the largest of all lower ends only if one of k lower ends fails: at most α/2 where each
//!   is made for α/2k (Bonferroni).
//!
//! The value is the weighted mean of the points that cannot be told from the top.

use iosonde_model::Estimate;

use crate::evidence::{LogEstimate, student_t};

/// The highest of these, with its interval, and the places of those that cannot be told from it.
pub(super) fn highest(estimates: &[LogEstimate], confidence: f64) -> Option<(Estimate, Vec<usize>)> {
    let count = estimates.len() as f64;
    let strict = 1.0 - (1.0 - confidence) / count;
    let low_of = |e: &LogEstimate| e.log_mean - student_t(strict, e.degrees_of_freedom) * e.standard_error;
    let low = estimates.iter().map(low_of).max_by(f64::total_cmp)?;
    let high = estimates.iter().map(|e| e.log_mean + e.half_width(confidence)).max_by(f64::total_cmp)?;
    let top: Vec<usize> = (0..estimates.len())
        .filter(|&i| estimates[i].log_mean + estimates[i].half_width(confidence) >= low)
        .collect();
    let weight = |i: &usize| estimates[*i].standard_error.powi(-2);
    let total: f64 = top.iter().map(weight).sum();
    let mean = top.iter().map(|i| weight(i) * estimates[*i].log_mean).sum::<f64>() / total;
    // Many points of which most are a little lower pull the mean down; the interval knows better.
    let value = mean.clamp(low, high).exp();
    Some((Estimate { value, low: Some(low.exp()), high: Some(high.exp()) }, top))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn points_that_cannot_be_told_apart_are_averaged() {
        let (found, top) =
            highest(&[estimate(102.0, 0.02), estimate(100.0, 0.02), estimate(10.0, 0.02)], 0.95).unwrap();
        assert_eq!(top, [0, 1]);
        assert!((found.value - (102.0f64 * 100.0).sqrt()).abs() < 1e-9);
        assert!(highest(&[], 0.95).is_none());
    }
}

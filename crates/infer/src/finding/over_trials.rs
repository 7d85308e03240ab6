//! Figures that each trial has once: their mean over trials, on a logarithmic scale.
//!
//! Throughputs and mean latencies of points have a fit over the whole run that models drift and correlation. A
//! figure computed from each trial by other means (a flush, a change within it, a processor's share) has no such
//! fit. Its trials are a round apart and are treated as independent, which makes these intervals a little narrow
//! where the storage varies slowly.

use iosonde_judge::{
    estimate::FEWEST_TRIALS,
    evidence::{Evidence, WithInterval},
};
use iosonde_model::{About, Estimate, Inconclusive, Trial};
use iosonde_stats::LogEstimate;

/// No trial is known better than to one part in ten thousand: a simulated device without noise repeats itself.
const GRAIN: f64 = 1e-4;
/// Share by which a value without a share of its own is off: weights need one.
const EXACT: f64 = 2e-3;

/// The geometric mean with its interval, of five values or more.
pub fn mean(values: &[f64], confidence: f64) -> Option<Estimate> {
    let logs: Vec<f64> = values.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect();
    if logs.len() < FEWEST_TRIALS {
        return None;
    }
    let mean = LogEstimate::mean_of(&logs)?;
    Some(LogEstimate { standard_error: mean.standard_error.max(GRAIN), ..mean }.estimate(confidence))
}

/// Returns the mean, or how many trials have the figure.
pub(super) fn valid_mean(values: &[f64], confidence: f64) -> Result<Estimate, Inconclusive> {
    let trials = values.iter().filter(|value| **value > 0.0).count();
    mean(values, confidence).ok_or(Inconclusive::FewFigures { trials, needed: FEWEST_TRIALS })
}

/// The mean of (value, share by which it may be off), weighted by these shares. Where all of them are off in the same
/// way, by `times` their share at most, the interval holds that too. Without shares, it is [`valid_mean`].
pub(super) fn valid_weighted_mean(
    values: &[(f64, f64)],
    times: f64,
    confidence: f64,
) -> Result<Estimate, Inconclusive> {
    let trials = values.len();
    if trials < FEWEST_TRIALS {
        return Err(Inconclusive::FewFigures { trials, needed: FEWEST_TRIALS });
    }
    let weights: Vec<f64> = values.iter().map(|(_, share)| share.hypot(EXACT).powi(-2)).collect();
    let total: f64 = weights.iter().sum();
    let sum = |of: &dyn Fn(f64, f64, f64) -> f64| -> f64 {
        weights
            .iter()
            .zip(values)
            .map(|(weight, (value, share))| of(weight / total, value.ln(), *share))
            .sum()
    };
    let log_mean = sum(&|weight, log, _| weight * log);
    // As many equal weights would have the same variance.
    let equal = 1.0 / sum(&|weight, _, _| weight * weight);
    let degrees_of_freedom = (equal - 1.0).max(1.0);
    let variance = sum(&|weight, log, _| (weight * (log - log_mean)).powi(2)) * equal / degrees_of_freedom;
    let standard_error = variance.sqrt().max(GRAIN);
    let mean = LogEstimate { log_mean, standard_error, degrees_of_freedom }.estimate(confidence);
    Ok(widened(mean, times * sum(&|weight, _, share| weight * share)))
}

/// The same with a share by which every value may be wrong in the same way, in quadrature.
pub(crate) fn widened(estimate: Estimate, share: f64) -> Estimate {
    let wider = |end: Option<f64>| end.map(|end| (end / estimate.value).ln().hypot(share));
    Estimate {
        low: wider(estimate.low).map(|half| estimate.value * (-half).exp()),
        high: wider(estimate.high).map(|half| estimate.value * half.exp()),
        ..estimate
    }
}

/// The same where nothing scattered: an interval without width is more than a clock and a count can know.
pub(crate) fn grained(estimate: Estimate) -> Estimate {
    let half = GRAIN * estimate.value.abs();
    Estimate {
        low: estimate.low.map(|low| low.min(estimate.value - half)),
        high: estimate.high.map(|high| high.max(estimate.value + half)),
        ..estimate
    }
}

/// One figure of each valid trial.
pub(super) fn of(evidence: &Evidence, about: About, figure: impl Fn(&Trial) -> Option<f64>) -> Vec<f64> {
    evidence.standing(about).filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_surer_counts_more() {
        let plain = [90.0, 100.0, 110.0, 95.0, 105.0];
        let alike = valid_weighted_mean(&plain.map(|value| (value, 0.0)), 1.0, 0.95).unwrap();
        let mean = mean(&plain, 0.95).unwrap();
        assert!((alike.value / mean.value - 1.0).abs() < 1e-12, "{alike:?} {mean:?}");
        assert!((alike.low.unwrap() / mean.low.unwrap() - 1.0).abs() < 1e-12, "{alike:?} {mean:?}");
        // Five at 100 within 0.5 %, and five at 94 that may be off by 6 %: 140 times the weight.
        let values = [[(100.0, 0.005); 5], [(94.0, 0.06); 5]].concat();
        let found = valid_weighted_mean(&values, 1.0, 0.95).unwrap();
        assert!((found.value - 99.95).abs() < 0.05, "{found:?}");
        let half = (found.high.unwrap() / found.value).ln();
        assert!(half > 0.005 && half < 0.008, "{half}");
    }

    #[test]
    fn a_mean_of_logarithms_with_students_interval() {
        let found = mean(&[90.0, 100.0, 110.0, 95.0, 105.0], 0.95).unwrap();
        // By hand: mean of logs 4.602659, s = 0.079317, t(4) = 2.776445, half = 0.098485.
        assert!((found.value - 99.7492).abs() < 1e-3, "{found:?}");
        assert!(((found.high.unwrap() / found.value).ln() - 0.098_48).abs() < 1e-4, "{found:?}");
        assert!(mean(&[1.0; 4], 0.95).is_none(), "four say too little of their scatter");
        let exact = Estimate { value: 1e4, low: Some(1e4), high: None };
        assert_eq!(grained(exact), Estimate { low: Some(9999.0), ..exact });
        assert!(mean(&[5.0; 8], 0.95).unwrap().relative_half_width().unwrap() > 1e-4);
    }
}

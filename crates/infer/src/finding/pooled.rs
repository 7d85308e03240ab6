//! Figures computed from the latencies of all trials of a point together, with a jackknife interval over trials.
//!
//! A shape (where a line of quantiles begins, which share of requests is fast) needs more requests than one trial
//! of a slow storage has. The figure is computed from all trials, and again without each of them in turn. The
//! spread of these gives the error, and their mean the bias (the jackknife: Miller, The jackknife, a review,
//! Biometrika 61 (1974) 1). Trials are assumed independent, as in [`over_trials`](super::over_trials).

use iosonde_judge::{estimate::FEWEST_TRIALS, evidence::Evidence};
use iosonde_model::{About, Histogram, Op};
use iosonde_stats::{Estimated, normal};

use super::hockney::is_bent;

/// What several points say of one figure.
pub(super) struct Together {
    pub(super) value: f64,
    pub(super) half_width: f64,
    /// Whether they differ by no more than their errors.
    pub(super) agree: bool,
}

/// Their mean, weighted with what is known of each; `None` without any.
pub(super) fn together(said: &[Estimated], confidence: f64) -> Option<Together> {
    let weight = |one: &Estimated| (one.half_width(confidence) / normal(confidence)).powi(-2);
    let total: f64 = said.iter().map(weight).sum();
    let value = said.iter().map(|one| weight(one) * one.value).sum::<f64>() / total;
    let chi_square: f64 = said.iter().map(|one| weight(one) * (one.value - value).powi(2)).sum();
    let agree = said.len() < 2 || !is_bent(chi_square, (said.len() - 1) as f64);
    (!said.is_empty()).then(|| Together { value, half_width: normal(confidence) / total.sqrt(), agree })
}

/// The latencies of each valid trial.
pub(super) fn latencies<'a>(evidence: &Evidence<'a>, op: Op) -> Vec<&'a Histogram> {
    let direction = |trial: &'a iosonde_model::Trial| trial.direction(op);
    let all = evidence.standing(About::Latency).filter_map(direction).map(|direction| &direction.histogram);
    all.filter(|histogram| histogram.total() > 0).collect()
}

/// All of them together.
pub(super) fn merged<'a>(histograms: impl IntoIterator<Item = &'a Histogram>) -> Histogram {
    let mut all = Histogram::new();
    histograms.into_iter().for_each(|histogram| all.merge(histogram));
    all
}

/// The mean of what takes no longer than `times` the median: without requests that met something else.
pub(super) fn mean_within(histogram: &Histogram, times: f64) -> Option<f64> {
    let most = times * histogram.quantile_ns(0.5)?;
    let near = histogram.buckets().filter(|(middle, ..)| *middle <= most);
    let (count, sum) =
        near.fold((0.0, 0.0), |(count, sum), (middle, _, n)| (count + n as f64, sum + middle * n as f64));
    (count > 0.0).then(|| sum / count)
}

/// A figure of all trials with its jackknife error. `None` where there are too few, or where the figure does not
/// exist without one of them.
pub(super) fn jackknife(
    histograms: &[&Histogram],
    figure: impl Fn(&Histogram) -> Option<f64>,
) -> Option<Estimated> {
    leaving_one_out(histograms, |histograms| figure(&merged(histograms.iter().copied())))
}

/// Jackknife for figures of anything that each trial has.
pub(super) fn leaving_one_out<T: Copy>(
    trials: &[T],
    figure: impl Fn(&[T]) -> Option<f64>,
) -> Option<Estimated> {
    if trials.len() < FEWEST_TRIALS {
        return None;
    }
    let count = trials.len() as f64;
    let whole = figure(trials)?;
    let without = |left_out: usize| {
        let others = trials.iter().enumerate().filter(|(place, _)| *place != left_out);
        figure(&others.map(|(_, trial)| *trial).collect::<Vec<T>>())
    };
    let partial: Option<Vec<f64>> =
        (0..trials.len()).map(|left_out| Some(count * whole - (count - 1.0) * without(left_out)?)).collect();
    let partial = partial?;
    let mean = Estimated::mean_of(&partial)?;
    // No figure is known better than to one part in ten thousand: a device without noise repeats itself.
    Some(Estimated { standard_error: mean.standard_error.max(1e-4 * mean.value.abs()), ..mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.record(value));
        histogram
    }

    #[test]
    fn the_jackknife_of_a_mean_is_the_mean_with_students_error() {
        let trials: Vec<Histogram> = [100, 110, 90, 105, 95].map(|value| of(&[value])).into();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let found = jackknife(&trials, Histogram::mean_ns).unwrap();
        // By hand: mean 100, s² = 62.5, over 5: 3.5355.
        assert!((found.value - 100.0).abs() < 1e-9, "{found:?}");
        assert!((found.standard_error - 3.535_534).abs() < 1e-5, "{found:?}");
        assert!((found.half_width(0.95) - 9.8162).abs() < 1e-3, "t(4) = 2.7764");
        assert_eq!(jackknife(&trials[..4], Histogram::mean_ns), None);
        assert_eq!(jackknife(&trials, |_| None), None);
    }

    #[test]
    fn points_that_agree_are_weighted_and_others_said_not_to() {
        let of = |value, standard_error| Estimated { value, standard_error, degrees_of_freedom: 1e6 };
        let both = together(&[of(10.0, 1.0), of(13.0, 2.0)], 0.95).unwrap();
        // By hand: (10 + 13 / 4) / 1.25, and the root of 1 / 1.25 times 1.96.
        assert!((both.value - 10.6).abs() < 1e-3 && (both.half_width - 1.753).abs() < 1e-3);
        assert!(both.agree && !together(&[of(10.0, 1.0), of(20.0, 1.0)], 0.95).unwrap().agree);
        assert!(together(&[], 0.95).is_none());
    }
}

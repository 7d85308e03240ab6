//! Percentiles of latency from the histograms of several trials, merged.
//!
//! The mean of each trial's p99 is 8 % low at 100 requests a trial, so histograms are merged first. The
//! interval comes from drawing trials with replacement, which keeps what requests of one trial have in
//! common: the spread of the logarithm over 200 draws, stretched by √(n/(n − 1)) and taken times Student's t
//! with n − 1 degrees, because percentile intervals from five to ten trials are far too narrow. Half a bucket
//! (0.2 %) is added in quadrature: no histogram knows better.
//!
//! Assumed: trials are exchangeable. Trials excluded as slow outliers are in it; a tail without them is no
//! tail.

use iosonde_model::{Estimate, Histogram};
use iosonde_stats::{bootstrap, student_t};

use super::basis::FEWEST_TRIALS;

/// Draws: the spread of 200 is known to 5 %.
const DRAWS: u32 = 200;
/// Half of a histogram's bucket, as a share.
const RESOLUTION: f64 = 0.002;

/// The quantiles `q` of all histograms together. `None` where fewer than ten values lie beyond the quantile
/// (the median excepted); without an interval where there are fewer than [`FEWEST_TRIALS`] histograms.
pub fn estimates<const N: usize>(
    histograms: &[&Histogram],
    q: [f64; N],
    confidence: f64,
    seed: u64,
) -> [Option<Estimate>; N] {
    let mut merged = Histogram::new();
    histograms.iter().for_each(|histogram| merged.merge(histogram));
    let supported = |q: f64| q <= 0.5 || merged.total() as f64 * (1.0 - q) >= 10.0;
    let values = q.map(|q| if supported(q) { merged.quantile_ns(q) } else { None });
    let told: Vec<&Histogram> =
        histograms.iter().copied().filter(|histogram| histogram.total() > 0).collect();
    if told.len() < FEWEST_TRIALS {
        return values.map(|value| value.map(|value| Estimate { value, low: None, high: None }));
    }
    let factor = student_t(confidence, (told.len() - 1) as f64);
    let errors = standard_errors_of_logs(&told, &merged, q, seed);
    std::array::from_fn(|i| {
        values[i].map(|value| {
            let half = (factor * errors[i]).hypot(RESOLUTION).exp();
            Estimate { value, low: Some(value / half), high: Some(value * half) }
        })
    })
}

/// The standard errors of ln(quantile).
fn standard_errors_of_logs<const N: usize>(
    told: &[&Histogram],
    merged: &Histogram,
    q: [f64; N],
    seed: u64,
) -> [f64; N] {
    let buckets: Vec<(f64, u64)> = merged.buckets().map(|(middle, upper, _)| (middle.ln(), upper)).collect();
    // One list of (bucket, count) for each trial: most trials use few of the buckets.
    let sparse: Vec<Vec<(usize, u64)>> = told
        .iter()
        .map(|histogram| {
            let place = |upper| buckets.partition_point(|(_, u)| *u < upper);
            histogram.buckets().map(|(_, upper, count)| (place(upper), count)).collect()
        })
        .collect();
    let mut counts = vec![0u64; buckets.len()];
    let errors = bootstrap::standard_errors(told.len(), DRAWS, seed, |times| {
        counts.fill(0);
        for (trial, times) in sparse.iter().zip(times).filter(|(_, times)| **times > 0) {
            trial.iter().for_each(|&(bucket, count)| counts[bucket] += times * count);
        }
        logs_of_quantiles(&counts, &buckets, q)
    });
    errors.expect("there are at least five histograms")
}

/// ln of the quantiles of counted buckets; `q` ascending.
fn logs_of_quantiles<const N: usize>(counts: &[u64], buckets: &[(f64, u64)], q: [f64; N]) -> [f64; N] {
    let total: u64 = counts.iter().sum();
    let (mut below, mut at) = (0, 0);
    q.map(|q| {
        let rank = ((q * total as f64).ceil() as u64).clamp(1, total);
        while at < counts.len() && below + counts[at] < rank {
            below += counts[at];
            at += 1;
        }
        buckets[at.min(counts.len() - 1)].0
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, LogNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut out = Histogram::new();
        values.into_iter().for_each(|v| out.record(v));
        out
    }

    #[test]
    fn a_percentile_that_nothing_supports_is_none() {
        // 6 trials of 100: 600 values; p99 would rest on 6 of them.
        let trials: Vec<Histogram> = (0..6).map(|_| histogram(1..=100)).collect();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let [p50, p99] = estimates(&trials, [0.5, 0.99], 0.95, 1);
        assert_eq!(p50.map(|e| e.value), Some(50.0));
        assert_eq!(p99, None);
        assert_eq!(estimates(&[], [0.5], 0.95, 1), [None]);
    }

    #[test]
    fn four_trials_give_a_value_without_an_interval() {
        let trials: Vec<Histogram> = (0..4).map(|_| histogram(1..=100)).collect();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let [p50] = estimates(&trials, [0.5], 0.95, 1);
        assert_eq!(p50, Some(Estimate { value: 50.0, low: None, high: None }));
    }

    #[test]
    fn equal_trials_are_known_to_half_a_bucket() {
        let trials: Vec<Histogram> = (0..6).map(|_| histogram([80_000; 50])).collect();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let [p50] = estimates(&trials, [0.5], 0.95, 1);
        let p50 = p50.unwrap();
        assert!((p50.high.unwrap() / p50.value / 1.002 - 1.0).abs() < 1e-5, "{p50:?}");
    }

    #[test]
    fn intervals_of_the_median_and_of_p99_cover() {
        // Trials of 400 lognormal latencies, each trial's level off by 5 %: seven of them, 400 times over.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let (latency, level) = (LogNormal::new(0.0, 0.5).unwrap(), LogNormal::new(0.0, 0.05).unwrap());
        // The mixture is lognormal with σ² = 0.5² + 0.05²; Φ⁻¹(0.99) = 2.3263.
        let sigma = 0.5f64.hypot(0.05);
        let truth = [1e5, 1e5 * (2.3263 * sigma).exp()];
        let mut covered = [0; 2];
        for seed in 0..400 {
            let trials: Vec<Histogram> = (0..7)
                .map(|_| {
                    let level: f64 = level.sample(&mut random);
                    histogram((0..400).map(|_| (1e5 * level * latency.sample(&mut random)) as u64))
                })
                .collect();
            let trials: Vec<&Histogram> = trials.iter().collect();
            for (i, estimate) in estimates(&trials, [0.5, 0.99], 0.95, seed).into_iter().enumerate() {
                let e = estimate.unwrap();
                covered[i] += usize::from(e.low.unwrap() <= truth[i] && truth[i] <= e.high.unwrap());
            }
        }
        // 93 % of 400.
        assert!(covered.iter().all(|&c| c >= 372), "{covered:?} of 400");
    }

    proptest! {
        #[test]
        fn the_value_lies_in_its_interval_and_repeats(
            seed in any::<u64>(),
            values in prop::collection::vec(prop::collection::vec(100u64..1_000_000, 3..20), 5..9),
        ) {
            let trials: Vec<Histogram> = values.into_iter().map(histogram).collect();
            let trials: Vec<&Histogram> = trials.iter().collect();
            let first = estimates(&trials, [0.5], 0.95, seed);
            prop_assert_eq!(first, estimates(&trials, [0.5], 0.95, seed));
            let e = first[0].unwrap();
            prop_assert!(e.low.unwrap() <= e.value && e.value <= e.high.unwrap());
        }
    }
}

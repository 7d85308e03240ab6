//! Percentiles of latency from the histograms of several trials, merged.
//!
//! The mean of each trial's p99 is 8 % low at 100 requests a trial, so histograms are merged first. The interval holds
//! all values that the share of slower requests does not exclude. That share has the interval of events that come in
//! clusters ([`iosonde_stats::clustered_share`]), with the trial as the unit: a stall that delays all requests in
//! flight is one cause, not as many as there were requests. A bucket is not divided (0.4 %): no histogram knows better.
//!
//! Assumed: trials are exchangeable. Trials excluded as slow outliers are in it; a tail without them is no
//! tail.

use iosonde_model::{Estimate, Histogram};
use iosonde_stats::clustered_share::quantile_classes;

use super::basis::FEWEST_TRIALS;

/// The quantiles `q` of all histograms together, in the order of their time. `None` where fewer than ten values lie
/// beyond the quantile (the median excepted); without an interval where there are fewer than [`FEWEST_TRIALS`]
/// histograms, or one of its ends lies beyond all values. `in_flight` requests meet a stall together.
pub fn estimates<const N: usize>(
    histograms: &[&Histogram],
    q: [f64; N],
    confidence: f64,
    in_flight: f64,
) -> [Option<Estimate>; N] {
    let merged = merged(histograms);
    let supported = |q: f64| q <= 0.5 || merged.total() as f64 * (1.0 - q) >= 10.0;
    q.map(|q| {
        let whole = bounds(histograms, &merged, q, confidence, in_flight).filter(|_| supported(q))?;
        let ends = whole.low.zip(whole.high);
        Some(Estimate { low: ends.map(|(low, _)| low), high: ends.map(|(_, high)| high), ..whole })
    })
}

/// One quantile, with every end of its interval that the requests determine: a handful of requests without a slow one
/// shows that a percentile is not low, and not how high it is. `None` without values.
pub fn one_sided(histograms: &[&Histogram], q: f64, confidence: f64, in_flight: f64) -> Option<Estimate> {
    bounds(histograms, &merged(histograms), q, confidence, in_flight)
}

fn merged(histograms: &[&Histogram]) -> Histogram {
    let mut merged = Histogram::new();
    histograms.iter().for_each(|histogram| merged.merge(histogram));
    merged
}

fn bounds(
    histograms: &[&Histogram],
    merged: &Histogram,
    q: f64,
    confidence: f64,
    in_flight: f64,
) -> Option<Estimate> {
    let value = merged.quantile_ns(q)?;
    let told = || histograms.iter().filter(|histogram| histogram.total() > 0);
    if told().count() < FEWEST_TRIALS {
        return Some(Estimate { value, low: None, high: None });
    }
    let buckets: Vec<(f64, u64)> = merged.buckets().map(|(middle, upper, _)| (middle, upper)).collect();
    // One list of (bucket, count) for each trial: most trials use few of the buckets.
    let place = |upper| buckets.partition_point(|(_, other)| *other < upper);
    let counted = |histogram: &&Histogram| {
        histogram.buckets().map(|(_, upper, count)| (place(upper), count)).collect::<Vec<_>>()
    };
    let trials: Vec<_> = told().map(counted).collect();
    let classes = quantile_classes(&trials, buckets.len(), q, confidence, in_flight);
    // From the lower end of the one bucket to the upper end of the other.
    let lower = |at: usize| (2.0 * buckets[at].0 - buckets[at].1 as f64).min(value);
    let upper = |at: usize| (buckets[at].1 as f64).max(value);
    Some(Estimate { value, low: classes.low.map(lower), high: classes.high.map(upper) })
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
        let [p50, p99] = estimates(&trials, [0.5, 0.99], 0.95, 1.0);
        assert_eq!(p50.map(|e| e.value), Some(50.0));
        assert_eq!(p99, None);
        assert_eq!(estimates(&[], [0.5], 0.95, 1.0), [None]);
    }

    #[test]
    fn four_trials_give_a_value_without_an_interval() {
        let trials: Vec<Histogram> = (0..4).map(|_| histogram(1..=100)).collect();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let [p50] = estimates(&trials, [0.5], 0.95, 1.0);
        assert_eq!(p50, Some(Estimate { value: 50.0, low: None, high: None }));
    }

    #[test]
    fn equal_trials_are_known_to_a_bucket() {
        let trials: Vec<Histogram> = (0..6).map(|_| histogram([80_000; 50])).collect();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let [p50] = estimates(&trials, [0.5], 0.95, 1.0);
        let p50 = p50.unwrap();
        // Between 2^16 and 2^17 a bucket is 256 wide: 312 x 256 = 79,872.
        assert_eq!(p50, Estimate { value: 80_000.0, low: Some(79_872.0), high: Some(80_127.0) });
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
        for _ in 0..400 {
            let trials: Vec<Histogram> = (0..7)
                .map(|_| {
                    let level: f64 = level.sample(&mut random);
                    histogram((0..400).map(|_| (1e5 * level * latency.sample(&mut random)) as u64))
                })
                .collect();
            let trials: Vec<&Histogram> = trials.iter().collect();
            for (i, estimate) in estimates(&trials, [0.5, 0.99], 0.95, 1.0).into_iter().enumerate() {
                let e = estimate.unwrap();
                covered[i] += usize::from(e.low.unwrap() <= truth[i] && truth[i] <= e.high.unwrap());
            }
        }
        // 93 % of 400.
        assert!(covered.iter().all(|&c| c >= 372), "{covered:?} of 400");
    }

    #[test]
    fn a_limit_lies_outside_of_the_interval_where_the_share_beyond_it_does() {
        // 40 trials of 1000 requests at 1 ms, and 20 of 3 ms in each of two: 40 of 40,000 are slower.
        let trial = |slow: u64| histogram([1_000_000; 1000].into_iter().chain((0..slow).map(|_| 3_000_000)));
        let trials: Vec<Histogram> =
            (0..40).map(|at| trial(if [5, 25].contains(&at) { 20 } else { 0 })).collect();
        let trials: Vec<&Histogram> = trials.iter().collect();
        let p99 = one_sided(&trials, 0.99, 0.95, 1.0).unwrap();
        assert!(p99.high.unwrap() < 1_010_000.0, "1 in 1000 is less than 1 %: {p99:?}");
        // 40 in 40,040 are 0.1 %, in two trials of 40: one and the other side of the slow ones are possible.
        let p99_9 = one_sided(&trials, 0.999, 0.95, 1.0).unwrap();
        assert!(
            p99_9.low.unwrap() < 1_010_000.0 && p99_9.high.is_none_or(|high| high > 2_990_000.0),
            "{p99_9:?}"
        );
        // 300 requests without a slow one leave the upper end of p99 open.
        let few: Vec<Histogram> = (0..5).map(|_| histogram([1_000_000; 60])).collect();
        let few: Vec<&Histogram> = few.iter().collect();
        let p99 = one_sided(&few, 0.99, 0.95, 1.0).unwrap();
        assert!(p99.high.is_none() && p99.low.is_some(), "{p99:?}");
    }

    proptest! {
        #[test]
        fn the_value_lies_in_its_interval(
            values in prop::collection::vec(prop::collection::vec(100u64..1_000_000, 3..20), 5..9),
        ) {
            let trials: Vec<Histogram> = values.into_iter().map(histogram).collect();
            let trials: Vec<&Histogram> = trials.iter().collect();
            let [e] = estimates(&trials, [0.5], 0.95, 1.0);
            let e = e.unwrap();
            prop_assert!(e.low.is_none_or(|low| low <= e.value) && e.high.is_none_or(|high| high >= e.value));
        }
    }
}

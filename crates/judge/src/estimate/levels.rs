//! Figures of the two levels on which a point's trials may lie, and intervals that reach from one to the other: a mean
//! over both is known as well as the shares of the schedule in each, and no trial is near it. Trials of
//! `sim:windows-laptop` before and after the end of a fast area, 17.4 k and 5.29 k IOPS, had 7.00 k ±0.5 % (seed 1) and
//! 8.66 k ±0.3 % (seed 3).
//!
//! Where too few trials lie on the other level to be one, the interval may hold none of the trials; it then reaches to
//! the nearest on both sides. 128 KiB writes at QD 128 of `fio-ssd-profiling` on the same device (seed 1): 7.00 k
//! ±0.5 %, and no trial between 5.30 k and 17.4 k.

use iosonde_model::{Estimate, Level, Op, PointDirection, Trial};
use iosonde_stats::LogEstimate;

use super::{
    figure::Figure,
    grain::{Counting, no_finer},
};
use crate::{evidence::WithInterval, levels};

/// A direction's figures with intervals that hold both levels. `latency_ns`: the mean latency of these trials.
pub(super) fn spanning(
    direction: PointDirection,
    levels: Vec<Level>,
    latency_ns: impl Fn(&[u64]) -> Option<f64>,
) -> PointDirection {
    let rates = |of: fn(&Level) -> Estimate| levels.iter().map(move |level| of(level).value);
    let latencies = levels.iter().filter_map(|level| latency_ns(&level.trial_ids));
    PointDirection {
        iops: reaching(direction.iops, rates(|level| level.iops)),
        bytes_per_s: reaching(direction.bytes_per_s, rates(|level| level.bytes_per_s)),
        latency_ns_mean: direction.latency_ns_mean.map(|mean| reaching(mean, latencies)),
        levels,
        ..direction
    }
}

/// A direction's figures with intervals that hold one trial, or else reach to the nearest on both sides.
pub(super) fn near_trials(direction: PointDirection, kept: &[&Trial], op: Op) -> PointDirection {
    let lanes = || kept.iter().filter_map(|trial| trial.direction(op));
    let latencies = || kept.iter().filter_map(|trial| Figure::Latency.of(trial, op));
    PointDirection {
        iops: reaching_a_neighbour(direction.iops, lanes().map(|lane| lane.iops)),
        bytes_per_s: reaching_a_neighbour(direction.bytes_per_s, lanes().map(|lane| lane.bytes_per_s)),
        latency_ns_mean: direction.latency_ns_mean.map(|mean| reaching_a_neighbour(mean, latencies())),
        ..direction
    }
}

/// With all of its values on one side, an interval is one that a trend makes, and stays as it is.
fn reaching_a_neighbour(estimate: Estimate, values: impl Iterator<Item = f64>) -> Estimate {
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else { return estimate };
    let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
    for value in values {
        if value < low {
            below = below.max(value);
        } else if value > high {
            above = above.min(value);
        } else {
            return estimate;
        }
    }
    let reached = [below, above];
    if reached.iter().all(|value| value.is_finite()) {
        reaching(estimate, reached.into_iter())
    } else {
        estimate
    }
}

/// An interval that also holds these values; without one, it stays without.
fn reaching(estimate: Estimate, values: impl Iterator<Item = f64>) -> Estimate {
    values.fold(estimate, |Estimate { value, low, high }, reached| Estimate {
        value,
        low: low.map(|low| low.min(reached)),
        high: high.map(|high| high.max(reached)),
    })
}

/// The levels of one direction of a point's valid trials; empty where they lie on one level. `points`: how many are
/// asked the same.
pub(super) fn of_direction(
    valid: &[&Trial],
    op: Op,
    all: &[Trial],
    (points, confidence): (usize, f64),
) -> Vec<Level> {
    let log = |trial: &Trial| {
        let iops = trial.direction(op)?.iops;
        (iops > 0.0 && iops.is_finite()).then(|| iops.ln())
    };
    let mut own: Vec<(&Trial, f64)> = valid.iter().filter_map(|trial| Some((*trial, log(trial)?))).collect();
    own.sort_by(|a, b| a.0.started_s.total_cmp(&b.0.started_s));
    let (trials, logs): (Vec<&Trial>, Vec<f64>) = own.into_iter().unzip();
    let Some(found) = levels::levels(&trials, &logs, all, points) else { return Vec::new() };
    let level = |level: &levels::Level| {
        let of = |place: &usize| (trials[*place], logs[*place]);
        let (own, logs): (Vec<&Trial>, Vec<f64>) = level.places.iter().map(of).unzip();
        let (mut ios, mut bytes, mut counting) = (0, 0, Counting::default());
        for (trial, lane) in own.iter().filter_map(|trial| Some((trial, trial.direction(op)?))) {
            (ios, bytes) = (ios + lane.ios, bytes + lane.bytes);
            counting.add(trial, lane);
        }
        let mean = no_finer(LogEstimate::mean_of(&logs)?, counting.share());
        let iops = mean.estimate(confidence);
        let times = bytes as f64 / ios.max(1) as f64;
        let scaled = |value: f64| value * times;
        Some(Level {
            condition: level.condition,
            trial_ids: own.iter().map(|trial| trial.id).collect(),
            bytes_per_s: Estimate {
                value: scaled(iops.value),
                low: iops.low.map(scaled),
                high: iops.high.map(scaled),
            },
            iops,
        })
    };
    found.iter().filter_map(level).collect()
}

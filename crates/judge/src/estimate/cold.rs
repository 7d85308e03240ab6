//! Trials from before a cache was filled (a file server's memory), or before a drive was done with what came before.
//!
//! The first reads of an area come from the medium, later ones from what was read before. A point's first trials are
//! then slower than all that follow, each less so than the one before it, and what follows agrees. Averaged, they are
//! the figure of no state; taken for noise, they resemble each other from row to row, and the intervals of all points
//! say nothing: on `sim:nfs`, 44 of 124 were more than three times as wide as the trials' own, the widest from 112 to
//! 30,100 IOPS. They are excluded, as outliers are, where several points show it.

use std::collections::BTreeMap;

use iosonde_model::{About, Op, Phase, Point, Trial};
use iosonde_stats::{
    LogEstimate,
    robust::{SIGMA_PER_MAD, median, median_absolute_deviation},
    student_t,
};

use super::{
    apart::{Apart, OutlierTrials},
    basis::{FEWEST_TRIALS, Voids, is_valid_for},
};

/// Share of points without a cold start that seem to have one.
const CHANCE: f64 = 1e-4;
/// Distance below which nobody calls it cold, as a share of the rate.
const LEAST: f64 = 0.02;
/// Distance from the middle of what follows, in its robust scatter, beyond which the next trial still belongs to a cold
/// start.
const FAR: f64 = 3.0;
/// Scatter that no trial is free of: a simulated device repeats itself to the last digit.
const EVEN: f64 = 1e-3;
/// Minimum number of points that show it, and minimum share of those that read: one cache serves them all.
const POINTS_MIN: (usize, f64) = (2, 0.05);

/// The cold trials with how far they are from what follows; none where too few points have any.
pub fn cold_trials(points: &[Point], trials: &[Trial], voids: &Voids) -> OutlierTrials {
    let reading: Vec<Vec<&Trial>> = points
        .iter()
        .map(|point| {
            let own = trials.iter().filter(|trial| {
                let measured = trial.phase == Phase::Measure && trial.point == Some(point.id);
                measured && is_valid_for(voids, trial, About::Rate) && log_rate(trial).is_some()
            });
            let mut own: Vec<&Trial> = own.collect();
            own.sort_by(|a, b| a.started_s.total_cmp(&b.started_s).then(a.id.cmp(&b.id)));
            own
        })
        .filter(|own| own.len() > FEWEST_TRIALS)
        .collect();
    let found: Vec<BTreeMap<u64, Apart>> = reading.iter().map(|own| cold_of(own)).collect();
    let with = found.iter().filter(|cold| !cold.is_empty()).count();
    let (least, share) = POINTS_MIN;
    if with < least || (with as f64) < share * reading.len() as f64 {
        return OutlierTrials::new();
    }
    found.into_iter().flatten().collect()
}

fn log_rate(trial: &Trial) -> Option<f64> {
    trial.direction(Op::Read).map(|own| own.iops).filter(|iops| *iops > 0.0 && iops.is_finite()).map(f64::ln)
}

/// The cold ones among the trials of a point, which are in the order of time.
fn cold_of(own: &[&Trial]) -> BTreeMap<u64, Apart> {
    let rates: Vec<f64> = own.iter().filter_map(|trial| log_rate(trial)).collect();
    let Some((count, level, scatter)) = cold_start(&rates) else { return BTreeMap::new() };
    let apart = |(trial, rate): (&&Trial, &f64)| (trial.id, Apart { share: (rate - level).exp(), scatter });
    own.iter().zip(&rates).take(count).map(apart).collect()
}

/// How many of the first values are below what follows, with the mean and the standard deviation of that. The longest
/// beginning counts that is at most half of the values and leaves enough of them; the values that come next belong to
/// it as long as each is below all that follow it, since a cache fills ever more slowly.
fn cold_start(values: &[f64]) -> Option<(usize, f64, f64)> {
    let most = (values.len() / 2).min(values.len().saturating_sub(FEWEST_TRIALS));
    let sure = sure_start(values, most)?;
    let still_below = |&count: &usize| {
        let (value, later) = (values[count - 1], &values[count..]);
        let middle = median(later).unwrap_or(value);
        let scatter = SIGMA_PER_MAD * median_absolute_deviation(later).unwrap_or(0.0);
        later.iter().all(|other| value < *other) && middle - value > FAR * scatter.max(EVEN)
    };
    let count = (sure + 1..=most).take_while(still_below).last().unwrap_or(sure);
    let mean = LogEstimate::mean_of(&values[count..])?;
    let scatter = mean.standard_error * ((values.len() - count) as f64).sqrt();
    Some((count, mean.log_mean, scatter.max(EVEN)))
}

/// The longest beginning that is below what follows beyond doubt.
fn sure_start(values: &[f64], most: usize) -> Option<usize> {
    (1..=most).rev().find(|&count| {
        let (first, later) = values.split_at(count);
        let Some(mean) = LogEstimate::mean_of(later) else { return false };
        let rows = later.len() as f64;
        let scatter = (mean.standard_error * rows.sqrt()).max(EVEN);
        let one_more = scatter * (1.0 + 1.0 / rows).sqrt();
        let limit = (student_t(1.0 - CHANCE, mean.degrees_of_freedom) * one_more).max(LEAST);
        let warms = first.windows(2).all(|pair| pair[0] <= pair[1] + scatter);
        let is_below = first.iter().all(|value| mean.log_mean - value > limit);
        warms && is_below
    })
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;

    fn count(rates: &[f64]) -> usize {
        let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
        cold_start(&logs).map_or(0, |(count, ..)| count)
    }

    #[test]
    fn the_first_trials_are_cold_where_the_others_agree() {
        assert_eq!(count(&[224.0, 1582.0, 2078.0, 2269.0, 2269.0, 2269.0, 2269.0, 2269.0]), 3);
        let slowly = [176.0, 1268.0, 1708.0, 1795.0, 1835.0, 1835.0, 1835.0, 1835.0, 1835.0];
        assert_eq!(count(&slowly), 4);
        assert_eq!(count(&[50.0, 98.0, 101.0, 99.0, 102.0, 100.0, 101.0]), 1);
    }

    #[test]
    fn a_drift_a_burst_and_noise_are_not_cold() {
        let line: Vec<f64> = (0..10).map(|i| 100.0 + 5.0 * f64::from(i)).collect();
        assert_eq!(count(&line), 0, "a drift");
        assert_eq!(count(&[3000.0, 3000.0, 3000.0, 100.0, 100.0, 100.0, 100.0, 100.0]), 0, "a burst");
        assert_eq!(count(&[90.0, 104.0, 97.0, 101.0, 95.0, 103.0, 99.0, 98.0]), 0, "noise");
        assert_eq!(count(&[100.0, 100.0, 50.0, 100.0, 100.0, 100.0, 100.0, 100.0]), 0, "a disturbance");
        assert_eq!(count(&[50.0, 100.0, 100.0, 100.0]), 0, "too few that follow");
    }

    /// Noise that resembles the trial before by 0.6 has a first trial apart more often than independent noise, and
    /// hardly ever at several of 27 points.
    #[test]
    fn correlated_noise_is_cold_in_few_runs() {
        let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(20_261_128);
        let mut normal = move || -> f64 { StandardNormal.sample(&mut random) };
        let (points, runs) = (27, 2000);
        let mut alarms = 0;
        for _ in 0..runs {
            let mut point = || {
                let mut before = normal();
                let values: Vec<f64> = (0..9)
                    .map(|_| {
                        before = 0.6 * before + 0.8 * normal();
                        0.05 * before
                    })
                    .collect();
                cold_start(&values).is_some()
            };
            let with = (0..points).filter(|_| point()).count();
            alarms += usize::from(with >= POINTS_MIN.0 && with as f64 >= POINTS_MIN.1 * points as f64);
        }
        assert!(alarms * 100 <= runs, "{alarms} of {runs} runs");
    }
}

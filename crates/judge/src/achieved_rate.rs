//! The rate that a trial with a requested rate achieved: whether it reached the requested one, and its confidence
//! interval.
//!
//! Batch means: the windows of the trial are joined to ten batches, whose rates count as independent. Rates of
//! neighbouring windows are correlated, those of tenths of a trial hardly (Schmeiser 1982 finds ten to thirty batches
//! enough).

use iosonde_model::{Arrivals, Op, Trial, TrialSpec, Window};
use iosonde_stats::Estimated;

const BATCHES: usize = 10;
const CONFIDENCE: f64 = 0.95;

/// Share of the requested rate below which it is missed: less does not matter for planning.
const SHORT_BY: f64 = 0.01;
/// Requests that a trial's edges may cut off.
const EDGES: f64 = 2.0;

/// Requested rate of a stream over all its jobs, in requests per second.
pub fn asked_iops(spec: &TrialSpec) -> Option<f64> {
    Some(spec.rate_iops? * f64::from(spec.jobs))
}

/// Whether a stream reached its requested rate, but for what chance explains: arrivals of independent clients scatter
/// by the square root of their number, of which three standard deviations are allowed. `None` without a rate.
pub fn is_reached(spec: &TrialSpec, achieved_iops: f64, measured_s: f64) -> Option<bool> {
    let asked_iops = asked_iops(spec)?;
    let due = (asked_iops * measured_s).max(1.0);
    let chance = match spec.arrivals {
        Arrivals::Fixed => EDGES * f64::from(spec.jobs) / due,
        Arrivals::Poisson => 3.0 / due.sqrt() + EDGES / due,
    };
    Some(achieved_iops >= asked_iops * (1.0 - SHORT_BY - chance))
}

/// Returns both ends of the 95 % interval, in requests per second. `None` for fewer than ten windows, and where a
/// stream has no requested rate: windows do not tell the streams apart.
pub fn interval(trial: &Trial) -> Option<[f64; 2]> {
    let paced = trial.spec.streams().all(|stream| stream.rate_iops.is_some());
    let windows = &trial.windows;
    let each = windows.len() / BATCHES;
    if !paced || each == 0 {
        return None;
    }
    let ios = |window: &Window| -> u64 {
        Op::DIRECTIONS.into_iter().filter_map(|op| window.direction(op)).map(|lane| lane.ios).sum()
    };
    let rate = |batch: &[Window]| {
        batch.iter().map(ios).sum::<u64>() as f64 / batch.iter().map(|window| window.length_s).sum::<f64>()
    };
    // Windows that do not fill a batch are those at the beginning.
    let rates: Vec<f64> = windows[windows.len() % BATCHES..].chunks(each).map(rate).collect();
    let mean = Estimated::mean_of(&rates)?;
    let half = mean.half_width(CONFIDENCE);
    Some([mean.value - half, mean.value + half])
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::Rw;
    use iosonde_testkit::specimen;

    fn paced(ios: &[u64]) -> Trial {
        let mut trial = specimen::healthy(Rw::RandRead, 4096, 1, 1000);
        trial.spec.rate_iops = Some(1000.0);
        for (window, ios) in trial.windows.iter_mut().zip(ios) {
            window.read.as_mut().unwrap().ios = *ios;
        }
        trial
    }

    #[test]
    fn ten_batches_give_the_interval_of_their_mean() {
        let trial = paced(&[90, 110, 90, 110, 90, 110, 90, 110, 90, 110]);
        // Windows of 0.1 s: rates of 900 and 1,100; standard error 105.4 / sqrt(10) = 33.3; t of 9 degrees is 2.262.
        let [low, high] = interval(&trial).unwrap();
        assert!((low - 924.6).abs() < 0.1 && (high - 1075.4).abs() < 0.1, "{low} {high}");
    }

    #[test]
    fn a_short_trial_or_a_stream_without_a_rate_has_none() {
        let mut trial = paced(&[100; 10]);
        assert!(interval(&trial).is_some());
        trial.windows.pop();
        assert_eq!(interval(&trial), None);
        let mut closed = paced(&[100; 10]);
        closed.spec.rate_iops = None;
        assert_eq!(interval(&closed), None);
    }
}

//! A common drift of all points over a run: what the check `drift` judges and the finding `drift` reports.

use std::collections::BTreeMap;

use iosonde_model::Trial;
use iosonde_stats::trend::{Heterogeneity, Levels, Observation};

/// Nominal chance of naming a drift that is not there; the check's manual page says the real one and why.
const CHANCE: f64 = 0.0007;
/// Change over the run that matters to anybody, as a share.
pub const CHANGE_MIN: f64 = 0.02;
/// Fewest trials for a slope.
pub const TRIALS_MIN: usize = 12;
/// Share of the trials' differences in time that lie between points, from which on time and point are one.
const CONFOUNDED: f64 = 0.5;

/// Slope of ln(rate) over time, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftSlope {
    /// Seconds from the first to the last trial.
    pub duration_s: f64,
    /// Slope in 1/s.
    pub per_s: f64,
    /// Lower end of its interval.
    pub low_per_s: f64,
    /// Upper end of its interval.
    pub high_per_s: f64,
}

impl DriftSlope {
    /// Change of the rate over so many seconds, as a share of itself: value, low and high.
    pub fn change_over(&self, seconds: f64) -> (f64, f64, f64) {
        let change = |slope: f64| (slope * seconds).exp_m1();
        (change(self.per_s), change(self.low_per_s), change(self.high_per_s))
    }

    /// Change of the rate over the run.
    pub fn change(&self) -> (f64, f64, f64) {
        self.change_over(self.duration_s)
    }
}

/// Answer to whether the rates of a run drifted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DriftFit {
    /// So many trials of points that were visited more than once.
    TooFewTrials(usize),
    /// Points were not visited in turn: this share of the differences in time lies between points.
    Confounded(f64),
    /// The trials determine no slope.
    NoSlope,
    /// No drift of 2 % or more is proven.
    NotProven(DriftSlope),
    /// Points drifted in different directions, in a run of so many seconds.
    Different(Heterogeneity, f64),
    /// All points drifted alike.
    Common(DriftSlope),
}

/// One trial as a visit of its point. `None` where it completed nothing.
pub fn visit(group: usize, trial: &Trial) -> Option<Observation> {
    let visit = Observation { group, at_s: trial.started_s + trial.elapsed_s / 2.0, log: trial.iops().ln() };
    visit.log.is_finite().then_some(visit)
}

/// Fits the drift that all points have in common, with the interval at this confidence.
pub fn fit(mut visits: Vec<Observation>, confidence: f64) -> DriftFit {
    let mut trials = BTreeMap::new();
    visits.iter().for_each(|visit| *trials.entry(visit.group).or_insert(0usize) += 1);
    // A group that was visited once says nothing of time.
    visits.retain(|visit| trials[&visit.group] > 1);
    visits.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    if visits.len() < TRIALS_MIN {
        return DriftFit::TooFewTrials(visits.len());
    }
    let levels = Levels::of(&visits);
    let between = levels.share_of_time_between(&visits);
    if levels.count() > 1 && between > CONFOUNDED {
        return DriftFit::Confounded(between);
    }
    let Some(fit) = levels.slope(&visits) else { return DriftFit::NoSlope };
    let duration_s = visits[visits.len() - 1].at_s - visits[0].at_s;
    let (low_per_s, high_per_s) = fit.interval(0, confidence);
    let slope = DriftSlope { duration_s, per_s: fit.coefficient(0), low_per_s, high_per_s };
    let tail = fit.below(0, 0.0).min(1.0 - fit.below(0, 0.0));
    if tail > CHANCE / 2.0 || slope.change().0.abs() < CHANGE_MIN {
        return DriftFit::NotProven(slope);
    }
    match levels.heterogeneity(&visits, slope.per_s, duration_s, CHANGE_MIN) {
        Some(unlike) => DriftFit::Different(unlike, duration_s),
        None => DriftFit::Common(slope),
    }
}

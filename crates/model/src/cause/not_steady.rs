//! Facts of the check `not-steady`.

use serde::Serialize;

use crate::{LevelCondition, Op};

/// Course of a rate within a trial or over the rounds of a point.
///
/// A series has `members`: parts of a trial where `part_s` (the length of one) is given, rounds where it is not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NotSteady {
    /// The storage paused.
    Pause(LongWait),
    /// A trial has too few windows.
    TooFewWindows {
        /// Windows of the trial.
        windows: usize,
        /// Windows that are needed.
        needed: usize,
    },
    /// A point has too few rounds.
    TooFewRounds {
        /// Valid trials of the point, one a round.
        rounds: usize,
        /// Rounds that are needed.
        needed: usize,
    },
    /// No trend can be fitted to the series.
    NoTrend,
    /// The rate changed within trials of this length, and trials with a longer warm-up replace this one.
    Replaced {
        /// Trials that replace it.
        replacements: usize,
        /// Warm-up that was added to the longer ones.
        settling_s: f64,
        /// Warm-up that they have beyond this trial's.
        longer_s: f64,
    },
    /// The rate changed within this trial as it did within others of its point.
    ChangedWithin {
        /// Rate at the trial's beginning.
        before_iops: f64,
        /// Rate at its end.
        after_iops: f64,
        /// Trials of the point that show it.
        alike: usize,
    },
    /// The rate changed at one moment.
    Step {
        /// Mean rate before the step.
        before_iops: f64,
        /// Mean rate after it.
        after_iops: f64,
        /// Height of the step, as a share of the rate before.
        step_share: f64,
        /// Members before the step.
        at: usize,
        /// Length of the series.
        members: usize,
        /// Length of a part of a trial.
        #[serde(skip_serializing_if = "Option::is_none")]
        part_s: Option<f64>,
        /// Largest change since the step, where the rate was shown to hold since then.
        #[serde(skip_serializing_if = "Option::is_none")]
        held_within_share: Option<f64>,
    },
    /// Trials lie on two levels, not one after the other.
    Levels {
        /// Mean rate of the lower level.
        low_iops: f64,
        /// Trials on it.
        low_trials: usize,
        /// Condition of these trials.
        low_condition: LevelCondition,
        /// Mean rate of the higher level.
        high_iops: f64,
        /// Trials on it.
        high_trials: usize,
        /// Condition of these trials.
        high_condition: LevelCondition,
    },
    /// The rate goes up and down.
    Cycle {
        /// Amplitude, as a share of the mean.
        amplitude_share: f64,
        /// Members in one period.
        period: f64,
        /// Length of a part of a trial.
        #[serde(skip_serializing_if = "Option::is_none")]
        part_s: Option<f64>,
    },
    /// The rate rises or falls steadily.
    Trend(Trend),
    /// The series is neither shown to be steady nor to change.
    Unknown {
        /// Trend with its interval.
        #[serde(flatten)]
        trend: Trend,
        /// Length of a series that would be long enough.
        needed: f64,
    },
}

/// Steady change of a rate, with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trend {
    /// Change from one member to the next, as a share.
    pub slope_per_step: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// Largest change that counts as steady: over the trial, or per round.
    pub bound_share: f64,
    /// Length of the series.
    pub members: usize,
    /// Length of a part of a trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_s: Option<f64>,
}

/// Requests that waited for most of a second and more.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LongWait {
    /// At least half of the outstanding requests waited.
    Everything(Waited),
    /// Single requests waited while others went on.
    Single(Waited),
    /// The storage did not answer before or after the measured time.
    Beside {
        /// Length of the pause.
        longest_ns: f64,
        /// Whether it lies before the measured time, rather than after it.
        before: bool,
    },
}

/// The longest latency of a trial with a pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Waited {
    /// Direction of the requests.
    pub op: Op,
    /// Longest latency.
    pub longest_ns: f64,
    /// Median latency of the point's trials.
    pub usual_ns: f64,
    /// Requests that waited for half of the longest latency and more.
    pub waited: u64,
}

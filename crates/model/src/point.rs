//! One combination of parameters with its trials, and what they say together.

use serde::{Deserialize, Serialize};

use crate::{Op, TrialSpec};

/// A value and its interval. Where there is no interval, `low` and `high` are `None` and the point says why.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval at the run's confidence.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// Half the interval's width as a share of the value.
    pub fn relative_half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0 / self.value)
    }

    /// Whether the interval is so wide that quoting one value would pretend to know it.
    pub fn is_vague(&self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if high > VAGUE * low)
    }
}

/// High over low of an interval from which on its middle is no number to act upon.
const VAGUE: f64 = 3.0;

/// Origin of a point: planned, or added between points of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Planned {
    /// Planned from the beginning.
    Grid,
    /// Added where it narrows a finding.
    Adaptive,
}

/// Reason why a point gets no more trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Closed {
    /// Converged: the interval is as narrow as requested.
    Precision,
    /// The time was up.
    Budget,
    /// The requested number of rounds is complete.
    Rounds,
}

/// What parts the trials of a point into two levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelCondition {
    /// Before a moment of the run: a buffer had room, a credit was left.
    BeforeStep,
    /// From that moment on.
    AfterStep,
    /// The last trial before that wrote anything wrote in random order.
    AfterRandomWrites,
    /// It wrote sequentially; filling does.
    AfterSequentialWrites,
    /// The lower of two levels, of unknown cause.
    Lower,
    /// The higher of two levels, of unknown cause.
    Higher,
}

/// One of two levels on which the trials of a point lie, so that they have no common mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Condition of its trials.
    pub condition: LevelCondition,
    /// Ids of its trials.
    pub trial_ids: Vec<u64>,
    /// Completions per second; its trials count as independent.
    pub iops: Estimate,
    /// Bytes per second.
    pub bytes_per_s: Estimate,
}

/// Results of one direction of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointDirection {
    /// Completions per second.
    pub iops: Estimate,
    /// Bytes per second.
    pub bytes_per_s: Estimate,
    /// Mean latency. Where the queue depth was counted, it is above 1, and no rate was requested: the queue depth over
    /// the throughput (Little's law), which has what unfinished requests waited as well.
    pub latency_ns_mean: Option<Estimate>,
    /// Median latency, of the trials' merged histograms.
    pub latency_ns_p50: Option<Estimate>,
    /// 99th percentile, of the trials' merged histograms.
    pub latency_ns_p99: Option<Estimate>,
    /// 99.9th percentile, of the trials' merged histograms.
    pub latency_ns_p99_9: Option<Estimate>,
    /// The two levels on which its trials lie, the earlier or lower first; empty where they lie on one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
}

/// Latencies of what a workload does beside its requests: flushes, or commits (writes with the flush that makes them
/// durable).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointLatency {
    /// How many were timed, over all valid trials.
    pub count: u64,
    /// Mean latency: the geometric mean over trials.
    pub latency_ns_mean: Option<Estimate>,
    /// Median latency, of the trials' merged histograms.
    pub latency_ns_p50: Option<Estimate>,
    /// 99th percentile, of the trials' merged histograms.
    pub latency_ns_p99: Option<Estimate>,
    /// 99.9th percentile, of the trials' merged histograms.
    pub latency_ns_p99_9: Option<Estimate>,
}

/// Combination of parameters with the results of its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// 0, 1, .. in the order of the plan.
    pub id: usize,
    /// Experiment that first requested the point.
    pub experiment: String,
    /// Other experiments that use it too.
    #[serde(default)]
    pub also: Vec<String>,
    /// The workload.
    pub spec: TrialSpec,
    /// `grid` where it was in the plan, `adaptive` where it was added since it narrows a finding.
    pub planned: Planned,
    /// Trials that were run, invalid ones included.
    pub trials: u32,
    /// Trials that a verdict makes invalid for any use.
    #[serde(alias = "void")]
    pub invalid: u32,
    /// Those of them that the point's figures leave out. The others are invalid as figures of the device or for their
    /// queue depth alone.
    #[serde(default)]
    pub left_out: u32,
    /// The trials' ids, invalid ones included.
    #[serde(default)]
    pub trial_ids: Vec<u64>,
    /// Reason why the point gets no more trials: `precision`, `budget` or `rounds`; `None` while it is open.
    pub closed: Option<Closed>,
    /// Reason why there is no interval; `None` where there is one.
    #[serde(default)]
    pub why_no_interval: Option<NoInterval>,
    /// Results of the reads.
    pub read: Option<PointDirection>,
    /// Results of the writes.
    pub write: Option<PointDirection>,
    /// Results of the trims.
    #[serde(default)]
    pub trim: Option<PointDirection>,
    /// Latencies of the flushes, where the workload flushes.
    #[serde(default)]
    pub flush: Option<PointLatency>,
    /// Latencies of the commits: from the first write since the last flush to the end of the flush, or of a write that
    /// is durable by itself.
    #[serde(default)]
    pub commit: Option<PointLatency>,
}

impl Point {
    /// A point that has not been measured.
    pub fn planned(id: usize, experiment: &str, spec: TrialSpec) -> Self {
        Self {
            id,
            experiment: experiment.to_owned(),
            also: Vec::new(),
            spec,
            planned: Planned::Grid,
            trials: 0,
            invalid: 0,
            left_out: 0,
            trial_ids: Vec::new(),
            closed: None,
            why_no_interval: None,
            read: None,
            write: None,
            trim: None,
            flush: None,
            commit: None,
        }
    }

    /// Returns the results of one direction.
    pub fn direction(&self, op: Op) -> Option<&PointDirection> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
            Op::Trim => self.trim.as_ref(),
            Op::Flush => None,
        }
    }

    /// Returns true if the experiment uses this point.
    pub fn belongs_to(&self, experiment: &str) -> bool {
        self.experiment == experiment || self.also.iter().any(|name| name == experiment)
    }
}
/// Reason why a point has no interval. In JSON an object with its `kind`, or a sentence of a run
/// that was kept before reasons had kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum NoInterval {
    /// The point was not measured.
    NotMeasured,
    /// None of its trials is valid.
    NoneValid {
        /// Trials of the point.
        trials: usize,
    },
    /// Too few of its trials are valid.
    TooFew {
        /// Trials of the point.
        trials: usize,
        /// Valid ones among them.
        valid: usize,
        /// Trials that an interval needs.
        needed: usize,
    },
    /// Too few of its valid trials completed requests and are no outliers.
    TooFewKept {
        /// Valid trials of the point.
        valid: usize,
        /// Trials among them that completed requests and are no outliers.
        kept: usize,
        /// The operation.
        op: Op,
        /// Trials that an interval needs.
        needed: usize,
    },
    /// The scatter of its trials cannot be separated from the drift.
    ScatterOrDrift {
        /// Valid trials of the point.
        valid: usize,
    },
    /// A sentence of a run that was kept before reasons had kinds.
    #[serde(untagged)]
    Other(String),
}

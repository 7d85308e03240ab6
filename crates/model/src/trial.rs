//! One timed run of one workload, with what was seen around it.

use serde::{Deserialize, Serialize};

use crate::{Histogram, Op, TrialSpec, Witnesses};

/// Why a trial was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Filling or preconditioning: history changes results, so it is a trial too.
    Prepare,
    /// The same workload once in each round, so that drift is seen.
    Canary,
    /// A measurement of a point.
    Measure,
}

/// What one direction of a trial did between the end of the warm-up and the end of the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Requests completed without error.
    pub ios: u64,
    /// Bytes that they moved; a short transfer counts what it moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests that moved fewer bytes than asked.
    #[serde(default)]
    pub short: u64,
    /// Completions per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// From the moment a request was due to the moment its completion was seen.
    pub latency_ns: LatencySummary,
    /// The same, whole.
    pub histogram: Histogram,
}

/// Statistics of the latencies of one direction, in nanoseconds. All `None` when nothing completed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub min: Option<u64>,
    pub mean: Option<f64>,
    pub stddev: Option<f64>,
    pub p50: Option<f64>,
    pub p90: Option<f64>,
    pub p99: Option<f64>,
    pub p99_9: Option<f64>,
    pub p99_99: Option<f64>,
    pub max: Option<u64>,
}

impl LatencySummary {
    /// Read off a histogram; a percentile is given only where at least ten values lie beyond it, since fewer say
    /// nothing about it (p99 needs 1,000).
    pub fn of(histogram: &Histogram) -> Self {
        let supported = |q: f64| {
            // The median of two requests is still a median; the rule is for tails.
            let enough = q <= 0.5 || histogram.total() as f64 * (1.0 - q) >= 10.0;
            if enough { histogram.quantile_ns(q) } else { None }
        };
        Self {
            min: histogram.min_ns(),
            mean: histogram.mean_ns(),
            stddev: histogram.stddev_ns(),
            p50: supported(0.5),
            p90: supported(0.9),
            p99: supported(0.99),
            p99_9: supported(0.999),
            p99_99: supported(0.9999),
            max: histogram.max_ns(),
        }
    }
}

/// One direction in one window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowDirection {
    /// Requests completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Median latency; `None` when nothing completed.
    pub latency_ns_p50: Option<f64>,
    /// 99th percentile, under the same rule as a trial's.
    pub latency_ns_p99: Option<f64>,
}

/// A slice of a trial, 100 ms by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// From the trial's first submission.
    pub start_s: f64,
    /// From the completion that ended the window before to the one that ended this.
    pub length_s: f64,
    /// Reads, where the workload has any.
    pub read: Option<WindowDirection>,
    /// Writes, where the workload has any.
    pub write: Option<WindowDirection>,
}

/// One timed run of one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// 1, 2, .. in the order of execution.
    pub id: u64,
    /// The experiment that first asked for it.
    pub experiment: String,
    /// The point that it belongs to; `None` for preparation and canaries.
    pub point: Option<usize>,
    /// The round, from 1; 0 before the first.
    pub round: u32,
    /// Why it was run.
    pub phase: Phase,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// Since the run's beginning, on the run's own clock (virtual on a simulated device).
    #[serde(default)]
    pub started_s: f64,
    /// From the first submission to the end of the drain.
    pub elapsed_s: f64,
    /// From the first submission to the end of the warm-up: nothing before counts.
    pub warmup_s: f64,
    /// From the end of the warm-up to the last completion that counts.
    pub measured_s: f64,
    /// The workload.
    pub spec: TrialSpec,
    /// What the reads did, where the workload has any.
    pub read: Option<Direction>,
    /// What the writes did, where the workload has any.
    pub write: Option<Direction>,
    /// Requests outstanding, averaged over the measured time.
    pub in_flight_mean: Option<f64>,
    /// Share of the measured time that the workers were busy, waiting excluded.
    #[serde(default)]
    pub busy_share: Option<f64>,
    /// Requests that were due and never sent (open loop only).
    pub unserved: u64,
    /// Requests that had not come back when the wait for them was given up.
    pub hung: u64,
    /// Processor time of the workers in user mode.
    pub cpu_user_s: Option<f64>,
    /// Processor time of the workers in the kernel.
    pub cpu_system_s: Option<f64>,
    /// 100 ms slices of the measured time.
    pub windows: Vec<Window>,
    /// What others saw.
    pub witnesses: Witnesses,
    /// What went wrong, in words, for the first error of each kind.
    #[serde(default)]
    pub error_examples: Vec<String>,
}

impl Trial {
    /// What one direction did.
    pub fn direction(&self, op: Op) -> Option<&Direction> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
        }
    }

    /// Both directions that occur, reads first.
    pub fn directions(&self) -> impl Iterator<Item = (Op, &Direction)> {
        Op::ALL.into_iter().filter_map(|op| Some((op, self.direction(op)?)))
    }

    /// Completions per second over both directions.
    pub fn iops(&self) -> f64 {
        self.directions().map(|(_, d)| d.iops).sum()
    }

    /// Bytes per second over both directions.
    pub fn bytes_per_s(&self) -> f64 {
        self.directions().map(|(_, d)| d.bytes_per_s).sum()
    }

    /// Errors of both directions.
    pub fn errors(&self) -> u64 {
        self.directions().map(|(_, d)| d.errors).sum()
    }
}

//! Facts of the load up to which a latency limit is kept.

use crate::{Arrivals, LatencyLimit, TrialSpec};

/// Limit and load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyLimited {
    /// Limit that was asked about.
    pub limit: LatencyLimit,
    /// Distances between requests.
    pub arrivals: Arrivals,
    /// Share of reads in a mix, whose latency alone is limited; `None` for one direction.
    pub read_share: Option<f64>,
    /// Rounds in which the loads enclosed the limit.
    pub rounds: usize,
}

/// Why no load can be named.
#[derive(Debug, Clone, PartialEq)]
pub enum LatencyLimitProblem {
    /// The trials of a load have too few requests together for the percentile.
    TooFewRequests {
        /// Workload of the trial.
        spec: Box<TrialSpec>,
        /// Requests that a trial needs.
        needed: u64,
    },
    /// No round has two loads with valid latency.
    NoRounds,
    /// Every load keeps the limit.
    AllKeep {
        /// Highest load with enough trials.
        highest_iops: f64,
    },
    /// No load keeps the limit.
    NoneKeeps {
        /// Lowest load with enough trials.
        lowest_iops: f64,
    },
    /// No load keeps the limit: too many requests of the lowest load exceed it.
    NoneCanKeep {
        /// Lowest load that was offered.
        lowest_iops: f64,
        /// Share of its requests that exceed the limit.
        over_share: f64,
    },
    /// Too few rounds have loads on both sides of the limit.
    TooFewRounds {
        /// Rounds that have.
        rounds: usize,
        /// Rounds that an interval needs.
        needed: usize,
    },
}

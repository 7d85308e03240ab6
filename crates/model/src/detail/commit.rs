//! Facts about commits.

use crate::{Estimate, Sync};

/// Writes of one client that become durable together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Commit {
    /// How they become durable.
    pub sync: Sync,
    /// Mean latency of the flush in nanoseconds; `None` where each write is durable by itself.
    pub flush_ns: Option<f64>,
    /// 99th percentile of the trials' merged histograms, in nanoseconds; `None` where too few commits were timed.
    pub p99_ns: Option<Estimate>,
    /// 99.9th percentile.
    pub p99_9_ns: Option<Estimate>,
    /// Trials behind the mean.
    pub trials: usize,
}

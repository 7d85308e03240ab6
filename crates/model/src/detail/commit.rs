//! Facts about commits.

use crate::Sync;

/// Writes of one client that become durable together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Commit {
    /// How they become durable.
    pub sync: Sync,
    /// Mean latency of the flush in nanoseconds; `None` where each write is durable by itself.
    pub flush_ns: Option<f64>,
    /// Trials behind the mean.
    pub trials: usize,
}

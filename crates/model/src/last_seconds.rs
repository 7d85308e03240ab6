//! What was left of jobs at the end, second by second.

use serde::{Deserialize, Serialize};

/// Throughput of the last seconds of jobs that were to end once it is steady.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LastSeconds {
    /// Indices of the trial's streams.
    pub streams: Vec<usize>,
    /// True if the criterion was met, and ended them.
    pub is_met: bool,
    /// Requests completed in each of the last seconds, at most as many as the window has.
    pub iops: Vec<f64>,
    /// Bytes completed in each of them.
    pub bytes_per_s: Vec<f64>,
}

//! Facts of the check `too-few-samples`.

use serde::Serialize;

/// Number of requests of a trial, or of valid trials of a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TooFewSamples {
    /// The result does not say how many requests completed.
    Uncounted,
    /// Too few requests completed for a latency.
    Requests {
        /// Requests that completed.
        requests: u64,
        /// Requests that are needed.
        needed: u64,
    },
    /// Too few trials are valid for a confidence interval.
    Trials {
        /// Valid trials of the point.
        standing: u32,
        /// All trials of the point.
        trials: u32,
        /// Valid trials that are needed.
        needed: u32,
    },
}

//! Facts of the check `missed-rate`.

use serde::Serialize;

/// Rate that was served against the requested rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MissedRate {
    /// Nothing counted what was served.
    Uncounted,
    /// The rate was served; how late requests were sent was not counted.
    LatenessUncounted,
    /// Fewer requests were served than requested.
    Short {
        /// Completions a second.
        achieved_rate_iops: f64,
        /// Requested rate, in requests per second.
        asked_rate_iops: f64,
        /// Requests that were due and never sent.
        unserved: u64,
    },
    /// The generator sent requests late although a slot was free.
    Late {
        /// 99th percentile of the lateness.
        pacing_error_ns_p99: f64,
        /// Median latency.
        latency_ns_p50: f64,
    },
}

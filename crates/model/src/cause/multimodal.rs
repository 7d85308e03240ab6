//! Facts of the check `multimodal`.

use serde::Serialize;

use crate::Op;

/// Groups of latencies at one point.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Multimodal {
    /// No trial of the point is valid.
    NoTrials,
    /// No latencies of single requests are given.
    NoLatencies,
    /// Too few requests to see groups.
    TooFewRequests {
        /// Requests of the direction that has most.
        requests: u64,
        /// Requests that are needed.
        needed: u64,
    },
    /// Two groups of latencies.
    Groups {
        /// Direction of the requests.
        op: Op,
        /// Share of the requests in the faster group.
        low_share: f64,
        /// Its mean latency.
        low_ns: f64,
        /// Share of all others.
        high_share: f64,
        /// Their mean latency.
        high_ns: f64,
        /// Mean latency of all requests.
        mean_ns: f64,
    },
}

//! Facts of the check `hosts-apart`.

use serde::Serialize;

/// Hosts that were not together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HostsApart {
    /// They shared too little of the trial's time.
    Apart {
        /// Hosts of the trial.
        hosts: u32,
        /// Time of all over the time of any.
        overlap_share: f64,
        /// Last first request after the first one, in nanoseconds.
        start_skew_ns: u64,
        /// The host that began last.
        slowest_rank: u32,
        /// Its first request after the announced moment, in nanoseconds.
        slowest_late_ns: i64,
        /// Error of the comparison of clocks, in nanoseconds.
        clock_error_ns: u64,
    },
    /// The storage did not come round to all of them often enough.
    FewTurns {
        /// Hosts of the trial.
        hosts: u32,
        /// Hosts that completed too few requests.
        few: u32,
        /// Requests that it takes, in multiples of those that a host has outstanding.
        turns_needed: u64,
        /// Length of the trial, in seconds.
        elapsed_s: f64,
        /// Length of a trial that has enough, in seconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        wanted_s: Option<f64>,
    },
    /// Nobody wrote down when they began.
    Unknown {
        /// Hosts of the trial.
        hosts: u32,
    },
}

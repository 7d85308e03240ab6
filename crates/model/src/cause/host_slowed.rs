//! Facts of the check `host-slowed`.

use serde::Serialize;

/// Hosts that were slow for a while, and the others were not.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum HostSlowed {
    /// Some were.
    Slowed {
        /// Hosts of the run.
        hosts: usize,
        /// Those that were slow, the one with the longest time first.
        slowed: Vec<SlowedHost>,
    },
    /// There are too few hosts to tell.
    TooFewHosts {
        /// Hosts of the run.
        hosts: usize,
        /// Hosts that it takes.
        needed: usize,
    },
    /// What each host did in each window was not kept.
    NoWindows {
        /// Hosts of the run.
        hosts: usize,
    },
    /// No point has enough windows.
    TooFewWindows {
        /// Windows that a point needs.
        windows_needed: usize,
        /// Requests that a host needs in each of them.
        requests_needed: f64,
    },
}

/// A host that was slow for a while.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SlowedHost {
    /// Its number.
    pub rank: u32,
    /// Name of its machine; empty where it is not known.
    pub name: String,
    /// Number of slow periods.
    pub periods: usize,
    /// Median length of one, in seconds.
    pub length_s: f64,
    /// Median loss of its throughput in them, beside the other hosts'.
    pub loss_share: f64,
    /// Share of the time observed that they take.
    pub time_share: f64,
    /// Time from one to the next, where they are regular, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// Throughput of all hosts together in them, over that of all otherwise.
    pub all_share: f64,
    /// Share of what it lost that the others gained.
    pub made_up_share: f64,
}

impl SlowedHost {
    /// Whether the others gained most of what it lost, as where they share saturated storage.
    pub fn is_made_up(&self) -> bool {
        self.made_up_share >= 0.5
    }
}

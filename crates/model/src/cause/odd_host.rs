//! Facts of the check `odd-host`.

use serde::Serialize;

/// Hosts that differ from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OddHost {
    /// Some do.
    Odd {
        /// Hosts of the run.
        hosts: usize,
        /// Confidence of all statements together.
        family_wise_confidence: f64,
        /// Those that differ.
        odd: Vec<OddOne>,
    },
    /// There are too few hosts to tell.
    TooFewHosts {
        /// Hosts of the run.
        hosts: usize,
        /// Hosts that it takes.
        needed: usize,
    },
    /// No point has enough valid rounds.
    TooFewRounds {
        /// Rounds that it takes.
        needed: usize,
    },
}

/// A host that differs from the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OddOne {
    /// Its number.
    pub rank: u32,
    /// Name of its machine; empty where it is not known.
    pub name: String,
    /// Its throughput over the median of the hosts that are not named.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}

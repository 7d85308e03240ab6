//! Pauses between the requests of a job, as of a program that works on what it has read.

use serde::{Deserialize, Serialize};

use crate::units;

/// When a job pauses and for how long. A pause begins when nothing is outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Think {
    /// Length of a pause.
    pub pause_ns: u64,
    /// Part of the pause in which the processor is kept busy, at its beginning.
    #[serde(default)]
    pub spin_ns: u64,
    /// Requests between two pauses; `None` where time alone decides.
    pub requests: Option<u64>,
    /// Time between two pauses; `None` where requests alone decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
}

impl Think {
    /// `pauses 5.00 ms every 8 requests`.
    pub fn describe(&self) -> String {
        let every = match (self.requests, self.time_ns) {
            (Some(1), None) => "request".to_owned(),
            (Some(requests), None) => format!("{requests} requests"),
            (None, Some(ns)) => units::time(ns as f64),
            (Some(requests), Some(ns)) => format!("{requests} requests or {}", units::time(ns as f64)),
            (None, None) => "run".to_owned(),
        };
        format!("pauses {} every {every}", units::time(self.pause_ns as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_described_by_what_begins_them() {
        let of = |requests, time_ns| Think { pause_ns: 5_000_000, spin_ns: 0, requests, time_ns }.describe();
        assert_eq!(of(Some(1), None), "pauses 5.00 ms every request");
        assert_eq!(of(Some(8), None), "pauses 5.00 ms every 8 requests");
        assert_eq!(of(None, Some(1_000_000_000)), "pauses 5.00 ms every 1.00 s");
        assert_eq!(of(Some(8), Some(1_000_000_000)), "pauses 5.00 ms every 8 requests or 1.00 s");
    }
}

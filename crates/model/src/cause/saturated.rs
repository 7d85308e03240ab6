//! Facts of the check `saturated`.

use serde::Serialize;

use crate::Op;

use super::LatencyStatistic;

/// Percentiles at the end of what was counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Saturated {
    /// No percentile is given.
    NoPercentile,
    /// The lowest percentile that lies in the last bin of the program's histogram.
    LastBin {
        /// Operation that the latencies are about.
        op: Op,
        /// The percentile.
        percentile: LatencyStatistic,
        /// Its value: the last bin's.
        bin_ns: f64,
    },
}

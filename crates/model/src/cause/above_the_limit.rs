//! Facts of the check `above-the-limit`.

use serde::Serialize;

/// Throughput that the link or the medium cannot give.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AboveTheLimit {
    /// Neither a link nor a medium with a known limit.
    NoLimit {
        /// Link that states no limit.
        link: Option<String>,
    },
    /// More bytes than the link carries.
    Link {
        /// Name of the link, with its speed.
        link: String,
        /// Throughput of the trial.
        bytes_per_s: f64,
        /// Payload rate of the link.
        limit_bytes_per_s: f64,
    },
    /// More random reads than one rotating disk can seek.
    RandomReads {
        /// Random reads of the trial.
        iops: f64,
        /// Limit of one rotating disk.
        limit_iops: f64,
        /// First over second.
        times_the_limit: f64,
    },
    /// More bytes than one rotating disk reads or writes in sequence.
    DiskThroughput {
        /// Throughput of the trial.
        bytes_per_s: f64,
        /// Limit of one rotating disk.
        limit_bytes_per_s: f64,
        /// First over second.
        times_the_limit: f64,
    },
}

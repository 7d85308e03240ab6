//! Reasons why no witness tells whether a trial's bytes moved between this machine and its storage.

use serde::Serialize;

use crate::{Absence, Op};

/// Why no witness tells how many bytes the device moved. Shared by the checks that compare bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NoWitness {
    /// No witness was read.
    NotRead {
        /// Reasons for the missing readings.
        said: Vec<Absence>,
    },
    /// Counters of a device that do not count its bytes.
    CountsNothing {
        /// Name of the device.
        device: Option<String>,
        /// Bytes that it counted during the direct fill.
        counted_bytes: u64,
        /// Bytes that the direct fill wrote.
        filled_bytes: u64,
    },
    /// Trial that moved too little: a single page would decide.
    TooSmall {
        /// Bytes that the requests moved.
        issued_bytes: u64,
        /// Bytes from which on a trial is judged.
        needed_bytes: u64,
    },
    /// Result of another tool whose counters of the device show too few requests for its bytes.
    AtMost {
        /// Operation of the requests.
        op: Op,
        /// Whether the requests bypassed the page cache; holes in the file may have served them.
        direct: bool,
        /// Bytes that the requests moved.
        issued_bytes: u64,
        /// Bytes that the device moved at most.
        most_bytes: u64,
    },
    /// Operation without data.
    NoData {
        /// The operation.
        op: Op,
    },
    /// Buffered result of another tool, whose file holds no witness.
    Imported {
        /// Bytes that the workload addressed; `None` if the file does not say.
        span_bytes: Option<u64>,
    },
    /// Result of another tool whose counters of the device saw no request at all.
    CountersAtZero,
    /// Result of another tool whose file does not say whether the page cache was bypassed.
    PageCacheUnstated,
}

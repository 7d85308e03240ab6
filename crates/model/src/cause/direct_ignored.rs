//! Facts of the check `direct-ignored`.

use serde::Serialize;

use crate::Absence;

/// Direct I/O that used the page cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DirectIgnored {
    /// Target in memory, where there is no cache to bypass.
    Memory,
    /// Page cache whose contents could not be read.
    CacheUnknown {
        /// Reasons for the missing readings.
        said: Vec<Absence>,
    },
    /// More of the span in the page cache after the trial than before.
    CacheGrew {
        /// Growth of the cached part.
        grown_bytes: u64,
        /// Bytes that the requests moved.
        issued_bytes: u64,
    },
    /// Span that was cached already, and a device that moved too little.
    ServedFromCache {
        /// Cached part of the span before the trial.
        cached_share: f64,
        /// Bytes that the device moved.
        moved_bytes: u64,
        /// Bytes that the requests moved.
        issued_bytes: u64,
    },
    /// Span that was cached already, and no count of what the device moved.
    NoCount {
        /// Cached part of the span before the trial.
        cached_share: f64,
    },
}

//! Facts of the check `direct-ignored`.

use serde::Serialize;

/// Direct I/O that went through the page cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum DirectIgnored {
    /// Target in memory, where there is no cache to bypass.
    Memory,
    /// Page cache whose contents could not be read.
    CacheUnknown {
        /// Reasons that the system gave.
        said: Vec<String>,
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

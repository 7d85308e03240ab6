//! Facts of the check `write-back`.

use serde::Serialize;

/// Buffered writes that were still in memory at the end of the trial.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum WriteBack {
    /// Fewer bytes at the device than in the requests.
    NotTaken {
        /// Bytes that the device took.
        moved_bytes: u64,
        /// Bytes that the requests wrote.
        issued_bytes: u64,
    },
    /// Bytes that were dirty in the page cache.
    Dirty {
        /// Dirty bytes after the trial.
        dirty_after_bytes: u64,
        /// Bytes that the requests wrote.
        issued_bytes: u64,
    },
}

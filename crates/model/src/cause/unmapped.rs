//! Facts of the check `unmapped`.

use serde::Serialize;

/// Holes in what was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Unmapped {
    /// File system or device that does not say where data lies.
    Unknown,
    /// Part of the span without data.
    Holes {
        /// Bytes without data.
        unmapped_bytes: u64,
        /// Bytes of the span.
        span_bytes: u64,
    },
}

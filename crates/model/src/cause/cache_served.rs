//! Facts of the check `cache-served`.

use serde::Serialize;

use crate::{CacheBelow, Op};

/// Bytes that the device did not move.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CacheServed {
    /// Target that lies in memory.
    Memory {
        /// File system or device.
        name: Option<String>,
    },
    /// Engine that moves no data.
    NoStorage {
        /// Name of the engine.
        engine: String,
    },
    /// Cache of this machine below the target, which direct I/O does not bypass.
    Below {
        /// The cache.
        #[serde(skip)]
        cache: CacheBelow,
    },
    /// Fewer bytes at the device than in the requests.
    Shortfall {
        /// Operation of the requests.
        op: Op,
        /// Whether the requests bypassed the page cache.
        direct: bool,
        /// Whether a file server stands in the device's place.
        server: bool,
        /// Bytes that the requests moved.
        issued_bytes: u64,
        /// Bytes that the device or the server moved.
        moved_bytes: u64,
    },
    /// Buffered reads of a span that was in the page cache before and after.
    Resident {
        /// Bytes of the span.
        span_bytes: u64,
    },
}

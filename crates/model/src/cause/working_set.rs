//! Facts of the check `working-set`.

use serde::Serialize;

use crate::HidingLayer;

/// Working set that a cache may hold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum WorkingSet {
    /// Smaller span that is faster than the largest one, and holds the working set.
    Cached {
        /// Span that a cache serves.
        cached_bytes: u64,
        /// Largest span.
        largest_bytes: u64,
        /// Rate over the cached span, as a multiple of the rate over the largest.
        ratio: f64,
        /// Bytes that this run addressed.
        working_set_bytes: u64,
    },
    /// Buffered I/O to a working set smaller than memory.
    FitsMemory {
        /// Bytes that this run addressed.
        working_set_bytes: u64,
        /// Memory of this machine.
        memory_bytes: u64,
    },
    /// Buffered I/O on a machine whose memory size was not read.
    MemoryUnknown {
        /// Bytes that this run addressed.
        working_set_bytes: u64,
    },
    /// Cache outside this system.
    CacheOutside {
        /// Bytes that this run addressed.
        working_set_bytes: u64,
        /// Layers with a cache.
        layers: Vec<HidingLayer>,
    },
    /// Result of another tool, whose file names neither span nor memory.
    Imported,
}

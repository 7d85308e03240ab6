//! Settings of a disk, checked.

use iosonde_model::Op;

use super::platter::Platter;

/// Settings of `[disk]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct DiskSettings {
    pub(super) platter: Platter,
    /// Mean seek time between random addresses.
    pub(super) average_ns: f64,
    /// Read-ahead cache.
    pub(super) cache_bytes: u64,
    pub(super) write_cache_bytes: Option<u64>,
    /// Commands that the disk takes at once.
    pub(super) slots: usize,
    /// True if the request with the shortest positioning time is served first, otherwise the oldest.
    pub(super) shortest_first: bool,
}

impl DiskSettings {
    /// Returns true if a request of this kind ends in the electronics.
    pub(super) fn is_cached(&self, op: Op) -> bool {
        op == Op::Write && self.write_cache_bytes.is_some()
    }

    /// Mean of the transfer rates at both edges, in bytes per second.
    pub(super) fn mean_rate(&self) -> f64 {
        (self.platter.outer + self.platter.inner) / 2.0
    }
}

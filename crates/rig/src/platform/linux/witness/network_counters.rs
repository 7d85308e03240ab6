//! Counters of a network mount, which NFS and SMB fill.

/// Counters of a mount since it was mounted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
    pub(super) requests: Option<u64>,
    pub(super) transmissions: Option<u64>,
    pub(super) times: Option<Times>,
}

/// Milliseconds, summed over all reads and writes; 64 bits in the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) queued_ms: u64,
    pub(super) round_trip_ms: u64,
    pub(super) execution_ms: u64,
}

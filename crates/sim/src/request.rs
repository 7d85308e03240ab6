//! Requests to a simulated device and their completions.

use iosonde_model::Op;

/// Who asks: a worker of one of the hosts that share the device, both counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worker {
    /// Its host.
    pub host: usize,
    /// Its number, which says on which of the host's processors it runs.
    pub number: usize,
}

/// Request to a simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// Number chosen by the caller, returned with the completion.
    pub tag: u64,
    /// Read, write, trim or flush. A flush has no offset and no length.
    pub op: Op,
    /// Offset of the first byte.
    pub offset_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u32,
    /// True if the request bypasses the page cache.
    pub direct: bool,
}

/// Completion of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// The request's tag.
    pub tag: u64,
    /// Bytes moved, or a negative errno.
    pub result: i32,
    /// Time of completion, in virtual nanoseconds.
    pub at_ns: u64,
    /// Fate of the request's data, whatever `result` says.
    pub fate: Fate,
}

/// Fate of a request's data. The device hides these faults from its host: verification has to find them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Fate {
    /// Data arrived as requested.
    #[default]
    AsAsked,
    /// Write lost completely.
    Lost,
    /// Write of which only the beginning arrived.
    Torn {
        /// Bytes that arrived: whole sectors of 512 bytes, at least one and not all.
        arrived_bytes: u32,
    },
    /// Write that was stored elsewhere.
    Misplaced {
        /// Offset at which the data arrived.
        to_bytes: u64,
    },
    /// Read that returned the data before the last write.
    Stale,
}

/// How long the host takes to refuse a request that the device has no room for. It must not be nothing: a
/// program that asks again at once would stop virtual time.
pub(crate) const REFUSAL_NS: u64 = 1_000;

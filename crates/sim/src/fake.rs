//! What a fake device holds, and what it does with the rest.

/// What a fake device does with the sectors that it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// Nothing is kept; zeros are read.
    Lost,
    /// Addresses begin again at 0.
    Wraps,
    /// All of it shares the last so many bytes of what there is.
    Last {
        /// Length of that part.
        chunk_bytes: u64,
    },
    /// The latest so many bytes are kept.
    Cached {
        /// Size of the cache.
        cache_bytes: u64,
    },
    /// Nothing is kept; what lies one real capacity earlier is read.
    Mirrored,
}

/// What a fake device holds of the capacity that it claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FakeCapacity {
    /// Its real capacity.
    pub holds_bytes: u64,
    /// What happens from there on.
    pub beyond: Beyond,
}

//! Facts about durable writes.

use crate::Sync;

/// How writes become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durable {
    /// A flush after several writes.
    Flush {
        /// Writes before each flush.
        writes: u32,
        /// Trials with flushes.
        trials: usize,
    },
    /// Each write is durable before the next.
    Log(Sync),
}

//! Facts about ways of making a write durable.

use std::fmt;

use crate::{Estimate, Sync};

/// One way of making a write durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncMethod {
    /// The flush, or the flag with which the file was opened.
    pub sync: Sync,
    /// Whether the page cache is not used.
    pub direct: bool,
}

/// As its row in a table of points.
impl fmt::Display for SyncMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.sync, if self.direct { "direct" } else { "buffered" })
    }
}

/// Ways of making the same writes durable, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct SyncMethods {
    /// Those that may be the fastest, in the order of measurement.
    pub fastest: Vec<SyncMethod>,
    /// The others that were compared.
    pub others: Vec<SyncMethod>,
    /// The slowest of them.
    pub slowest: SyncMethod,
    /// Its rate over that of the fastest estimate; its interval holds for all pairs together.
    pub slowest_ratio: Estimate,
    /// Those without a valid figure, and those whose interval says nothing beside the others'.
    pub left_out: Vec<SyncMethod>,
}

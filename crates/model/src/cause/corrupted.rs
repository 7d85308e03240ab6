//! Facts of the check `corrupted`.

use serde::Serialize;

use crate::Verification;

/// Blocks that were read back and differ from what was written, or carry no mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Corrupted {
    /// Blocks that differ, of every kind.
    pub bad: u64,
    /// Counts by kind.
    #[serde(flatten)]
    pub found: Verification,
}

impl From<Verification> for Corrupted {
    fn from(found: Verification) -> Self {
        Self { bad: found.bad(), found }
    }
}

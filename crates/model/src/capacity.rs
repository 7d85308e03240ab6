//! Capacity that is there, or not: what was written where, what was read back, and what follows.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::circumstances::Circumstances;

/// Part of the storage whose capacity is in question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityScope {
    /// A whole block device.
    Device,
    /// An existing file.
    File,
    /// The free space of a file system, by a file of iosonde's own.
    FreeSpace,
    /// A simulated device.
    Simulated,
}

/// What was found at a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum BlockState {
    /// What was written there last.
    Kept,
    /// Nothing that was written this time.
    Lost,
    /// What was written to another place.
    Shifted {
        /// Distance of that place: positive where it lies at a higher offset.
        by_bytes: i64,
    },
    /// Reading it failed.
    Unreadable,
    /// Writing it failed.
    Unwritable,
}

/// Neighbouring blocks in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRun {
    /// Offset of the first byte.
    pub from_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u64,
    /// What was found there.
    pub state: BlockState,
}

impl BlockRun {
    /// Offset behind the last byte.
    pub fn end_bytes(&self) -> u64 {
        self.from_bytes + self.length_bytes
    }
}

/// What a probe wrote and read.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityProbe {
    /// Size that the storage claims.
    pub claimed_bytes: u64,
    /// Size of a block.
    pub block_bytes: u64,
    /// Largest distance between neighbouring places that were tested; a block where all of it was.
    pub step_bytes: u64,
    /// Ranges in the order in which they were written.
    pub writes: Vec<Range<u64>>,
    /// Blocks that were read back, by offset, none of them twice.
    pub runs: Vec<BlockRun>,
}

/// What storage does with data for which it has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeyondCapacity {
    /// They are gone.
    Lost,
    /// They replace one another, or data that belong elsewhere are read.
    Mixed,
    /// Reading or writing fails.
    Errors,
}

/// What follows from a probe.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "finding")]
pub enum CapacityFinding {
    /// Everything that was written came back.
    Genuine {
        /// Share of blocks, scattered at random, that may be bad at the stated confidence; `None` where every block
        /// was tested.
        missed_share: Option<f64>,
    },
    /// Addresses begin again: what is written behind the real capacity replaces what is at the beginning.
    Wraps {
        /// The real capacity.
        real_bytes: u64,
    },
    /// Up to the real capacity data are kept, and behind it they are not.
    Ends {
        /// The real capacity is at least this.
        at_least_bytes: u64,
        /// The real capacity is at most this.
        at_most_bytes: u64,
        /// What happens behind it.
        beyond: BeyondCapacity,
    },
    /// Data are lost here and there.
    Damaged {
        /// Share of the tested places that did not keep their data.
        share: f64,
        /// The first of them.
        first_bytes: u64,
    },
}

/// A capacity with how it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The target as the user named it.
    pub target: String,
    /// What was looked at.
    pub scope: CapacityScope,
    /// Size that the storage claims, or of its first part where no more was requested.
    pub claimed_bytes: u64,
    /// Whether no more than a first part was requested.
    pub only_first_part: bool,
    /// Whether every block was tested.
    pub full: bool,
    /// Blocks that were tested.
    pub blocks: u64,
    /// Size of a block.
    pub block_bytes: u64,
    /// Largest distance between neighbouring places that were tested.
    pub step_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes that an interrupted test had written before.
    pub written_before_bytes: u64,
    /// Bytes of the blocks in each state: kept, lost, shifted, failed.
    pub found: CapacityCounts,
    /// Duration, in seconds.
    pub elapsed_s: f64,
    /// What follows.
    pub finding: CapacityFinding,
    /// Parts of equal length in which blocks were tested, by offset.
    pub parts: Vec<KeptPart>,
    /// When, where and how.
    pub circumstances: Circumstances,
}

/// Blocks of a part of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPart {
    /// Offset of its first byte.
    pub from_bytes: u64,
    /// Offset behind its last byte.
    pub to_bytes: u64,
    /// Blocks that were tested.
    pub blocks: u64,
    /// Those of them that hold what was written there last.
    pub kept: u64,
}

/// Blocks by what was found in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityCounts {
    /// Blocks that hold what was written there.
    pub kept: u64,
    /// Blocks that hold nothing that was written.
    pub lost: u64,
    /// Blocks that hold what was written to another place.
    pub shifted: u64,
    /// Blocks that could not be written or read.
    pub failed: u64,
}

impl CapacityProbe {
    /// Blocks by what was found in them.
    pub fn counts(&self) -> CapacityCounts {
        let mut counts = CapacityCounts::default();
        for run in &self.runs {
            let blocks = run.length_bytes / self.block_bytes;
            match run.state {
                BlockState::Kept => counts.kept += blocks,
                BlockState::Lost => counts.lost += blocks,
                BlockState::Shifted { .. } => counts.shifted += blocks,
                BlockState::Unreadable | BlockState::Unwritable => counts.failed += blocks,
            }
        }
        counts
    }
}

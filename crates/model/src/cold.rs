//! Data that are slower to read for the first time: what was read, and what follows.

use serde::{Deserialize, Serialize};

use crate::{circumstances::Circumstances, histogram::Histogram, point::Estimate};

/// Bytes read one area after another, several requests at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streamed {
    /// Bytes read.
    pub bytes: u64,
    /// Time for all of them, in nanoseconds.
    pub elapsed_ns: u64,
}

/// One round of reads: for the first time, and the same reads again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColdRound {
    /// Time of each single read, in nanoseconds, in the same order both times.
    pub single_ns: [Vec<u64>; 2],
    /// Whole areas.
    pub streamed: [Streamed; 2],
}

/// One way of reading, for the first time and again.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FirstAndAgain {
    /// For the first time.
    pub first: Estimate,
    /// The same again.
    pub again: Estimate,
    /// How many times slower the first time is.
    pub slowdown: Estimate,
}

/// Whether first reads are slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdVerdict {
    /// First reads are slower.
    Cold,
    /// First reads are at most a few percent slower.
    Warm,
    /// The intervals allow both.
    Inconclusive,
}

/// What follows from first and second reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cold {
    /// The target as the user named it.
    pub target: String,
    /// Its size in bytes, or that of its first part where no more was requested.
    pub size_bytes: u64,
    /// Mean time of a single read, in nanoseconds.
    pub latency_ns: FirstAndAgain,
    /// Bytes per second of reading whole areas.
    pub bytes_per_s: FirstAndAgain,
    /// Share of places whose first read was slow, as hardly a second read was.
    pub slow_share: Estimate,
    /// Time to read all of it once at the rate of first reads, in seconds.
    pub read_all_s: Estimate,
    /// Single reads, each made twice.
    pub single_reads: u64,
    /// Bytes read, the second reads included.
    pub read_bytes: u64,
    /// Bytes between the first and the second read of a place: a cache that is smaller has forgotten the first.
    pub distance_bytes: u64,
    /// Length of a single read.
    pub block_bytes: u64,
    /// Length of an area.
    pub area_bytes: u64,
    /// Requests at a time where whole areas are read.
    pub depth: u32,
    /// Times of all single reads: for the first time, and again.
    pub single_ns: [Histogram; 2],
    /// Duration, in seconds.
    pub elapsed_s: f64,
    /// What follows.
    pub verdict: ColdVerdict,
    /// When, where and how.
    pub circumstances: Circumstances,
}

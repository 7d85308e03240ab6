//! Facts of the highest of several points.

use super::Inconclusive;

/// Points that were compared, and those that were not.
#[derive(Debug, Clone, PartialEq)]
pub struct Highest {
    /// Points that were compared.
    pub points: usize,
    /// Ids of the points that may be the highest.
    pub best_points: Vec<usize>,
    /// Smallest and largest queue depth of these.
    pub queue_depths: [u64; 2],
    /// Smallest and largest block size of these.
    pub block_sizes_bytes: [u64; 2],
    /// Workloads that were excluded: their intervals are too wide to change the answer.
    pub imprecise: Vec<SizeAndDepth>,
    /// Why other points could not be compared, one for each.
    pub invalid: Vec<Inconclusive>,
}

/// Size and number of the requests of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeAndDepth {
    /// Bytes of each request.
    pub block_size_bytes: u64,
    /// Requests outstanding at once, of all jobs.
    pub queue_depth: u64,
}

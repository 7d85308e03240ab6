//! Facts about the mapping unit.

use crate::TrialSpec;

/// How the mapping unit shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MappingUnit {
    /// Sizes that were measured.
    pub sizes: usize,
    /// Share by which smaller writes take longer.
    pub longer: f64,
}

/// Why nothing can be said of the mapping unit.
#[derive(Debug, Clone, PartialEq)]
pub enum MappingUnitProblem {
    /// Writes were buffered.
    Buffered {
        /// Workload that did.
        spec: Box<TrialSpec>,
    },
    /// Too few sizes were measured.
    FewSizes {
        /// Sizes that were measured.
        sizes: usize,
        /// Sizes that are needed.
        needed: usize,
    },
    /// No size takes significantly less time than a smaller one.
    NoFall {
        /// Bytes of the smallest write.
        smallest_bytes: u64,
    },
    /// The fall is no larger than the scatter, or than the time of a buffer's answer.
    SmallFall {
        /// Size at which the time falls.
        size_bytes: u64,
        /// Time by which it falls.
        fall_ns: f64,
    },
}

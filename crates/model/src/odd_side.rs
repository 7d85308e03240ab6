//! Sides of a comparison that differ from all the others: one bad drive of many.

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// Each of several sides that took turns, against the median of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OddSides {
    /// Number of sides.
    pub sides: usize,
    /// Workloads that all of them measured validly.
    pub workloads: usize,
    /// Those that differ by more than the margin, the slowest first.
    pub odd: Vec<OddSide>,
    /// Largest difference that the intervals of the other sides allow, as a share: 0.04.
    pub others_within: f64,
    /// Confidence of all of these statements together.
    pub confidence: f64,
}

/// A side that differs from the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OddSide {
    /// Its name.
    pub name: String,
    /// Geometric mean over the workloads of its throughput over the others' median.
    pub ratio: Estimate,
}

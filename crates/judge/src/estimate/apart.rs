//! Trials that lie apart from the others of their point.

use std::collections::BTreeMap;

/// Trials far from the others of their point, by id.
pub type OutlierTrials = BTreeMap<u64, Apart>;

/// How far a trial lies from what its point does otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart {
    /// Its value over the point's level at that time.
    pub share: f64,
    /// The standard deviation of the point's other trials, as a share.
    pub scatter: f64,
}

impl Apart {
    /// In standard deviations of the others.
    pub fn deviations(&self) -> f64 {
        self.share.ln().abs() / self.scatter
    }
}

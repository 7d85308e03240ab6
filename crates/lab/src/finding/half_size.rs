//! To be written.

use iosonde_model::{Finding, Named};

use super::{FindingKind, Proof};
use crate::evidence::Evidence;

pub(crate) struct HalfSize;

impl Named for HalfSize {
    fn name(&self) -> &'static str {
        "half_size"
    }
}

impl FindingKind for HalfSize {
    fn conclude(&self, _experiment: &str, _points: &[Evidence], _confidence: f64) -> Vec<Finding> {
        Vec::new()
    }

    fn proof(&self) -> Proof {
        Proof { device: "", study: "", truths: &[], widest: 0.0 }
    }
}

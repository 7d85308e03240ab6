//! To be written.

use iosonde_model::{Finding, Named};

use super::{FindingKind, Proof};
use crate::evidence::Evidence;

pub(crate) struct RandomVsSequential;

impl Named for RandomVsSequential {
    fn name(&self) -> &'static str {
        "random_vs_sequential"
    }
}

impl FindingKind for RandomVsSequential {
    fn conclude(&self, _experiment: &str, _points: &[Evidence], _confidence: f64) -> Vec<Finding> {
        Vec::new()
    }

    fn proof(&self) -> Proof {
        Proof { device: "", study: "", truths: &[], widest: 0.0 }
    }
}

//! To be written.

use iosonde_model::{Finding, Named};

use super::{FindingKind, Proof};
use crate::evidence::Evidence;

pub(crate) struct BaseLatency;

impl Named for BaseLatency {
    fn name(&self) -> &'static str {
        "base_latency"
    }
}

impl FindingKind for BaseLatency {
    fn conclude(&self, _experiment: &str, _points: &[Evidence], _confidence: f64) -> Vec<Finding> {
        Vec::new()
    }

    fn proof(&self) -> Proof {
        Proof { device: "", study: "", truths: &[], widest: 0.0 }
    }
}

//! To be written.

use iosonde_model::{Finding, Named};

use super::{FindingKind, Proof};
use crate::evidence::Evidence;

pub(crate) struct DepthFor95Percent;

impl Named for DepthFor95Percent {
    fn name(&self) -> &'static str {
        "depth_for_95_percent"
    }
}

impl FindingKind for DepthFor95Percent {
    fn conclude(&self, _experiment: &str, _points: &[Evidence], _confidence: f64) -> Vec<Finding> {
        Vec::new()
    }

    fn proof(&self) -> Proof {
        Proof { device: "", study: "", truths: &[], widest: 0.0 }
    }
}

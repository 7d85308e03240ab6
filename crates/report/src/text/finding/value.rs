//! Figures that findings of several families share.

use crate::text::number::with_interval;
use iosonde_infer::finding::lookup::estimate;
use iosonde_model::Finding;

/// A finding's value with its interval.
pub(super) fn value(finding: &Finding) -> String {
    with_interval(finding.unit, &estimate(finding))
}

/// Several queue depths: `QD 8, 16`.
pub(super) fn depths(queue_depths: &[u64]) -> String {
    format!("QD {}", queue_depths.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

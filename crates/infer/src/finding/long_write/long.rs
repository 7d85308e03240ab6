//! Long writes of an experiment.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{Conditions, Op, Trial};

use crate::finding::group;

/// A long write, and the same after a shorter pause.
pub(in crate::finding) struct Long<'e, 'a> {
    pub(in crate::finding) evidence: &'e Evidence<'a>,
    pub(in crate::finding) after_gap: Option<&'e Evidence<'a>>,
}

impl<'e, 'a> Long<'e, 'a> {
    /// One for each workload that writes and nothing else.
    pub(in crate::finding) fn of(points: &'e [Evidence<'a>]) -> Vec<Self> {
        let writes = |evidence: &&Evidence| group::only_direction(evidence.point.spec.rw) == Some(Op::Write);
        let after_gap = |evidence: &Evidence, other: &Evidence| {
            let (spec, mut again) = (&evidence.point.spec, other.point.spec.clone());
            let on = again.offset_bytes.checked_sub(spec.offset_bytes);
            again.offset_bytes = spec.offset_bytes;
            again.span_bytes += on.unwrap_or(0);
            on == Some(spec.block_size_bytes) && again == *spec
        };
        let all = || points.iter().filter(writes);
        let first = |evidence: &&Evidence| !all().any(|other| after_gap(other, evidence));
        all()
            .filter(first)
            .map(|evidence| Self { evidence, after_gap: all().find(|other| after_gap(evidence, other)) })
            .collect()
    }

    /// Every trial that writes.
    pub(super) fn writes(&self) -> Vec<&'a Trial> {
        let again = self.after_gap.iter().flat_map(|evidence| evidence.trials.iter());
        self.evidence.trials.iter().chain(again).copied().collect()
    }

    pub(in crate::finding) fn conditions(&self) -> Conditions {
        let spec = &self.evidence.point.spec;
        Conditions {
            op: Some(Op::Write),
            random: Some(spec.rw.is_random()),
            block_size_bytes: Some(spec.block_size_bytes),
            queue_depth: Some(spec.asked_in_flight() as u32),
            span_bytes: Some(spec.span_bytes),
            ..Conditions::default()
        }
    }
}

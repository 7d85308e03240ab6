//! The part of the span that a job goes over: all of it, or one as large as the others'.

use iosonde_model::{Ranges, TrialSpec};

/// The range of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobRange {
    pub(crate) base_bytes: u64,
    pub(crate) length_bytes: u64,
}

/// The largest request.
pub(crate) fn largest_bytes(spec: &TrialSpec) -> u64 {
    spec.block_sizes.largest_bytes().unwrap_or(spec.block_size_bytes)
}

/// Alignment of offsets, counted from the beginning of the span.
pub(super) fn align_bytes(spec: &TrialSpec) -> u64 {
    spec.align_bytes.unwrap_or_else(|| spec.smallest_block_bytes())
}

/// Unit of disjoint parts: whole blocks that begin on the alignment. `None` beyond 2^64.
pub(super) fn unit_bytes(spec: &TrialSpec) -> Option<u64> {
    largest_bytes(spec).checked_next_multiple_of(align_bytes(spec))
}

impl JobRange {
    /// The range of a job. Disjoint ones are of equal size, in whole blocks; the last takes what remains as
    /// well.
    pub(crate) fn of(spec: &TrialSpec, job: u32) -> Self {
        let whole = Self { base_bytes: spec.offset_bytes, length_bytes: spec.span_bytes };
        let part = match spec.ranges {
            Ranges::Shared => whole,
            Ranges::Disjoint => whole.part(unit_bytes(spec).unwrap_or(u64::MAX), (job, spec.jobs)),
        };
        let block_bytes = largest_bytes(spec);
        assert!(part.length_bytes >= block_bytes, "{} B hold no block of {block_bytes} B", part.length_bytes);
        part
    }

    fn part(self, unit_bytes: u64, (job, jobs): (u32, u32)) -> Self {
        assert!(job < jobs, "job {job} of {jobs}");
        let each_bytes = self.length_bytes / unit_bytes / u64::from(jobs) * unit_bytes;
        let before_bytes = u64::from(job) * each_bytes;
        let length_bytes = if job + 1 < jobs { each_bytes } else { self.length_bytes - before_bytes };
        Self { base_bytes: self.base_bytes + before_bytes, length_bytes }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn disjoint_parts_meet_and_cover_all(
            jobs in 1u32..20, blocks in 1u64..50, rest in 0u64..4096, offset_bytes in 0u64..10_000,
        ) {
            let spec = TrialSpec {
                jobs,
                offset_bytes,
                span_bytes: (u64::from(jobs) + blocks) * 4096 + rest,
                ranges: Ranges::Disjoint,
                ..TrialSpec::default()
            };
            let parts: Vec<JobRange> = (0..jobs).map(|job| JobRange::of(&spec, job)).collect();
            let mut at_bytes = offset_bytes;
            for part in &parts {
                prop_assert_eq!(part.base_bytes, at_bytes);
                prop_assert_eq!((part.base_bytes - offset_bytes) % 4096, 0);
                at_bytes += part.length_bytes;
            }
            prop_assert_eq!(at_bytes, offset_bytes + spec.span_bytes);
            prop_assert!(parts.windows(2).all(|two| two[0].length_bytes <= two[1].length_bytes));
            let equal = &parts[..parts.len() - 1];
            prop_assert!(equal.iter().all(|part| part.length_bytes == parts[0].length_bytes));
        }
    }

    #[test]
    fn parts_begin_on_the_alignment_and_hold_the_largest_block() {
        let spec = TrialSpec {
            block_sizes: "4k:1,24k:1".parse().unwrap(),
            align_bytes: Some(16 << 10),
            span_bytes: 1 << 20,
            jobs: 4,
            ranges: Ranges::Disjoint,
            ..TrialSpec::default()
        };
        assert_eq!(unit_bytes(&spec), Some(32 << 10));
        assert_eq!(JobRange::of(&spec, 3), JobRange { base_bytes: 768 << 10, length_bytes: 256 << 10 });
    }
}

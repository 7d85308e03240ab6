//! How much of the storage a cache holds, from the span at which requests become slower.
//!
//! What it is: a size between two measured spans: the larger part of the storage that is served as fast as the
//! smallest part, and the next one, which is significantly slower.
//!
//! How it is computed: the throughput in each span against the throughput in the smallest, with simultaneous
//! intervals (Bonferroni). A span is slower where the whole interval lies more than 5 % below 1. The interval runs
//! from the largest span below that is not slower by more than 10 % to the first slower one; the value is their
//! geometric mean. Where no span is slower, no cache is visible, and the sentence says up to which span.
//!
//! Where the latencies in the slower spans form two groups, the share of the fast ones, times the span, is the
//! cache (random requests find a share C / W of a span W). If all these spans agree on a size, that is the value,
//! with their weighted mean's interval.
//!
//! A cache that is still filling looks small. Each span is therefore read once, in order, before each of its
//! trials, after which the cache holds as much of it as it ever will. The finding is inconclusive where that pass
//! was cut short (it may take 20 s), or where the span nevertheless becomes faster within its trials.
//!
//! Inconclusive, too, where requests do not form two groups and one request takes half a millisecond even within
//! the smallest span: on a disk a smaller span is faster because the arm has a shorter way.
//!
//! Assumes: that the cache keeps what was used last, also of what is read in order, and that the smallest span
//! fits. The throughput does not show whose cache it is: the storage's, a controller's, or a host's behind a
//! virtual machine.
//!
//! With `--buffered` the question is about the page cache. Trials served from memory are invalid as statements
//! about the device; here they count. Where almost none of the smallest span's requests reach the device, the
//! sentence says that it is the page cache. A control group's memory limit bounds it like the memory itself.
//!
//! What it is not: the amount of memory in the device: tables, buffers and other users share it.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{ExperimentName, Finding, FindingName, Unit, detail::Lack};

use super::{FindingKind, Proof, ScreenLine, cached, group::Writer};

pub(crate) struct CacheBytes;

impl FindingKind for CacheBytes {
    fn id(&self) -> FindingName {
        FindingName::CacheBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::WorkingSet]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::folded("cache")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        let groups = cached::groups(points);
        groups
            .iter()
            .filter(|group| group.points.len() > 1)
            .map(|group| cached::one(&writer, group))
            .collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Spans)
    }

    fn proof(&self) -> Proof {
        cached::PROOF
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Status, detail::Cached};

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    #[test]
    fn a_level_curve_has_no_cache_and_a_noisy_one_no_answer() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"working-set\"";
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = &exact.conclusions(&CacheBytes, study, 1)[0][0];
        assert_eq!(found.status, Status::Absent);
        assert!(matches!(found.detail, Detail::Cached(Cached::Level { .. })), "{found:?}");
        let noisy = Pretend { cv: 0.3, ..Pretend::usual() };
        assert_eq!(noisy.conclusions(&CacheBytes, study, 1)[0][0].status, Status::Inconclusive);
    }
}

//! What cannot be verified, in a sentence: said before anything is measured.

use std::io;

use iosonde_model::{Payload, Ranges, TrialSpec, units::size};

use super::{ledger::Ledger, mark::SECTOR_BYTES};
use crate::platform::files;

/// Reason why a workload cannot be verified here, with an alternative. Nothing was measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

impl Unfit {
    /// Returns the reason inside an I/O error, if it is one.
    pub fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl From<Unfit> for io::Error {
    fn from(unfit: Unfit) -> Self {
        Self::new(io::ErrorKind::InvalidInput, unfit)
    }
}

/// Returns the size of the marked blocks: every request begins and ends at a boundary of them.
pub fn block_bytes(spec: &TrialSpec) -> u64 {
    let sizes = spec.block_sizes.iter().map(|one| one.bytes).chain([spec.block_size_bytes]);
    sizes.chain(spec.align_bytes).chain(spec.stride_bytes).fold(0, greatest_common_divisor)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Returns the reason why a workload cannot be verified; `None` where it can, and where verification was not requested.
pub fn problem(spec: &TrialSpec) -> Option<String> {
    let streams: Vec<&TrialSpec> = spec.streams().collect();
    let verified = streams.iter().copied().enumerate().filter(|(_, stream)| stream.verify);
    let overlapping = |(n, stream): (usize, &TrialSpec)| {
        let mut others = streams.iter().enumerate().filter(|&(other, _)| other != n);
        others.any(|(_, other)| other.rw.changes() && meet(stream, other)).then(|| {
            "a stream that is verified and another that changes the same blocks: nobody could say what should be \
             there; give them --offset and --span of their own"
                .to_owned()
        })
    };
    verified
        .clone()
        .find_map(|(_, stream)| stream_problem(stream))
        .or_else(|| verified.clone().find_map(overlapping))
}

fn meet(one: &TrialSpec, other: &TrialSpec) -> bool {
    one.offset_bytes < other.offset_bytes.saturating_add(other.span_bytes)
        && other.offset_bytes < one.offset_bytes.saturating_add(one.span_bytes)
}

fn stream_problem(spec: &TrialSpec) -> Option<String> {
    let block = block_bytes(spec);
    if block == 0 || !block.is_multiple_of(SECTOR_BYTES as u64) {
        return Some(
            "verified blocks carry a mark in each 512 B: ask for block sizes, alignment and stride that are \
             multiples of 512"
                .into(),
        );
    }
    if spec.engine.split(':').next() == Some("null") {
        return Some(
            "the null engine moves nothing, so there is nothing to verify; choose another engine".into(),
        );
    }
    if spec.rw.trims() {
        return Some("a trim writes nothing that could be read back; verify reads or writes".into());
    }
    if !spec.rw.writes() {
        return None;
    }
    if matches!(spec.payload, Payload::Zero | Payload::Dedupe { .. } | Payload::Both { .. }) {
        return Some(format!(
            "a verified block carries its offset and version, so it is neither zeros nor equal to another: payload {} \
             cannot be verified; random and compress:P% can",
            spec.payload
        ));
    }
    if spec.jobs > 1 && spec.ranges == Ranges::Shared {
        return Some(
            "jobs that write and verify need ranges of their own, since each knows only its own writes"
                .into(),
        );
    }
    memory_problem(spec, block)
}

fn memory_problem(spec: &TrialSpec, block_bytes: u64) -> Option<String> {
    let needed_bytes = Ledger::memory_bytes(spec.span_bytes, block_bytes);
    // A quarter, as for buffers: the rest belongs to the page cache and to everybody else.
    let limit_bytes = files::memory_bytes().map_or(u64::MAX, |bytes| bytes / 4);
    (needed_bytes > limit_bytes).then(|| {
        format!(
            "verifying a span of {} in blocks of {} takes {} of memory, more than a quarter of this machine's; ask for \
             a smaller span or larger blocks",
            size(spec.span_bytes),
            size(block_bytes),
            size(needed_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::{Rw, StridePass};

    fn spec(rw: Rw) -> TrialSpec {
        TrialSpec { rw, span_bytes: 1 << 20, engine: "psync".into(), verify: true, ..TrialSpec::default() }
    }

    #[test]
    fn blocks_are_the_smallest_size_unless_offsets_are_finer() {
        let sizes = TrialSpec {
            block_sizes: "8k:1,64k:1".parse().unwrap(),
            block_size_bytes: 65_536,
            ..spec(Rw::RandWrite)
        };
        assert_eq!(block_bytes(&sizes), 8192);
        assert_eq!(block_bytes(&TrialSpec { align_bytes: Some(512), ..sizes }), 512);
        let stride =
            TrialSpec { stride_bytes: Some(6144), stride_pass: StridePass::Shifted, ..spec(Rw::Write) };
        assert_eq!(block_bytes(&stride), 2048);
    }

    #[test]
    fn what_cannot_be_verified_says_why() {
        let why = |spec: TrialSpec| problem(&spec).unwrap_or_default();
        assert_eq!(problem(&spec(Rw::RandWrite)), None);
        assert_eq!(problem(&spec(Rw::Read)), None);
        assert_eq!(problem(&TrialSpec { verify: false, block_size_bytes: 100, ..spec(Rw::Write) }), None);
        assert!(why(TrialSpec { block_size_bytes: 1000, ..spec(Rw::Write) }).contains("512"));
        assert!(why(TrialSpec { engine: "null:x".into(), ..spec(Rw::Write) }).contains("null"));
        assert!(why(spec(Rw::RandTrim)).contains("trim"));
        assert!(why(TrialSpec { payload: Payload::Zero, ..spec(Rw::RandRw) }).contains("zero"));
        assert_eq!(problem(&TrialSpec { payload: Payload::Zero, ..spec(Rw::RandRead) }), None);
        assert!(why(TrialSpec { jobs: 2, ..spec(Rw::RandRw) }).contains("ranges of their own"));
        assert_eq!(problem(&TrialSpec { jobs: 2, ranges: Ranges::Disjoint, ..spec(Rw::RandRw) }), None);
        let huge = TrialSpec { block_size_bytes: 512, span_bytes: 1 << 50, ..spec(Rw::Write) };
        assert!(why(huge).contains("memory"));
    }

    #[test]
    fn what_another_stream_changes_cannot_be_verified() {
        let beside = |other| TrialSpec { and: vec![other], ..spec(Rw::Write) };
        let plain = TrialSpec { verify: false, ..spec(Rw::RandTrim) };
        assert!(problem(&beside(plain.clone())).unwrap().contains("stream"));
        assert_eq!(problem(&beside(TrialSpec { offset_bytes: 1 << 20, ..plain.clone() })), None);
        assert_eq!(problem(&beside(TrialSpec { rw: Rw::RandRead, ..plain })), None);
    }
}

//! What is impossible about the addresses of a workload, in a sentence: said before anything is written.

use iosonde_model::{Distribution, Randomness, Ranges, StridePass, TrialSpec, units::size};

use super::part;

/// The most that Linux moves in one request: 2 GiB less a page (`MAX_RW_COUNT`).
const REQUEST_MAX_BYTES: u64 = 0x7fff_f000;

/// Returns the reason why no requests can be made for a workload or one of its streams; `None` where they can.
pub fn span_problem(spec: &TrialSpec) -> Option<String> {
    let of = |(n, stream)| {
        let problem = stream_problem(stream)?;
        Some(if n == 1 { problem } else { format!("stream {n}: {problem}") })
    };
    (1..).zip(spec.streams()).find_map(of)
}

fn stream_problem(spec: &TrialSpec) -> Option<String> {
    [blocks, span, random, near, stride, backwards, alignment].iter().find_map(|problem| problem(spec))
}

fn blocks(spec: &TrialSpec) -> Option<String> {
    let (smallest_bytes, largest_bytes) = (spec.smallest_block_bytes(), part::largest_bytes(spec));
    if smallest_bytes == 0 {
        return Some("a request of 0 B asks for nothing; a block has at least one byte".into());
    }
    if largest_bytes > REQUEST_MAX_BYTES {
        return Some(format!(
            "a block of {} is more than Linux moves in one request, which is {}; ask for a smaller one",
            size(largest_bytes),
            size(REQUEST_MAX_BYTES)
        ));
    }
    let odd = spec.block_sizes.iter().find(|one| one.bytes % smallest_bytes != 0)?;
    Some(format!(
        "block sizes are multiples of the smallest, so that requests begin on its blocks; {} is none of {}",
        size(odd.bytes),
        size(smallest_bytes)
    ))
}

fn backwards(spec: &TrialSpec) -> Option<String> {
    let plain = !spec.rw.is_random() && spec.block_sizes.is_one() && spec.stride_pass == StridePass::Same;
    (spec.backwards && !plain)
        .then(|| "backwards are sequential requests of one size, at the same places in each pass".into())
}

fn span(spec: &TrialSpec) -> Option<String> {
    let (block_bytes, span_bytes) = (part::largest_bytes(spec), spec.span_bytes);
    if span_bytes < block_bytes {
        return Some(format!(
            "a span of {} holds no block of {}; ask for a larger span or a smaller block",
            size(span_bytes),
            size(block_bytes)
        ));
    }
    if spec.offset_bytes.checked_add(span_bytes).is_none_or(|end_bytes| end_bytes > i64::MAX as u64) {
        return Some(format!(
            "a span of {} from {} ends beyond the largest offset that a file can have, 8 EiB",
            size(span_bytes),
            size(spec.offset_bytes)
        ));
    }
    if spec.align_bytes == Some(0) {
        return Some("an alignment of 0 B aligns nothing; it has at least one byte".into());
    }
    if spec.ranges == Ranges::Shared {
        return None;
    }
    let unit_bytes = part::unit_bytes(spec).unwrap_or(u64::MAX);
    let fitting = span_bytes / unit_bytes;
    (fitting < u64::from(spec.jobs)).then(|| {
        format!(
            "{} jobs with ranges of their own need {} each, and a span of {} holds {fitting} of these; ask for \
             a larger span, fewer jobs or shared ranges",
            spec.jobs,
            size(unit_bytes),
            size(span_bytes)
        )
    })
}

fn random(spec: &TrialSpec) -> Option<String> {
    let distribution = spec.distribution;
    if !spec.rw.is_random() {
        return (distribution != Distribution::Uniform).then(|| {
            format!("{distribution} says how random offsets are drawn, and {} is sequential", spec.rw)
        });
    }
    match distribution {
        Distribution::Once | Distribution::OncePerJob if !spec.block_sizes.is_one() => {
            Some("once visits every block once, which is defined for one block size only".into())
        }
        Distribution::Once | Distribution::OncePerJob if part::align_bytes(spec) < spec.block_size_bytes => {
            Some(format!(
                "once visits every block once, but blocks of {} that begin every {} overlap; leave the alignment \
             out, or draw uniformly",
                size(spec.block_size_bytes),
                size(part::align_bytes(spec))
            ))
        }
        Distribution::Hot(ranges) => {
            let least = ranges.parts().map(|part| part.span).fold(f64::INFINITY, f64::min);
            // 20 % of 5 blocks shall be one, whatever the binary fractions say.
            let least_bytes = least * spec.span_bytes as f64 * (1.0 + 1e-9);
            (least_bytes < part::align_bytes(spec) as f64 * f64::from(parts(spec))).then(|| {
                format!(
                    "{distribution} divides a span of {} into parts, of which one is smaller than a block; ask for a \
                     larger span or another share",
                    size(spec.span_bytes)
                )
            })
        }
        _ => None,
    }
}

/// Requests that go on where the last one ended begin there, so their ends are aligned.
fn near(spec: &TrialSpec) -> Option<String> {
    if spec.randomness == Randomness::All {
        return None;
    }
    if !spec.rw.is_random() {
        let which = spec.randomness.describe();
        return Some(format!("`{which}` needs a random pattern, and {} is sequential", spec.rw));
    }
    if spec.distribution.is_once() {
        return Some(
            "once visits every block once, and sequential requests among random ones come again".into(),
        );
    }
    let align_bytes = part::align_bytes(spec);
    (!spec.smallest_block_bytes().is_multiple_of(align_bytes.max(1))).then(|| {
        format!(
            "sequential requests among random ones begin where the last one ended: an alignment of {} fits blocks that \
             are multiples of it",
            size(align_bytes)
        )
    })
}

/// Number of disjoint parts of a span.
fn parts(spec: &TrialSpec) -> u32 {
    if spec.ranges == Ranges::Disjoint { spec.jobs } else { 1 }
}

fn stride(spec: &TrialSpec) -> Option<String> {
    let block_bytes = part::largest_bytes(spec);
    let stride_bytes = spec.stride_bytes?;
    let stride = size(stride_bytes);
    let room_bytes = spec.span_bytes / u64::from(parts(spec).max(1));
    if spec.rw.is_random() {
        Some(format!("a stride is the distance between sequential requests, and {} is random", spec.rw))
    } else if !spec.block_sizes.is_one() {
        Some("a stride goes with one block size; with several, each begins where the last ended".into())
    } else if stride_bytes < block_bytes {
        Some(format!(
            "a stride of {stride} is less than the block of {}: requests would overlap",
            size(block_bytes)
        ))
    } else if stride_bytes.saturating_add(block_bytes) > room_bytes && room_bytes >= 2 * block_bytes {
        Some(format!(
            "a stride of {stride} leaves the range of {} at once; ask for a larger span or a shorter stride",
            size(room_bytes)
        ))
    } else if spec.stride_pass == StridePass::Shifted && stride_bytes % block_bytes != 0 {
        Some(format!(
            "passes shifted by a block of {} visit every block only where the stride is a multiple of it, \
             which {stride} is not",
            size(block_bytes)
        ))
    } else {
        None
    }
}

fn alignment(spec: &TrialSpec) -> Option<String> {
    let align_bytes = spec.align_bytes?;
    let align = size(align_bytes);
    if spec.rw.is_random() {
        let room_bytes = spec.span_bytes / u64::from(parts(spec).max(1));
        let block_bytes = spec.smallest_block_bytes();
        let only_one = align_bytes.saturating_add(block_bytes) > room_bytes;
        return (only_one && room_bytes >= 2 * block_bytes).then(|| {
            format!(
                "an alignment of {align} leaves one offset in a range of {}: every request would go there",
                size(room_bytes)
            )
        });
    }
    let (what, step_bytes) = match spec.stride_bytes {
        Some(stride_bytes) => ("a stride", stride_bytes),
        None => ("a block", spec.smallest_block_bytes()),
    };
    (step_bytes % align_bytes != 0).then(|| {
        format!(
            "{what} of {} is no multiple of the alignment of {align}: the second request would miss it",
            size(step_bytes)
        )
    })
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;

    use super::*;

    fn random_reads() -> TrialSpec {
        TrialSpec { span_bytes: 1 << 20, ..TrialSpec::default() }
    }

    fn reads() -> TrialSpec {
        TrialSpec { rw: Rw::Read, ..random_reads() }
    }

    #[test]
    fn what_is_possible_has_no_problem() {
        let mixed = TrialSpec { block_sizes: "4k:1,64k:1".parse().unwrap(), ..random_reads() };
        let shifted = TrialSpec { stride_bytes: Some(65_536), stride_pass: StridePass::Shifted, ..reads() };
        for spec in [
            random_reads(),
            reads(),
            TrialSpec { block_size_bytes: 65_536, ..mixed.clone() },
            TrialSpec { block_size_bytes: 65_536, rw: Rw::Write, ..mixed },
            TrialSpec { and: vec![reads()], ..shifted },
            TrialSpec { stride_bytes: Some(6144), ..reads() },
            TrialSpec { stride_bytes: Some(6144), align_bytes: Some(512), ..reads() },
            TrialSpec { align_bytes: Some(512), ..random_reads() },
            TrialSpec { span_bytes: 4096, align_bytes: Some(4096), ..random_reads() },
            TrialSpec { jobs: 256, ranges: Ranges::Disjoint, ..random_reads() },
            TrialSpec { distribution: Distribution::Once, ..random_reads() },
            TrialSpec {
                span_bytes: 5 * 4096,
                distribution: "hot:80%/20%".parse().unwrap(),
                ..random_reads()
            },
        ] {
            assert_eq!(span_problem(&spec), None, "{spec:?}");
        }
    }

    #[test]
    fn what_is_not_is_said_in_a_sentence() {
        let sizes = |text: &str| TrialSpec {
            block_sizes: text.parse().unwrap(),
            block_size_bytes: text.parse::<iosonde_model::BlockSizes>().unwrap().largest_bytes().unwrap(),
            ..random_reads()
        };
        let drawn = |text: &str| TrialSpec { distribution: text.parse().unwrap(), ..random_reads() };
        let stride = |bytes| TrialSpec { stride_bytes: Some(bytes), ..reads() };
        for (spec, words) in [
            (TrialSpec { block_size_bytes: 0, ..reads() }, "asks for nothing"),
            (TrialSpec { block_size_bytes: 1 << 31, ..reads() }, "more than Linux moves in one request"),
            (sizes("4k:1,6k:1"), "6 KiB is none of 4 KiB"),
            (TrialSpec { span_bytes: 4095, ..reads() }, "holds no block of 4 KiB"),
            (TrialSpec { offset_bytes: u64::MAX, ..reads() }, "beyond the largest offset"),
            (TrialSpec { align_bytes: Some(0), ..random_reads() }, "aligns nothing"),
            (TrialSpec { jobs: 257, ranges: Ranges::Disjoint, ..reads() }, "holds 256 of these"),
            (TrialSpec { rw: Rw::Read, ..drawn("zipf:1.1") }, "read is sequential"),
            (TrialSpec { distribution: Distribution::Once, ..sizes("4k:1,8k:1") }, "one block size only"),
            (TrialSpec { align_bytes: Some(512), ..drawn("once") }, "overlap"),
            (TrialSpec { span_bytes: 10 * 4096, ..drawn("hot:80%/1%") }, "smaller than a block"),
            (TrialSpec { rw: Rw::RandRead, ..stride(8192) }, "randread is random"),
            (TrialSpec { rw: Rw::Read, stride_bytes: Some(8192), ..sizes("4k:1,8k:1") }, "one block size"),
            (stride(2048), "would overlap"),
            (stride(0), "would overlap"),
            (stride(1 << 20), "leaves the range"),
            (TrialSpec { stride_pass: StridePass::Shifted, ..stride(6144) }, "which 6 KiB is not"),
            (TrialSpec { align_bytes: Some(4096), ..stride(6144) }, "a stride of 6 KiB is no multiple"),
            (TrialSpec { align_bytes: Some(65_536), ..reads() }, "a block of 4 KiB is no multiple"),
            (TrialSpec { align_bytes: Some(1 << 20), ..random_reads() }, "leaves one offset"),
            (TrialSpec { and: vec![reads(), stride(2048)], ..reads() }, "stream 3: a stride"),
        ] {
            let problem = span_problem(&spec).unwrap_or_else(|| panic!("{words}: no problem"));
            assert!(problem.contains(words) && !problem.contains('\n'), "{words}: {problem}");
        }
    }
}

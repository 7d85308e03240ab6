//! Filling the working set, so that no hole and no unmapped block is read later: storage answers those without
//! touching its medium.
//!
//! Filling takes a share of the budget. The first 64 MiB tell how fast the storage takes data, and so how large a
//! working set can be filled in that share; a smaller one than asked is stated in the report.

use std::{fs::File, ops::Range};

use iosonde_model::{Ranges, Rw, Trial, TrialSpec};

use crate::{drive::Limits, engine, platform::files};

/// Request size of a fill: large enough for full bandwidth everywhere, small enough to stop soon.
pub const FILL_BLOCK_BYTES: u64 = 1 << 20;
/// Amount that is filled before the size is decided.
pub const PROBE_BYTES: u64 = 64 << 20;
/// Default working set: larger than the write buffers and read caches of most drives, and a few seconds of writing for
/// them.
pub const DEFAULT_SIZE_BYTES: u64 = 4 << 30;
/// The share of the budget that filling may take in all.
pub const BUDGET_SHARE: f64 = 0.15;

/// The workload that fills `bytes` from `from_bytes` on, and its limits. Ends early when `seconds` are over.
pub fn order(engine: &str, direct: bool, from_bytes: u64, bytes: u64, seconds: f64) -> (TrialSpec, Limits) {
    let engine = filler(engine);
    let spec = TrialSpec {
        rw: Rw::Write,
        block_size_bytes: FILL_BLOCK_BYTES,
        queue_depth: if engine == "psync" { 1 } else { 8 },
        jobs: 1,
        read_percent: None,
        stride_bytes: None,
        offset_bytes: from_bytes,
        span_bytes: bytes,
        engine: engine.to_owned(),
        direct,
        ..TrialSpec::default()
    };
    let ios = Some(bytes / FILL_BLOCK_BYTES);
    (spec, Limits { warm_up_ns: Some(0), ios, ..Limits::time((seconds.max(0.01) * 1e9) as u64) })
}

/// Changes the workload that fills: `jobs` fill side by side, each its part, in requests of `block_bytes`.
pub fn side_by_side((spec, limits): (TrialSpec, Limits), block_bytes: u64, jobs: u32) -> (TrialSpec, Limits) {
    let each_bytes = block_bytes * u64::from(jobs);
    let ios = limits.ios.map(|_| (spec.span_bytes / each_bytes).max(1));
    let ranges = if jobs > 1 { Ranges::Disjoint } else { spec.ranges };
    (TrialSpec { block_size_bytes: block_bytes, jobs, ranges, ..spec }, Limits { ios, ..limits })
}

/// A pass over a workload's span stops after so long: storage that needs more for it is not passed whole.
const PASS_S: f64 = 20.0;

/// The workload that reads another's span once, in order, and its limits.
pub fn pass(spec: &TrialSpec) -> (TrialSpec, Limits) {
    let engine = filler(&spec.engine);
    let mut block_size_bytes = FILL_BLOCK_BYTES.max(spec.block_size_bytes);
    while !spec.span_bytes.is_multiple_of(block_size_bytes) && block_size_bytes / 2 >= spec.block_size_bytes {
        block_size_bytes /= 2;
    }
    let of = TrialSpec {
        rw: Rw::Read,
        block_size_bytes,
        queue_depth: if engine == "psync" { 1 } else { 8 },
        jobs: 1,
        offset_bytes: spec.offset_bytes,
        span_bytes: spec.span_bytes,
        engine: engine.to_owned(),
        direct: spec.direct,
        ..TrialSpec::default()
    };
    let ios = Some(spec.span_bytes / block_size_bytes);
    (of, Limits { warm_up_ns: Some(0), ios, ..Limits::time((PASS_S * 1e9) as u64) })
}

/// Requests of each job in one pass over its part of the span.
pub fn requests_of_a_pass(spec: &TrialSpec) -> u64 {
    let jobs = if spec.ranges == Ranges::Disjoint { u64::from(spec.jobs.max(1)) } else { 1 };
    (spec.span_bytes / spec.block_size_bytes.max(1) / jobs).max(1)
}

/// The engine that fills in an engine's place: itself without its options, which are about how the measured requests
/// are made; psync for one that is never chosen by itself (`null` would fill nothing).
fn filler(engine: &str) -> &'static str {
    match engine::named(engine) {
        Ok((kind, _)) if kind.by_itself() => kind.name(),
        _ => "psync",
    }
}

/// Returns the size to fill on each host, given the first trial of the fill, what each host has filled by it and the
/// seconds that filling may take in all: whole blocks, at most `asked_bytes`, at least what is already filled.
pub fn size_bytes(probe: &Trial, filled_bytes: u64, asked_bytes: u64, seconds: f64) -> u64 {
    let left_s = (seconds - probe.elapsed_s).max(0.0);
    // The probe may ride on a write buffer: 0.8 keeps the fill inside its share where the rate then falls a little;
    // where it falls a lot, the fill stops at its time limit and the working set is what was filled. A probe within one
    // tick of the clock has no finite rate.
    let affordable_bytes = (probe.bytes_per_s() / f64::from(probe.spec.hosts) * left_s * 0.8) as u64;
    let total_bytes = filled_bytes.saturating_add(affordable_bytes).min(asked_bytes).max(filled_bytes);
    total_bytes / FILL_BLOCK_BYTES * FILL_BLOCK_BYTES
}

/// Empties the page cache of a part of a file: memory would say what it was given. What cannot be written out or
/// dropped shows when it is read, or stays in memory: nothing here could mend it.
pub fn drop_pages(file: &File, range: Range<u64>) {
    files::drop_pages(file, range);
}

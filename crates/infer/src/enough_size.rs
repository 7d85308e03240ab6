//! The block size that is enough for throughput of one request at a time.

use iosonde_model::{
    Detail, Estimate, Finding, FindingName, Inconclusive, Op, Point, PointDirection, Run,
    detail::SizeLawProblem,
};

use crate::{enough_depth::NEARLY_ALL, finding::lookup::found};

/// The block size that is enough in one direction.
pub struct EnoughSize<'a> {
    /// Smallest size that may be enough: by the interval of the plateau, or measured to give nearly all.
    pub low_bytes: u64,
    /// Smallest measured size that is enough by the whole interval.
    pub bytes: u64,
    /// Whether none larger was measured.
    pub is_largest: bool,
    /// Throughput of one request of that size at a time.
    pub bytes_per_s: Estimate,
    /// Highest measured throughput of one request at a time, of any size.
    pub most_bytes_per_s: Estimate,
    /// Mean latency of a request of that size.
    pub latency_ns: Estimate,
    /// Size of a small request; its latency is that of the second finding.
    pub small_bytes: Option<u64>,
    /// Plateau (perhaps too wide for a value) and latency at QD 1, on which it rests.
    pub findings: [&'a Finding; 2],
}

impl EnoughSize<'_> {
    /// Whether the requests were random.
    pub fn random(&self) -> Option<bool> {
        self.findings[0].conditions.random
    }
}

/// That size; `None` where it is unknown, or the smallest that was tried.
pub fn enough_size(run: &Run, op: Op) -> Option<EnoughSize<'_>> {
    let (plateau, low, high) = plateau(run, op)?;
    let base = found(run, FindingName::BaseLatency, op)?;
    // Of the sizes that may be enough the largest is it for sure.
    let bytes = high as u64;
    let alone: Vec<(u64, Estimate)> = points_alone(run, op, plateau.conditions.random)
        .map(|(bytes, own)| (bytes, own.bytes_per_s))
        .collect();
    // "The smallest or more" is no advice.
    if alone.iter().map(|(bytes, _)| *bytes).min().is_none_or(|smallest| bytes <= smallest) {
        return None;
    }
    let is_largest = alone.iter().all(|(own_bytes, _)| *own_bytes <= bytes);
    // A law through all sizes may ask for more than a size that was seen to give as much.
    let most = highest(alone.iter().map(|(_, rate)| *rate))?;
    let is_nearly_all = |rate: &Estimate| rate.value >= NEARLY_ALL * most.value;
    let seen_bytes = alone.iter().filter(|(_, rate)| is_nearly_all(rate)).map(|(bytes, _)| *bytes).min();
    let low_bytes = seen_bytes.map_or(bytes, |seen| seen.min(low as u64));
    let own = point_alone(run, op, bytes, plateau.conditions.random)?;
    let latency_ns = own.latency_ns_mean?;
    let small_bytes = base.conditions.block_size_bytes;
    Some(EnoughSize {
        low_bytes,
        bytes,
        is_largest,
        bytes_per_s: own.bytes_per_s,
        most_bytes_per_s: most,
        latency_ns,
        small_bytes,
        findings: [plateau, base],
    })
}

/// The plateau of one direction and the sizes between which it begins. An interval too wide for a value still has an
/// upper end.
fn plateau(run: &Run, op: Op) -> Option<(&Finding, f64, f64)> {
    if let Some(known) = found(run, FindingName::PlateauBlockSize, op) {
        return Some((known, known.low?, known.high?));
    }
    let own = |finding: &&Finding| {
        finding.name == FindingName::PlateauBlockSize && finding.conditions.op == Some(op)
    };
    run.findings.iter().filter(own).find_map(|finding| match finding.detail {
        Detail::Inconclusive(Inconclusive::WideInterval { low, high, .. }) => Some((finding, low, high)),
        _ => None,
    })
}

fn highest(rates: impl Iterator<Item = Estimate>) -> Option<Estimate> {
    rates.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// The plateau of one direction that is open because throughput still rises at the largest measured size.
pub struct LargerThan<'a> {
    /// The open plateau.
    pub finding: &'a Finding,
    /// That size.
    pub bytes: u64,
    /// Throughput of one request of that size at a time.
    pub bytes_per_s: Estimate,
}

/// That plateau; `None` where it is known, or unknown for another reason.
pub fn larger_than(run: &Run, op: Op) -> Option<LargerThan<'_>> {
    let (finding, bytes) = still_rising(run, op)?;
    let bytes_per_s = point_alone(run, op, bytes, finding.conditions.random)?.bytes_per_s;
    Some(LargerThan { finding, bytes, bytes_per_s })
}

fn still_rising(run: &Run, op: Op) -> Option<(&Finding, u64)> {
    run.findings.iter().find_map(|finding| match &finding.detail {
        Detail::Inconclusive(Inconclusive::SizeLaw(SizeLawProblem::StillRising {
            largest_bytes, ..
        })) if finding.name == FindingName::PlateauBlockSize && finding.conditions.op == Some(op) => {
            Some((finding, *largest_bytes))
        }
        _ => None,
    })
}

/// The point of single requests of this size and order.
fn point_alone(run: &Run, op: Op, bytes: u64, random: Option<bool>) -> Option<&PointDirection> {
    points_alone(run, op, random).find(|(own_bytes, _)| *own_bytes == bytes).map(|(_, own)| own)
}

/// The points of single requests of this order, with their block sizes.
fn points_alone(run: &Run, op: Op, random: Option<bool>) -> impl Iterator<Item = (u64, &PointDirection)> {
    let is_it = move |point: &&Point| {
        let spec = &point.spec;
        spec.asked_in_flight() == 1
            && random.is_none_or(|random| spec.rw.is_random() == random)
            && !spec.rw.is_mixed()
            && spec.rw.has(op)
    };
    run.points
        .iter()
        .filter(is_it)
        .filter_map(move |point| Some((point.spec.block_size_bytes, point.direction(op)?)))
}

//! The block size that is enough for throughput of one request at a time.

use iosonde_model::{
    Detail, Estimate, Finding, FindingName, Inconclusive, Op, Point, Run, detail::SizeLawProblem,
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
    /// The point of single requests of that size.
    pub point: &'a Point,
    /// The point of single requests, of any size, with the highest measured throughput.
    pub fastest: &'a Point,
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
    let alone: Vec<&Point> = points_alone(run, op, plateau).collect();
    let size = |point: &&Point| point.spec.block_size_bytes;
    // "The smallest or more" is no advice.
    if alone.iter().map(size).min().is_none_or(|smallest| bytes <= smallest) {
        return None;
    }
    let is_largest = alone.iter().map(size).all(|own| own <= bytes);
    // A law through all sizes may ask for more than a size that was seen to give as much.
    let rate = |point: &Point| point.direction(op).map_or(0.0, |own| own.bytes_per_s.value);
    let fastest = alone.iter().copied().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let most = rate(fastest);
    let seen_bytes = alone.iter().filter(|point| rate(point) >= NEARLY_ALL * most).map(size).min();
    let low_bytes = seen_bytes.map_or(bytes, |seen| seen.min(low as u64));
    let point = point_alone(run, op, bytes, plateau)?;
    let latency_ns = point.direction(op)?.latency_ns_mean?;
    let small_bytes = base.conditions.block_size_bytes;
    let findings = [plateau, base];
    Some(EnoughSize { low_bytes, bytes, is_largest, point, fastest, latency_ns, small_bytes, findings })
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

/// The plateau of one direction that is open because throughput still rises at the largest measured size.
pub struct LargerThan<'a> {
    /// The open plateau.
    pub finding: &'a Finding,
    /// That size.
    pub bytes: u64,
    /// The point of single requests of that size.
    pub point: &'a Point,
}

/// That plateau; `None` where it is known, or unknown for another reason.
pub fn larger_than(run: &Run, op: Op) -> Option<LargerThan<'_>> {
    let (finding, bytes) = still_rising(run, op)?;
    let point = point_alone(run, op, bytes, finding)?;
    Some(LargerThan { finding, bytes, point })
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
fn point_alone<'a>(run: &'a Run, op: Op, bytes: u64, plateau: &'a Finding) -> Option<&'a Point> {
    points_alone(run, op, plateau).find(|point| point.spec.block_size_bytes == bytes)
}

/// The points of single requests that have figures, of a plateau's order and experiment: what programs get from the
/// page cache is another one's.
fn points_alone<'a>(run: &'a Run, op: Op, plateau: &'a Finding) -> impl Iterator<Item = &'a Point> {
    let random = plateau.conditions.random;
    run.points.iter().filter(move |point| {
        let spec = &point.spec;
        point.belongs_to(&plateau.experiment)
            && spec.asked_in_flight() == 1
            && random.is_none_or(|random| spec.rw.is_random() == random)
            && !spec.rw.is_mixed()
            && point.direction(op).is_some()
    })
}

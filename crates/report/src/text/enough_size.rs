//! The block size that is enough for throughput of one request at a time.

use iosonde_infer::finding::lookup::{estimate, found};
use iosonde_model::{Finding, FindingName, Op, Point, Run, Unit, units};

use super::number::briefly;

/// The block size that is enough in one direction.
pub(super) struct EnoughSize<'a> {
    /// `1 MiB or more`, or `4 MiB (1 MiB may be enough)`.
    pub(super) enough: String,
    /// What such a request takes, and a small one.
    pub(super) why: String,
    /// What it rests on.
    pub(super) findings: [&'a Finding; 2],
}

/// That size; `None` where it is unknown, or the smallest that was tried.
pub(super) fn enough_size(run: &Run, op: Op) -> Option<EnoughSize<'_>> {
    let (plateau, base) =
        (found(run, FindingName::PlateauBlockSize, op)?, found(run, FindingName::BaseLatency, op)?);
    // Of the sizes that may be enough the largest is it for sure.
    let (low_bytes, bytes) = (plateau.low? as u64, plateau.high? as u64);
    let alone =
        || run.points.iter().filter(|point| point.spec.rw.has(op) && point.spec.asked_in_flight() == 1);
    let sizes = || alone().map(|point| point.spec.block_size_bytes);
    // "The smallest or more" is no advice.
    if sizes().min().is_none_or(|smallest| bytes <= smallest) {
        return None;
    }
    let large = point_alone(run, op, bytes, plateau.conditions.random)?.latency_ns_mean?;
    let size = units::size(bytes);
    let enough = match low_bytes < bytes {
        true => format!("{size} ({} may be enough)", units::size(low_bytes)),
        false => format!("{size} or more"),
    };
    let small_bytes = base.conditions.block_size_bytes.map_or_else(String::new, units::size);
    let why = format!(
        "{size} take {}, of {small_bytes} {}",
        briefly(Unit::Time, &large),
        briefly(Unit::Time, &estimate(base))
    );
    Some(EnoughSize { enough, why, findings: [plateau, base] })
}

/// The point of single requests of this size and order.
fn point_alone(
    run: &Run,
    op: Op,
    bytes: u64,
    random: Option<bool>,
) -> Option<&iosonde_model::PointDirection> {
    let is_it = |point: &&Point| {
        let spec = &point.spec;
        spec.block_size_bytes == bytes
            && spec.asked_in_flight() == 1
            && random.is_none_or(|random| spec.rw.is_random() == random)
            && !spec.rw.is_mixed()
            && spec.rw.has(op)
    };
    run.points.iter().find(is_it)?.direction(op)
}

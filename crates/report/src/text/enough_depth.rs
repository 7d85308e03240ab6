//! The queue depths to use: the least that was measured to give nearly all of the highest IOPS, and a lower one whose
//! requests wait little. Depths that were measured, so that their latency is known: of a curve through all of them,
//! the depth that it gives for 95 % may not give it.

use iosonde_infer::finding::lookup::{estimate, found_like};
use iosonde_model::{Conditions, Finding, FindingName, Op, Point, Run};

/// Share of the highest throughput that counts as nearly all, as it is written: 95 %.
pub(super) const NEARLY_ALL: f64 = 0.945;
/// How many times a depth that a curve gives must be lower to be told beside one that was measured; and queue depths
/// over the saturation point up to which latency counts as low: a request waits up to 1.5 times its time alone.
const NEAR: f64 = 1.5;

/// The depth that is enough in one direction.
pub(super) struct EnoughDepth<'a> {
    /// The point of the least measured depth that gave nearly all; of IOPS that still rose, of the deepest.
    pub(super) point: &'a Point,
    /// Whether IOPS still rose there.
    pub(super) still_rising: bool,
    /// A lower depth that may give as much: by a curve through all depths, or by the interval of its IOPS.
    pub(super) perhaps: Option<u64>,
}

/// That depth; `None` where the highest IOPS are unknown.
pub(super) fn enough_depth<'a>(run: &'a Run, op: Op, like: &Conditions) -> Option<EnoughDepth<'a>> {
    let most = found_like(run, FindingName::MaxIops, op, like)?;
    if most.at_least {
        let point = point_up_to(run, like, op, f64::INFINITY)?;
        return Some(EnoughDepth { point, still_rising: true, perhaps: None });
    }
    let wanted_iops = NEARLY_ALL * estimate(most).value;
    let gives = |point: &&Point| point.direction(op).is_some_and(|own| own.iops.value >= wanted_iops);
    let depth = |point: &&Point| point.spec.asked_in_flight();
    let point = points_like(run, like, op).filter(gives).min_by_key(depth)?;
    let curve =
        found_like(run, FindingName::DepthFor95Percent, op, like).filter(|own| !estimate(own).is_vague());
    let lower = curve.and_then(|curve| curve.value).map(f64::ceil);
    let by_curve = lower.filter(|lower| depth(&point) as f64 > NEAR * lower).map(|lower| lower as u64);
    let may_give = |point: &&Point| {
        let high = point.direction(op).and_then(|own| own.iops.high);
        high.is_some_and(|high| high >= wanted_iops)
    };
    let measured = points_like(run, like, op).filter(may_give).map(|point| depth(&point)).min();
    let perhaps = by_curve.into_iter().chain(measured).min().filter(|lower| *lower < depth(&point));
    Some(EnoughDepth { point, still_rising: false, perhaps })
}

/// The point of a depth beyond one at which requests wait little, and below the one that is enough.
pub(super) fn low_latency_depth<'a>(run: &'a Run, op: Op, knee: &Finding) -> Option<&'a Point> {
    let like = &knee.conditions;
    let curve = found_like(run, FindingName::DepthFor95Percent, op, like)?;
    let from = knee.value?.round().max(1.0);
    if [curve, knee].iter().any(|own| estimate(own).is_vague()) || curve.value <= Some(NEAR * from) {
        return None;
    }
    let enough = enough_depth(run, op, like)?.point.spec.asked_in_flight();
    point_up_to(run, like, op, from).filter(|point| (2..enough).contains(&point.spec.asked_in_flight()))
}

/// The deepest measured point up to a queue depth.
fn point_up_to<'a>(run: &'a Run, like: &Conditions, op: Op, depth: f64) -> Option<&'a Point> {
    let shallow = |point: &&Point| point.spec.asked_in_flight() as f64 <= depth.round();
    points_like(run, like, op).filter(shallow).max_by_key(|point| point.spec.asked_in_flight())
}

/// Points of these requests with valid trials, one direction alone and at no given rate.
pub(super) fn points_like<'a>(run: &'a Run, like: &Conditions, op: Op) -> impl Iterator<Item = &'a Point> {
    let (size_bytes, random) = (like.block_size_bytes, like.random);
    run.points.iter().filter(move |point| {
        let spec = &point.spec;
        Some(spec.block_size_bytes) == size_bytes
            && Some(spec.rw.is_random()) == random
            && !spec.rw.is_mixed()
            && spec.rate_iops.is_none()
            && spec.streams().count() == 1
            && spec.rw.has(op)
            && point.left_out < point.trials
    })
}

//! The queue depths to use: the least that was measured to give nearly all of the highest IOPS, and a lower one whose
//! requests wait little. Both are depths that were measured, so that their latency is known: of a curve through all
//! depths, the depth that it gives for 95 % may not give it.
//!
//! The least is a choice and has no interval; how often it gives what it is chosen for is measured by
//! `bench/depth-coverage` (docs/intervals.md, Queue depth).

use iosonde_model::{CheckName, Conditions, Finding, FindingName, Op, Outcome, Point, ReachedAt, Run};

use crate::finding::lookup::{estimate, found_like};

/// Share of the highest throughput that counts as nearly all.
pub const NEARLY_ALL: f64 = 0.95;
/// How many times deeper than one for low latency a queue must be that gives nearly all, and queue depths over the
/// saturation point up to which latency counts as low: a request waits up to 1.5 times its time alone.
const NEAR: f64 = 1.5;

/// The depth that is enough in one direction.
pub struct EnoughDepth<'a> {
    /// The point of the least measured depth that gave nearly all; of IOPS that still rose, of the deepest.
    pub point: &'a Point,
    /// Whether IOPS still rose there.
    pub still_rising: bool,
    /// Whether iosonde's CPU was the limit at the deeper ones that were tried.
    pub cpu_bound_above: bool,
    /// The point of the next lower measured depth, and its share of the highest IOPS.
    pub below: Option<(&'a Point, f64)>,
}

impl EnoughDepth<'_> {
    /// What a comparison of runs says of it.
    pub fn reached_at(&self) -> ReachedAt {
        ReachedAt {
            queue_depth: self.point.spec.asked_in_flight(),
            still_rising: self.still_rising,
            cpu_bound_above: self.cpu_bound_above,
        }
    }
}

/// That depth; `None` where the highest IOPS are unknown.
pub fn enough_depth<'a>(run: &'a Run, op: Op, like: &Conditions) -> Option<EnoughDepth<'a>> {
    let most = found_like(run, FindingName::MaxIops, op, like)?;
    if most.at_least {
        let point = point_up_to(run, most, op, f64::INFINITY)?;
        let cpu_bound_above = is_cpu_bound_above(run, point, op);
        return Some(EnoughDepth { point, still_rising: true, cpu_bound_above, below: None });
    }
    let measured = || {
        points_behind(run, most, op).filter_map(|point| {
            let iops = point.direction(op)?.iops.value;
            Some((point, point.spec.asked_in_flight(), iops))
        })
    };
    let highest_iops = estimate(most).value;
    let point = least_enough(measured(), highest_iops)?;
    let shallower = measured().filter(|(_, depth, _)| *depth < point.spec.asked_in_flight());
    let below = shallower.max_by_key(|(_, depth, _)| *depth);
    let below = below.map(|(point, _, iops)| (point, iops / highest_iops));
    Some(EnoughDepth { point, still_rising: false, cpu_bound_above: false, below })
}

/// Whether deeper trials of a point's workload are invalid since iosonde had no more CPU.
fn is_cpu_bound_above(run: &Run, point: &Point, op: Op) -> bool {
    let bound = |id: &u64| {
        run.verdicts.iter().any(|own| {
            own.trial == Some(*id)
                && own.check == CheckName::GeneratorBound
                && own.verdict == Outcome::Invalid
        })
    };
    let like = &point.spec;
    let deeper = run.points.iter().filter(|other| {
        let spec = &other.spec;
        (spec.rw, spec.block_size_bytes, spec.rate_iops, spec.sync)
            == (like.rw, like.block_size_bytes, like.rate_iops, like.sync)
            && spec.rw.has(op)
            && spec.asked_in_flight() > like.asked_in_flight()
    });
    deeper.flat_map(|other| &other.trial_ids).any(bound)
}

/// The least of several depths, each with its IOPS, that gives nearly all of the highest.
pub fn least_enough<T>(measured: impl Iterator<Item = (T, u64, f64)>, highest_iops: f64) -> Option<T> {
    let enough = measured.filter(|(_, _, iops)| *iops >= NEARLY_ALL * highest_iops);
    enough.min_by_key(|(_, depth, _)| *depth).map(|(point, _, _)| point)
}

/// The point of a depth beyond one at which requests wait little, and below the one that is enough.
pub fn low_latency_depth<'a>(run: &'a Run, op: Op, knee: &'a Finding) -> Option<&'a Point> {
    let like = &knee.conditions;
    let curve = found_like(run, FindingName::DepthFor95Percent, op, like)?;
    let from = knee.value?.round().max(1.0);
    if [curve, knee].iter().any(|own| estimate(own).is_vague()) || curve.value <= Some(NEAR * from) {
        return None;
    }
    let enough = enough_depth(run, op, like)?.point.spec.asked_in_flight();
    point_up_to(run, knee, op, from).filter(|point| (2..enough).contains(&point.spec.asked_in_flight()))
}

/// The deepest of a curve's points up to a queue depth.
fn point_up_to<'a>(run: &'a Run, curve: &'a Finding, op: Op, depth: f64) -> Option<&'a Point> {
    let shallow = |point: &&Point| point.spec.asked_in_flight() as f64 <= depth.round();
    points_behind(run, curve, op).filter(shallow).max_by_key(|point| point.spec.asked_in_flight())
}

/// Points with valid trials that a finding rests on, of one direction alone and at no given rate. Requests of the same
/// size and order that are flushed, misaligned or sent by several workers belong to other findings.
pub fn points_behind<'a>(run: &'a Run, finding: &'a Finding, op: Op) -> impl Iterator<Item = &'a Point> {
    let Conditions { block_size_bytes, random, .. } = finding.conditions;
    run.points.iter().filter(move |point| {
        let spec = &point.spec;
        Some(spec.block_size_bytes) == block_size_bytes
            && Some(spec.rw.is_random()) == random
            && !spec.rw.is_mixed()
            && spec.rate_iops.is_none()
            && spec.streams().count() == 1
            && spec.rw.has(op)
            && point.left_out < point.trials
            && point.trial_ids.iter().any(|id| finding.trials.contains(id))
    })
}

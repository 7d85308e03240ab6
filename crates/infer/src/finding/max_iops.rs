//! The highest IOPS of this storage that were measured.
//!
//! What it is: the highest throughput of small requests over all queue depths.
//!
//! How it is computed: as for `device_bandwidth`, since the largest of several estimates is too high. The lower end
//! of the interval is the highest of lower ends made stricter by the number of points (Bonferroni), the upper end
//! is the highest upper end. The value is the weighted mean of the points whose own estimates lie within that
//! interval. Throughput was still rising, and the sentence says "at least", where the deepest point is below 95 % of
//! the maximum of the curve of `queue_depth_knee`, or, without a curve, significantly more than 5 % above the others.
//!
//! A depth is left out, and named, if its interval contains all that the others give and is three times as wide,
//! and if a deeper point takes part: a deeper queue does not give less, so this depth is not the maximum by itself.
//!
//! Assumes: that the storage and not the program was the limit. The check `generator-bound` finds other points
//! invalid.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{
    Detail, ExperimentName, Finding, FindingName, Unit,
    detail::{Highest, QueueDepthProblem},
};
use iosonde_stats::LogEstimate;

use super::{
    FindingKind, Proof, ScreenLine, best, closed_loop,
    group::{self, Group, Writer},
};

/// A rise over the last step that calls the plateau in question.
const RISING: f64 = 0.05;

pub(crate) struct MaxIops;

impl FindingKind for MaxIops {
    fn id(&self) -> FindingName {
        FindingName::MaxIops
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::QueueDepth, ExperimentName::Jobs, ExperimentName::HostScaling]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("rate")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Iops, confidence };
        closed_loop::groups(points).iter().map(|group| most(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[
                (Some(50_000.0), "4 servers / 80 us"),
                (Some(50_000.0), "writes pass the same servers"),
            ],
            widest: 0.01,
            ..closed_loop::PROOF
        }
    }
}

fn most(writer: &Writer, group: &Group) -> Finding {
    let conditions = &group.conditions;
    let mut points = group.points.clone();
    // At equal depths those of several workers come last: one worker's processor is no plateau.
    points.sort_by_key(|evidence| (evidence.point.spec.asked_in_flight(), evidence.point.spec.jobs));
    let mut standing: Vec<(&Evidence, LogEstimate)> = Vec::new();
    let mut invalid = Vec::new();
    for evidence in points {
        match group::valid_rate(evidence, group.op, &[]) {
            Ok(rate) => standing.push((evidence, rate)),
            Err(why) => invalid.push(why),
        }
    }
    if standing.len() < 2 {
        let why = invalid.into_iter().next().unwrap_or_else(|| QueueDepthProblem::OneDepth.into());
        return writer.inconclusive(conditions, &group.points, why);
    }
    let rates: Vec<_> = standing.iter().map(|&(_, rate)| rate).collect();
    let taking_part = best::without_ignorance(&rates, writer.confidence, |place| place + 1 < rates.len());
    let left_out = (0..rates.len()).filter(|place| !taking_part.contains(place));
    let imprecise = left_out.map(|place| best::size_and_depth(standing[place].0)).collect();
    let standing: Vec<_> = taking_part.iter().map(|&place| standing[place]).collect();
    let rates: Vec<_> = standing.iter().map(|&(_, rate)| rate).collect();
    // The curve knows more than its last step, which may be a large one.
    let rising = match closed_loop::of(group, writer.confidence) {
        Ok(curve) => curve.still_rises(),
        Err(_) => last_step_rises(&standing, writer.confidence),
    };
    let deepest = rates.len() - 1;
    let (estimate, top) = match rising {
        // It was not chosen for being the highest, and the others are not told from it by their ignorance alone.
        true => (rates[deepest].estimate(writer.confidence), vec![deepest]),
        false => best::highest(&rates, writer.confidence).expect("there are two"),
    };
    let best: Vec<&Evidence> = top.iter().map(|&place| standing[place].0).collect();
    let facts = Highest { imprecise, invalid, ..best::facts(rates.len(), &best) };
    let found = writer.concluded(conditions, &group.points, estimate, Detail::Highest(facts));
    Finding { at_least: rising, ..found }
}

/// Whether the last step rose by more than 5 %, interval included.
fn last_step_rises(standing: &[(&Evidence, LogEstimate)], confidence: f64) -> bool {
    let depth = |evidence: &Evidence| evidence.point.spec.asked_in_flight();
    let Some(&(most, last)) = standing.last() else { return false };
    let shallower = |(evidence, _): &&(&Evidence, LogEstimate)| depth(evidence) < depth(most);
    let Some((_, before)) = standing.iter().rfind(shallower) else { return false };
    let rise = last.log_mean - before.log_mean;
    rise - last.half_width(confidence).hypot(before.half_width(confidence)) > RISING.ln_1p()
}

//! The most requests per second that this storage completes, of what was measured.
//!
//! What it is: the highest rate of small requests over all numbers in flight.
//!
//! How it is worked out: as `device_bandwidth` does, since the largest of several estimates is too high:
//! below, the interval ends at the highest of lower ends made stricter by the number of points
//! (Bonferroni), above at the highest upper end; the value is the weighted mean of the points that cannot
//! be told from the top. Where the rate with the most in flight is surely more than 5 % above that with
//! fewer, it was still rising, and the sentence says "at least". A number in flight whose interval holds all
//! that the others give, and is three times as wide, is left out and named, if one with more in flight takes
//! part: more in flight do not give less, so that it is not the most by itself.
//!
//! Assumes: that the storage and not the program was the limit; the check `generator-bound` voids what was
//! not.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{
    Detail, Finding,
    detail::{Highest, QueueDepthProblem},
};
use iosonde_stats::LogEstimate;

use super::{
    FindingKind, Proof, Told, best, closed_loop,
    group::{self, Group, Writer},
};
use crate::words::Unit;

/// A rise over the last step that calls the plateau in question.
const RISING: f64 = 0.05;

pub(crate) struct MaxIops;

impl FindingKind for MaxIops {
    fn id(&self) -> FindingName {
        FindingName::MaxIops
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::QueueDepth, ExperimentName::Jobs]
    }

    fn told(&self) -> Told {
        Told::always("rate")
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
    // Of equally many in flight those of several workers come last: one worker's processor is no plateau.
    points.sort_by_key(|evidence| (evidence.point.spec.asked_in_flight(), evidence.point.spec.jobs));
    let mut standing: Vec<(u64, LogEstimate)> = Vec::new();
    let mut invalid = Vec::new();
    for evidence in points {
        match group::valid_rate(evidence, group.op, &[]) {
            Ok(rate) => standing.push((evidence.point.spec.asked_in_flight(), rate)),
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
    let imprecise_queue_depths = left_out.map(|place| standing[place].0).collect();
    let standing: Vec<_> = taking_part.iter().map(|&place| standing[place]).collect();
    let rates: Vec<_> = standing.iter().map(|&(_, rate)| rate).collect();
    let rising = still_rising(&standing, writer.confidence);
    let deepest = rates.len() - 1;
    let (estimate, top) = match rising {
        // It was not chosen for being the highest, and the others are not told from it by their ignorance alone.
        true => (rates[deepest].estimate(writer.confidence), vec![deepest]),
        false => best::highest(&rates, writer.confidence).expect("there are two"),
    };
    // The points are in the order of their queue depths.
    let end = |place: Option<&usize>| place.map_or(0, |&place| standing[place].0);
    let queue_depths = [end(top.first()), end(top.last())];
    let facts = Highest { points: rates.len(), queue_depths, imprecise_queue_depths, invalid };
    let found = writer.concluded(conditions, &group.points, estimate, Detail::Highest(facts));
    Finding { at_least: rising, ..found }
}

/// Whether the last step surely rose by more than 5 %.
fn still_rising(standing: &[(u64, LogEstimate)], confidence: f64) -> bool {
    let Some(&(most, last)) = standing.last() else { return false };
    let Some((_, before)) = standing.iter().rfind(|(in_flight, _)| *in_flight < most) else { return false };
    let rise = last.log_mean - before.log_mean;
    rise - last.half_width(confidence).hypot(before.half_width(confidence)) > RISING.ln_1p()
}

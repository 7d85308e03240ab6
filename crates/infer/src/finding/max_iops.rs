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
use iosonde_model::Finding;
use iosonde_model::FindingName;
use iosonde_stats::LogEstimate;

use super::{
    FindingKind, Proof, Told, best, closed_loop,
    group::{self, Group, Writer, workload},
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
    let (conditions, what) = (&group.conditions, workload(&group.conditions));
    let mut points = group.points.clone();
    // Of equally many in flight those of several workers come last: one worker's processor is no plateau.
    points.sort_by_key(|evidence| (evidence.point.spec.asked_in_flight(), evidence.point.spec.jobs));
    let mut standing: Vec<(u64, LogEstimate)> = Vec::new();
    let mut refusals = Vec::new();
    for evidence in points {
        match group::rate(evidence, group.op, &[]) {
            Ok(rate) => standing.push((evidence.point.spec.asked_in_flight(), rate)),
            Err(why) => refusals.push(why),
        }
    }
    if standing.len() < 2 {
        let one = "one number in flight cannot tell the most".to_owned();
        let why = refusals.first().unwrap_or(&one);
        return writer.refused(
            conditions,
            &group.points,
            &format!("How many {what} a second are the most"),
            why,
        );
    }
    let rates: Vec<_> = standing.iter().map(|&(_, rate)| rate).collect();
    let taking_part = best::without_ignorance(&rates, writer.confidence, |place| place + 1 < rates.len());
    let left_out: Vec<_> = (0..rates.len()).filter(|place| !taking_part.contains(place)).collect();
    let left_out = left_out_words(left_out.iter().map(|&place| standing[place].0));
    let standing: Vec<_> = taking_part.iter().map(|&place| standing[place]).collect();
    let rates: Vec<_> = standing.iter().map(|&(_, rate)| rate).collect();
    let rising = still_rising(&standing, writer.confidence);
    let deepest = rates.len() - 1;
    let (estimate, top) = match rising {
        // It was not chosen for being the highest, and the others are not told from it by their ignorance alone.
        true => (rates[deepest].estimate(writer.confidence), vec![deepest]),
        false => best::highest(&rates, writer.confidence).expect("there are two"),
    };
    let in_flight: Vec<_> = top.iter().map(|&place| standing[place].0).collect();
    let with = match (in_flight.first(), in_flight.last()) {
        (Some(first), Some(last)) if first != last => format!("with {first} to {last} in flight"),
        (Some(first), _) => format!("with {first} in flight"),
        _ => String::new(),
    };
    let sentence = match rising {
        true => format!("{what} reach at least {{}} {with}, and the rate was still rising."),
        false => format!("{what} reach {{}} at most, {with}."),
    };
    let why = match rising {
        true => format!("The rate with the most in flight of {} points.{left_out}", rates.len()),
        false => format!(
            "The highest of {} points, corrected for having been chosen as the highest.{left_out}",
            rates.len()
        ),
    };
    Finding { at_least: rising, ..writer.found(conditions, &group.points, estimate, &sentence, why) }
}

/// ` Left out, since it is hardly known: 16 in flight.`
fn left_out_words(in_flight: impl Iterator<Item = u64>) -> String {
    let numbers: Vec<_> = in_flight.map(|number| number.to_string()).collect();
    match numbers.as_slice() {
        [] => String::new(),
        [one] => format!(" Left out, since it is hardly known: {one} in flight."),
        several => format!(" Left out, since they are hardly known: {} in flight.", several.join(", ")),
    }
}

/// Whether the last step surely rose by more than 5 %.
fn still_rising(standing: &[(u64, LogEstimate)], confidence: f64) -> bool {
    let Some(&(most, last)) = standing.last() else { return false };
    let Some((_, before)) = standing.iter().rfind(|(in_flight, _)| *in_flight < most) else { return false };
    let rise = last.log_mean - before.log_mean;
    rise - last.half_width(confidence).hypot(before.half_width(confidence)) > RISING.ln_1p()
}

//! The mean queue depth that was reached, at the highest queue depth requested.
//!
//! What it is: outstanding requests, averaged over the measured time, at the deepest point of each block size and
//! direction. A depth that was not reached is the most common error in tables of depths. The program cannot refill
//! fast enough, the kernel blocks in submission, or a few slow requests leave gaps at the end of each batch.
//!
//! How it is computed: each trial's time average, the program's own count; then the geometric mean over trials with
//! Student's interval. Trials that are invalid as statements about depth are included, because they are the
//! subject. Where the block layer below counted as well, its mean is given beside the program's; requests that it
//! did not see waited above the device.
//!
//! Assumes: that a request is outstanding from the moment before it is submitted until its completion is seen. The
//! time in the kernel on the way counts.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Unit,
    detail::{EffectiveDepth as Facts, QueueDepthProblem},
};

use super::{
    FindingKind, Proof, ScreenLine, closed_loop,
    group::{self, Group, Writer},
    over_trials,
};

/// Shortfall as a share of the requested depth: what the check `depth-not-reached` calls short.
const SHORT_BY: f64 = 0.049;

pub(crate) struct EffectiveDepth;

impl FindingKind for EffectiveDepth {
    fn id(&self) -> FindingName {
        FindingName::EffectiveDepth
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::QueueDepth]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("depth")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::InFlight, confidence };
        closed_loop::groups(points).iter().filter_map(|group| one(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[
                (Some(128.0), "a closed loop of 128 that refills at once"),
                (Some(128.0), "and so for writes"),
            ],
            widest: 0.01,
            ..closed_loop::PROOF
        }
    }
}

fn one(writer: &Writer, group: &Group) -> Option<Finding> {
    let asked = |evidence: &&&Evidence| evidence.point.spec.asked_in_flight();
    let deepest: &Evidence = group.points.iter().filter(|evidence| asked(evidence) > 1).max_by_key(asked)?;
    let most = deepest.point.spec.asked_in_flight();
    let conditions = Conditions { queue_depth: Some(most as u32), ..group.conditions.clone() };
    let counts: Vec<f64> = group::of_the_device(deepest)
        .filter(|trial| trial.measured_s > 0.0)
        .filter_map(|t| t.in_flight_mean)
        .collect();
    let Some(estimate) = over_trials::mean(&counts, writer.confidence) else {
        let why = group::valid(deepest, &[About::Rate]).err();
        let why = why.unwrap_or_else(|| QueueDepthProblem::NotCounted.into());
        return Some(writer.inconclusive(&conditions, &[deepest], why));
    };
    // The grain of an interval, rounding, and hosts whose measured times differ may reach beyond what can be there.
    let whole = |value: f64| value.min(most as f64);
    let [low, high] = [estimate.low, estimate.high].map(|end| end.map(whole));
    let estimate = Estimate { value: whole(estimate.value), low, high };
    let enough = most as f64 * (1.0 - SHORT_BY);
    let reached = match (estimate.low, estimate.high) {
        (_, Some(high)) if high < enough => Some(false),
        (Some(low), _) if low >= enough => Some(true),
        _ => None,
    };
    let seen: Vec<f64> =
        group::of_the_device(deepest).filter_map(|t| t.witnesses.block_layer_in_flight_mean).collect();
    let at_device = (!seen.is_empty()).then(|| seen.iter().sum::<f64>() / seen.len() as f64);
    let facts = Facts { at_device, reached, trials: counts.len() };
    Some(writer.concluded(&conditions, &[deepest], estimate, Detail::EffectiveDepth(facts)))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Point, Rw, Trial, Witnesses};
    use iosonde_testkit::specimen;

    use super::*;

    fn facts(in_flight: [f64; 5], at_device: Option<f64>) -> (Option<f64>, Facts) {
        let trials = in_flight.map(|mean| Trial {
            in_flight_mean: Some(mean),
            witnesses: Witnesses { block_layer_in_flight_mean: at_device, ..Witnesses::default() },
            ..specimen::healthy(Rw::RandRead, 4096, 128, 100_000)
        });
        let point = Point::planned(0, "x", trials[0].spec.clone());
        let evidence = Evidence {
            point: &point,
            trials: trials.iter().collect(),
            void: vec![None; 5],
            read: None,
            write: None,
        };
        let found = EffectiveDepth.conclude("x", &[evidence], 0.95).remove(0);
        match found.detail {
            Detail::EffectiveDepth(facts) => (found.value, facts),
            detail => panic!("{detail:?}"),
        }
    }

    #[test]
    fn an_interval_around_the_bound_leaves_open_whether_it_was_reached() {
        let reached = |in_flight| facts(in_flight, None).1.reached;
        assert_eq!(reached([127.9, 128.0, 127.8, 128.0, 127.9]), Some(true));
        assert_eq!(reached([64.0, 63.0, 65.0, 64.0, 64.5]), Some(false));
        assert_eq!(reached([128.0, 90.0, 127.0, 70.0, 126.0]), None);
    }

    #[test]
    fn the_program_and_the_device_have_a_count_each() {
        let (program, facts) = facts([128.0; 5], Some(16.0));
        assert!((program.unwrap() - 128.0).abs() < 1e-9, "{program:?}");
        assert_eq!(facts, Facts { at_device: Some(16.0), reached: Some(true), trials: 5 });
    }
}

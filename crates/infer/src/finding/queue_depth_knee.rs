//! The saturation point: the queue depth that makes the storage busy, N* = X_max · R₀.
//!
//! What it is: the queue depth at which a storage would just be busy if requests never waited for each other. Below
//! it, throughput is lost; above it, latency grows in proportion to the depth and throughput hardly does. The two
//! asymptotes X = N/R₀ and X = X_max meet there.
//!
//! How it is computed: a family of curves between them is fitted to the logarithms of throughput at all queue
//! depths, X(N) = N / [R₀ (1 + (Nᵏ − 1)/N*ᵏ)^(1/k)]. k, the sharpness of the corner, is fitted too, and the
//! interval is the profile likelihood over it. The possible error of a wrong family is added in quadrature: the
//! difference to R₀ over the slope of N/X(N) beyond the saturation point, and at least 3 %. Where the corner is
//! known to be sharper than k = 4, it is at least 12 % over k, and the difference less its noise.
//!
//! Inconclusive where
//! - fewer than four queue depths are valid, or queue depth 1 is missing;
//! - the deepest is less than four times the upper end of the saturation point's interval (the plateau is then a
//!   guess);
//! - a queue depth was not reached;
//! - the curves do not fit: chi-squared rejects the best one at 1 %, and a point misses it by over 10 %.
//!
//! If chi-squared rejects it and no point misses it by so much, the interval is widened. Queue depths of which the
//! device saw less than half, by the block layer's count, are excluded and named: their curve would be that of a
//! queue above the device.
//!
//! Why not the highest point of the grid: that is biased by up to 22 % and covers the truth in 0 to 95 % of runs.
//!
//! Assumes: a closed loop, in which each completion makes room for the next request.
//!
//! Source: P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, Computing Surveys 10
//! (1978) 225: asymptotic bounds and their crossing, N*.

use iosonde_judge::{evidence::Evidence, reach::too_few_at_the_device};
use iosonde_model::{
    About, Detail, ExperimentName, Finding, FindingName, Inconclusive, Trial, Unit, detail::ClosedLoop,
};

use super::{
    FindingKind, Proof, ScreenLine, closed_loop,
    group::{Group, Writer},
};

pub(crate) struct QueueDepthKnee;

impl FindingKind for QueueDepthKnee {
    fn id(&self) -> FindingName {
        FindingName::QueueDepthKnee
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::QueueDepth]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate, About::Depth])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::found("knee")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::InFlight, confidence };
        closed_loop::groups(points).iter().map(|group| knee(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(Some(4.0), "50,000 IOPS x 80 us"), (Some(4.0), "writes pass the same servers")],
            widest: 0.1,
            ..closed_loop::PROOF
        }
    }
}

fn knee(writer: &Writer, group: &Group) -> Finding {
    let conditions = &group.conditions;
    let (reached, excluded) = reached(group);
    match closed_loop::of(&reached, writer.confidence) {
        Ok(curve) => {
            let (widened_for, excluded_queue_depths) = (curve.widened_for, excluded);
            let detail = Detail::ClosedLoop(ClosedLoop { widened_for, excluded_queue_depths });
            writer.concluded(conditions, &reached.points, curve.knee(), detail)
        }
        Err(why) if excluded.is_empty() => writer.inconclusive(conditions, &group.points, why),
        Err(why) => {
            let why = Inconclusive::ExcludedDepths { queue_depths: excluded, why: Box::new(why) };
            writer.inconclusive(conditions, &group.points, why)
        }
    }
}

/// The points whose requests reached the device, and the queue depths of the others: a curve through these is the
/// queue's above the device. A counter at nothing stands still, and is no witness.
fn reached<'e, 'a>(group: &Group<'e, 'a>) -> (Group<'e, 'a>, Vec<u64>) {
    let seen = |evidence: &Evidence| {
        let mut trials = evidence.standing(About::Depth).peekable();
        let fewer = |trial: &Trial| too_few_at_the_device(trial).is_some_and(|seen| seen > 0.0);
        trials.peek().is_none() || !trials.all(fewer)
    };
    let (points, others): (Vec<_>, Vec<_>) =
        group.points.iter().copied().partition(|evidence| seen(evidence));
    let depths = others.iter().map(|evidence| evidence.point.spec.asked_in_flight()).collect();
    (Group { conditions: group.conditions.clone(), op: group.op, points }, depths)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Inconclusive, Run, Status};

    use super::*;
    use crate::{
        conclude::conclude,
        testing::{Pretend, QUICK},
    };

    fn knee_of_reads(run: &Run) -> &Finding {
        run.findings.iter().find(|finding| finding.name == FindingName::QueueDepthKnee).expect("it is asked")
    }

    #[test]
    fn what_the_device_never_saw_draws_no_knee() {
        let mut run = Pretend { cv: 0.005, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        assert_eq!(knee_of_reads(&run).status, Status::Found, "{:?}", knee_of_reads(&run));
        // A block layer that hands 4 on: what is above has a queue of its own.
        for trial in &mut run.trials {
            let asked = trial.spec.asked_in_flight() as f64;
            trial.witnesses.block_layer_in_flight_mean = Some(asked.min(3.9));
        }
        conclude(&mut run, None).unwrap();
        let knee = knee_of_reads(&run);
        let Detail::Inconclusive(Inconclusive::ExcludedDepths { queue_depths, .. }) = &knee.detail else {
            panic!("{knee:?}")
        };
        assert_eq!(queue_depths[..2], [8, 16]);
        // A counter that does not move is no witness.
        run.trials.iter_mut().for_each(|trial| trial.witnesses.block_layer_in_flight_mean = Some(0.0));
        conclude(&mut run, None).unwrap();
        assert_eq!(knee_of_reads(&run).status, Status::Found, "{:?}", knee_of_reads(&run));
    }
}

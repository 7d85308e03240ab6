//! The queue depth that gives 95 % of the throughput.
//!
//! What it is: the smallest queue depth that gives 95 % of the throughput of the deepest point. Some storage
//! consists of units to which random addresses assign requests without balance (the dies of an SSD, the members of
//! a RAID). Its saturation point itself gives only 51 to 62 %, since some units have two requests and others none.
//! This finding says how much deeper the queue must be.
//!
//! How it is computed: from the fit of `queue_depth_knee`, with all queue depths that the program maintained, also
//! those that waited above the device; inconclusive where that fit is. Where a curve is nearly flat, a small error
//! of its level is a large error of the depth. The interval runs from the depth that gives 1 % less at its lower
//! end to the depth that gives 1 % more at its upper one.
//!
//! The row "needed for 95 % of it" in the table of results is another depth: the smallest of those that were
//! measured whose IOPS are 95 % of the highest or more. Its latency was measured too; how often it truly gives 90 %
//! is in docs/intervals.md.
//!
//! Assumes: that the deepest point is beyond the bend; the fit is inconclusive below four times the saturation
//! point. Inconclusive, too, where the highest IOPS are a lower limit (see `max_iops`).

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Detail, ExperimentName, Finding, FindingName, Unit,
    detail::{ClosedLoop, QueueDepthProblem},
};

use super::{FindingKind, Proof, ScreenLine, closed_loop, group::Writer};

const SHARE: f64 = 0.95;

pub(crate) struct DepthFor95Percent;

impl FindingKind for DepthFor95Percent {
    fn id(&self) -> FindingName {
        FindingName::DepthFor95Percent
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::QueueDepth]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate, About::Depth])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("queue depth")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::InFlight, confidence };
        let groups = closed_loop::groups(points);
        groups
            .iter()
            .map(|group| {
                let (conditions, points) = (&group.conditions, &group.points);
                match closed_loop::of(group, confidence) {
                    // 95 % of what is not known.
                    Ok(curve) if curve.still_rises() => {
                        let deepest = curve.deepest();
                        writer.inconclusive(conditions, points, QueueDepthProblem::StillRising { deepest })
                    }
                    Ok(curve) => {
                        let (widened_for, excluded_queue_depths) = (curve.widened_for, Vec::new());
                        let detail = Detail::ClosedLoop(ClosedLoop { widened_for, excluded_queue_depths });
                        writer.concluded(conditions, points, curve.depth_for(SHARE), detail)
                    }
                    Err(why) => writer.inconclusive(conditions, points, why),
                }
            })
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[
                (Some(4.0), "X(3) is 75 % and X(4) is 100 % of 4 servers / 80 us"),
                (Some(4.0), "writes pass the same servers"),
            ],
            widest: 0.3,
            ..closed_loop::PROOF
        }
    }
}

//! How many requests must be in flight for 95 % of the throughput.
//!
//! What it is: the least whole number in flight that gives 95 % of the rate with the most that were
//! measured. At the knee itself, storage made of units that random addresses choose blindly (the dies of an
//! SSD, the members of a RAID) gives only 51 to 62 %, since some units have two requests and others none;
//! how many more it takes is this finding.
//!
//! How it is worked out: as `queue_depth_knee` is, from all numbers that the program kept in flight, also those that
//! waited above the device, and refused where that fit is. Where a curve is
//! nearly flat a small error of its level is a large one of this number: the interval reaches from what
//! gives 1 % less at its lower end to what gives 1 % more at its upper one.
//!
//! Assumes: that the most in flight which were measured are past the bend; the fit is refused below four
//! knees.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{Detail, Finding, detail::ClosedLoop};

use super::{FindingKind, Proof, Told, closed_loop, group::Writer};
use crate::words::Unit;

const SHARE: f64 = 0.95;

pub(crate) struct DepthFor95Percent;

impl FindingKind for DepthFor95Percent {
    fn id(&self) -> FindingName {
        FindingName::DepthFor95Percent
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::QueueDepth]
    }

    fn told(&self) -> Told {
        Told::always("knee")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::InFlight, confidence };
        let groups = closed_loop::groups(points);
        groups
            .iter()
            .map(|group| {
                let (conditions, points) = (&group.conditions, &group.points);
                match closed_loop::of(group, confidence) {
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

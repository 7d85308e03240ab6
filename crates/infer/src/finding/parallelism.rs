//! The number of storage units that work in parallel.
//!
//! What it is: the number of units (chips of flash, members of an array) over which addresses are spread in turn.
//! That many requests are served at once where they are spread evenly, and no more, at any queue depth.
//!
//! How it is computed: strided reads reach all units, or half of them, or only one. The throughput at all strides
//! is compared with every layout of units and stripes. The layouts that chance does not exclude form the interval;
//! the value is the most likely one.
//!
//! Assumes: that units are equal and serve in the order of arrival, that addresses are spread over them in stripes
//! of a power of two, and that their number is a power of two or three times one. Inconclusive where a link or the
//! program carries less than the units could, where no stride reaches a single unit only, and where strides make no
//! difference: then the saturation point (`queue_depth_knee`) is the available answer.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Detail, ExperimentName, Finding, FindingName, Unit,
    detail::{Lack, Layout, LayoutProblem},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::Writer,
    layout::{self, PROOF, Points, Shown},
};

pub(crate) struct Parallelism;

impl FindingKind for Parallelism {
    fn id(&self) -> FindingName {
        FindingName::Parallelism
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Units]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("units")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::InFlight, confidence };
        Points::of(points).iter().map(|points| one(&writer, points)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::StridedReads)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(8.0), "8 units")], widest: 0.01, ..PROOF }
    }
}

fn one(writer: &Writer, points: &Points) -> Finding {
    let conditions = layout::conditions(points);
    let strided = &points.strided;
    match points.shown(writer.confidence) {
        Ok(Shown::Layouts(layouts)) => {
            let estimate = layout::over(&layouts, |layout| layout.units);
            let invalid_strides_bytes = points.invalid_strides_bytes();
            let (strides, layouts) = (strided.len(), layouts.len());
            let facts = Layout::Striped { strides, layouts, invalid_strides_bytes };
            writer.concluded(&conditions, strided, estimate, Detail::Layout(facts))
        }
        Ok(Shown::Level) => writer.inconclusive(&conditions, strided, LayoutProblem::EqualStrides),
        Err(why) => writer.inconclusive(&conditions, strided, why),
    }
}

//! Stripe size: how many neighbouring bytes lie on one unit before the next unit follows.
//!
//! What it is: the stripe of an array, or of the chips within a drive that places data by address. Requests one
//! stripe apart are served in parallel; requests one whole round of stripes apart wait for each other.
//!
//! How it is computed: as `parallelism`, from the throughput of strided reads. The interval contains the stripes of
//! all layouts that chance does not exclude, and has no width where only one is left. Where every stride is served
//! equally, nothing is striped by address over a number of units that is a power of two or three times one, as far
//! as the strides reach. These strides never stay on one of 5, 7 or 9 units.
//!
//! Assumes: a stripe of a power of two.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Detail, ExperimentName, Finding, FindingName, Unit,
    detail::{Lack, Layout},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::Writer,
    layout::{self, PROOF, Points, Shown},
};

pub(crate) struct StripeBytes;

impl FindingKind for StripeBytes {
    fn id(&self) -> FindingName {
        FindingName::StripeBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Units]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("stripe")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        Points::of(points).iter().map(|points| one(&writer, points)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::StridedReads)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(32_768.0), "stripe of 32 KiB")], widest: 0.01, ..PROOF }
    }
}

fn one(writer: &Writer, points: &Points) -> Finding {
    let conditions = layout::conditions(points);
    let strided = &points.strided;
    match points.shown(writer.confidence) {
        Ok(Shown::Layouts(layouts)) => {
            let estimate = layout::over(&layouts, |layout| layout.stripe_bytes);
            let invalid_strides_bytes = points.invalid_strides_bytes();
            let (strides, layouts) = (strided.len(), layouts.len());
            let facts = Layout::Striped { strides, layouts, invalid_strides_bytes };
            writer.concluded(&conditions, strided, estimate, Detail::Layout(facts))
        }
        Ok(Shown::Level) => {
            let end =
                |evidence: Option<&&Evidence>| evidence.map_or(0, |evidence| layout::stride_bytes(evidence));
            let (shortest_bytes, longest_bytes) = (end(strided.first()), end(strided.last()));
            let facts = Layout::NotStriped { shortest_bytes, longest_bytes };
            writer.absent(&conditions, strided, Detail::Layout(facts))
        }
        Err(why) => writer.inconclusive(&conditions, strided, why),
    }
}

//! How many neighbouring bytes lie on one unit before the next one's turn comes.
//!
//! What it is: the stripe of an array, or of the chips within a drive that places data by address. Requests as far
//! apart as a stripe are served side by side; requests as far apart as a whole round of stripes wait for each other.
//!
//! How it is worked out: as `parallelism`, from the rates of strided reads; the interval runs over the stripes of all
//! layouts that chance does not exclude, and has no width where only one is left. Where every stride is served alike,
//! nothing is striped by address over a number of units that is a power of two or three times one, as far as the
//! strides reach; they never keep to one of 5, 7 or 9 units.
//!
//! Assumes: a stripe of a power of two.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::detail::Lack;
use iosonde_model::{Detail, Finding, Status, units};

use super::{
    FindingKind, Proof, Told,
    group::Writer,
    layout::{self, PROOF, Points, Shown},
};
use crate::words::Unit;

pub(crate) struct StripeBytes;

impl FindingKind for StripeBytes {
    fn id(&self) -> FindingName {
        FindingName::StripeBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Units]
    }

    fn told(&self) -> Told {
        Told::always("stripe")
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
    match points.shown(writer.confidence) {
        Ok(Shown::Layouts(layouts)) => {
            let estimate = layout::over(&layouts, |layout| layout.stripe_bytes);
            let sentence = "{} of neighbouring addresses lie on one unit before the next one's turn comes.";
            let why = format!(
                "The rates at {} strides fall where requests meet on the same unit. Assumes a stripe of a \
                    power of two.{}",
                points.strided.len(),
                points.left_out_words()
            );
            writer.found(&conditions, &points.strided, estimate, sentence, why)
        }
        Ok(Shown::Level) => {
            let stride =
                |place: usize| units::size(points.strided[place].point.spec.stride_bytes.unwrap_or(0));
            Finding {
                status: Status::Absent,
                detail: Detail::Said { sentence: format!(
                    "Nothing is striped by address over a number of units that is a power of two or three times \
                     one: reads every {} are served as fast as reads every {}.",
                    stride(0),
                    stride(points.strided.len() - 1)
                ), why: Some(
                    "The highest rate is within 20 % of the lowest. These strides never keep to one of 5, 7 or 9 units."
                        .to_owned(),
                ) },
                ..writer.refused(&conditions, &points.strided, "", "")
            }
        }
        Err(why) => writer.refused(&conditions, &points.strided, "How addresses are spread over units", &why),
    }
}

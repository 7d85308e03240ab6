//! The block size from which larger requests no longer increase throughput.
//!
//! What it is: the smallest of the measured sizes that gives 95 % of the limit for large requests, at the points'
//! queue depth (1, in `quick`). Half of the limit is reached far earlier: see `half_size`.
//!
//! How it is computed: where the times follow t(b) = t₀ + b/B, the bandwidth is b/(b + n½) of B, which is 95 % at
//! 19 n½; the measured sizes at or above both ends of 19 n½ are the interval. Where the times do not follow it (a
//! limit that cuts the curve off, a depth above 1), the highest point is found without the winner's curse, and each
//! size is compared with it. The lower end is the smallest size from which on all points may be within 5 % of it,
//! the upper end the smallest from which on all are, with confidence. Inconclusive where even the largest size is
//! below that: throughput still rises where the largest size is significantly above the next smaller one, and is too
//! uncertain otherwise.
//!
//! Why 95 %: the last twentieth costs as much size as all before it, and `quick` resolves 5 %.
//!
//! What it is not: the device's page size. The curve has no corner there, and a page cache would hide it.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{About, ExperimentName, Finding, FindingName, Unit};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Writer},
    hockney, plateau,
};

pub(crate) struct PlateauBlockSize;

impl FindingKind for PlateauBlockSize {
    fn id(&self) -> FindingName {
        FindingName::PlateauBlockSize
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("plateau")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        let rate = |evidence: &Evidence, op| group::valid_rate(evidence, op, &[]);
        hockney::groups(points).iter().map(|group| plateau::conclude(&writer, group, &rate)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[
                (
                    Some(4_194_304.0),
                    "19 times 100,000 B = 1.9 MB; the next of 4 KiB .. 4 MiB by fours is 4 MiB",
                ),
                (Some(4_194_304.0), "writes pass the same parts"),
            ],
            widest: 0.8,
            ..hockney::PROOF
        }
    }
}

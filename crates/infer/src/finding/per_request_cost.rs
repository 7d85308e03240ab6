//! The fixed cost of every request, whatever its size: t₀ of the law t(b) = t₀ + b/B.
//!
//! What it is: the part of a request's time that does not depend on its size: the system call, the command on its
//! way, the medium's access. At QD 1, 1/t₀ requests per second is a limit for every block size.
//!
//! How it is computed: from the times between completions at QD 1, over block sizes, by least squares on
//! logarithms. At least four sizes over a range of 16 are needed. The error that all sizes share (one trend,
//! neighbours in time) is part of the interval, whatever the number of sizes. If the points differ from the law
//! (tested at 1 %), the interval is widened; if any misses by more than 10 %, the finding is inconclusive.
//!
//! How precise it can be: 11 sizes and 5 to 8 rounds at 3 % scatter give these full widths:
//! - 2 to 4 % where half size is ten smallest blocks or more;
//! - 6 to 8 % where it equals the smallest block;
//! - 15 to 34 % at a third of that: the smallest block is then already mostly transfer.
//!
//! Source: R. W. Hockney, The Science of Computer Benchmarking (SIAM, 1996), chapter 1: the pair (r∞, n½).

use iosonde_judge::evidence::Evidence;
use iosonde_model::{Detail, ExperimentName, Finding, FindingName, Unit};

use super::{FindingKind, Proof, ScreenLine, group::Writer, hockney};

pub(crate) struct PerRequestCost;

impl FindingKind for PerRequestCost {
    fn id(&self) -> FindingName {
        FindingName::PerRequestCost
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("cost")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        let groups = hockney::groups(points);
        groups
            .iter()
            .map(|group| {
                let (conditions, points) = (&group.conditions, &group.points);
                match hockney::of(group, confidence) {
                    Ok(law) => writer.concluded(conditions, points, law.t0_ns, Detail::SizeLaw(law.fit)),
                    Err(why) => writer.inconclusive(conditions, points, why),
                }
            })
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[
                (
                    Some(100_000.0),
                    "20 us host + 5 us link latency + 75 us service; only b / 1 GB/s depends on b",
                ),
                (Some(100_000.0), "writes pass the same parts"),
            ],
            widest: 0.01,
            ..hockney::PROOF
        }
    }
}

//! The request size that reaches half of the attainable bandwidth: n½ = t₀ · B.
//!
//! What it is: requests of this size spend half of their time on the cost of every request and half on moving
//! bytes. It says what "small" means for this storage at QD 1. Far below it, time hardly depends on size; far above
//! it, throughput hardly does.
//!
//! How it is computed: with t₀ in one fit (see `per_request_cost`), so that the correlated errors of t₀ and B are
//! propagated. Inconclusive where the time of a request does not rise with its size as far as was measured.
//!
//! Source: R. W. Hockney, The Science of Computer Benchmarking (SIAM, 1996), chapter 1.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Unit,
    detail::{SizeLaw, SizeLawProblem},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{Group, Writer},
    hockney,
};

pub(crate) struct HalfSize;

impl FindingKind for HalfSize {
    fn id(&self) -> FindingName {
        FindingName::HalfSize
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("half size")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        let groups = hockney::groups(points);
        groups
            .iter()
            .map(|group| {
                let (conditions, points) = (&group.conditions, &group.points);
                match half_size(group, confidence) {
                    Ok((size, fit)) => writer.concluded(conditions, points, size, Detail::SizeLaw(fit)),
                    Err(why) => writer.inconclusive(conditions, points, why),
                }
            })
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[
                (Some(100_000.0), "t0 = 100 us times 1 GB/s = 100,000 B"),
                (Some(100_000.0), "writes pass the same parts"),
            ],
            widest: 0.01,
            ..hockney::PROOF
        }
    }
}

/// Returns the size and the fit that it comes from.
fn half_size(group: &Group, confidence: f64) -> Result<(Estimate, SizeLaw), Inconclusive> {
    let law = hockney::of(group, confidence)?;
    let largest_bytes =
        group.points.iter().map(|evidence| evidence.point.spec.block_size_bytes).max().unwrap_or(0);
    let size = law.half_size_bytes.ok_or(SizeLawProblem::Flat { largest_bytes })?;
    Ok((size, law.fit))
}

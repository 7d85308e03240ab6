//! The share of throughput that storage keeps when sequential requests leave gaps.
//!
//! What it is: the throughput at the stride that differs most, over the throughput at the smallest stride, or, from
//! four strides on, over the mean of the others. A ratio of 1 means that the distance between requests costs
//! nothing.
//!
//! How it is computed: at the same block size and queue depth, with simultaneous intervals (Bonferroni). "Does not
//! matter" is said only where all of them lie within 5 % of 1. Where some differ significantly, the largest of
//! these is given. Where none differs significantly and all lie within 10 %, the text says that no effect is seen,
//! and how large an unseen one may be. Otherwise it is inconclusive.
//!
//! How often it is right: `bench/drift-or-effect`, 12 strides in an hour at 5 % CV on storage that loses 5 % an
//! hour.
//!
//! Assumes: that both points met the same storage, which the random order of trials within each round ensures, and
//! that no cache served either: a strided pass that repeats itself requests few blocks.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    ExperimentName, Finding, FindingName, StridePass, Unit,
    detail::{ComparedFigure, Lack, Level},
};

use super::{
    FindingKind, Proof, ScreenLine,
    effect::{self, Question},
    group::{self, Writer},
};

pub(crate) struct StrideEffect;

const QUESTION: Question = Question {
    blank: |spec| (spec.stride_bytes, spec.stride_pass) = (None, StridePass::Same),
    level: |spec| {
        (!spec.rw.is_random()).then(|| Level::Stride(spec.stride_bytes.unwrap_or(spec.block_size_bytes)))
    },
    against_first: false,
    figure: ComparedFigure::Throughput,
    op: |spec| group::only_direction(spec.rw),
};

impl FindingKind for StrideEffect {
    fn id(&self) -> FindingName {
        FindingName::StrideEffect
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Stride]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::folded("stride")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        effect::conclude(&QUESTION, &writer, points)
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Strides)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "one-unit-at-a-time"
summary = "eight units of flash, which a stride of 128 KiB brings down to one"
capacity = "8GiB"
[flash]
units = 8
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
"#,
            study: r#"
name = "strides"
question = "Does the stride matter?"
time = "60s"
size = "8GiB"
[[experiment]]
kind = "stride"
rw = "read"
block_size = "16k"
stride = ["16k", "128k"]
depth = 8
"#,
            truths: &[(
                Some(0.125),
                "8 outstanding pages lie on 8 units, and at 8 x 16 KiB apart all on one: 1/8; on 1 GiB a pass would \
                 end after 8,192 requests, of which 8 meet a second unit: 0.1 % more",
            )],
            widest: 0.05,
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        Detail, Inconclusive, Status, Trial,
        detail::{Effect, EffectAnswer, EffectProblem},
    };

    use super::*;
    use crate::{
        conclude::conclude,
        testing::{Conclusions, Pretend},
    };

    const STUDY: &str =
        "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"stride\"\nblock_size = \"64k\"";

    fn effect(finding: &Finding) -> Effect {
        let Detail::Effect(effect) = finding.detail.clone() else { panic!("{finding:?}") };
        effect
    }

    #[test]
    fn storage_that_knows_no_distance_is_said_to_know_none() {
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = &exact.conclusions(&StrideEffect, STUDY, 1)[0];
        assert_eq!(found.len(), 2, "reads and writes");
        assert_eq!(effect(&found[0]).answer, EffectAnswer::NoEffect);
        let noisy = Pretend { cv: 0.3, ..Pretend::usual() };
        let found = &noisy.conclusions(&StrideEffect, STUDY, 1)[0];
        assert!(found[0].detail.is_open(), "{:?}", found[0]);
    }

    #[test]
    fn ratios_known_within_a_factor_of_three_only_are_too_rough() {
        let wild = Pretend { cv: 2.0, ..Pretend::usual() };
        let found = &wild.conclusions(&StrideEffect, STUDY, 1)[0][0];
        let too_rough = Inconclusive::Effect(EffectProblem::TooRough);
        assert_eq!((found.status, &found.detail), (Status::Inconclusive, &Detail::Inconclusive(too_rough)));
    }

    #[test]
    fn one_stride_that_says_nothing_hides_no_other() {
        let told = |void: &[u64]| -> Finding {
            let mut run = Pretend { cv: 0.005, ..Pretend::usual() }.run(STUDY, 1);
            let bound =
                |trial: &&mut Trial| trial.spec.stride_bytes.is_some_and(|bytes| void.contains(&bytes));
            run.trials.iter_mut().filter(bound).for_each(|trial| trial.busy_share = Some(1.0));
            conclude(&mut run, None).unwrap();
            run.findings
                .into_iter()
                .find(|finding| finding.name == FindingName::StrideEffect)
                .expect("it is asked")
        };
        let one = effect(&told(&[256 << 10]));
        assert_eq!(one.answer, EffectAnswer::NoEffect);
        let [(Level::Stride(out), Inconclusive::TooFewTrials { valid: 0, .. })] = one.left_out[..] else {
            panic!("{one:?}")
        };
        assert_eq!(out, 256 << 10);
        let all: Vec<u64> = (0..30).map(|power| 1 << power).collect();
        assert_eq!(told(&all).status, Status::Inconclusive);
    }
}

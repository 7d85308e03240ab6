//! How much longer requests of one direction take when the other direction is mixed in.
//!
//! What it is: the mean latency of reads at the mix that differs most from reads alone, over their latency alone,
//! at the same queue depth; and likewise for writes.
//!
//! How it is computed: as for `stride_effect`: every mix against the direction alone (a mix of 100 % or of 0 %
//! reads, which the study must have), with simultaneous intervals. "Does not matter" only where all lie within 5 %
//! of 1.
//!
//! Assumes: that both directions share the queue depth, as they do here. More outstanding writes mean fewer
//! outstanding reads, so that a ratio above 1 is caused by the other direction.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    ExperimentName, Finding, FindingName, Op, Rw, TrialSpec, Unit,
    detail::{ComparedFigure, Level},
};

use super::{
    FindingKind, Proof, ScreenLine,
    effect::{self, Question},
    group::Writer,
};

pub(crate) struct MixInterference;

const READS: Question = Question {
    // Alone first: none of the other direction.
    blank: as_mix,
    level: |spec| match (spec.rw.reads(), spec.rw.writes()) {
        (true, false) => Some(Level::WritePercent(0.0)),
        (true, true) => spec.read_percent.map(|percent| Level::WritePercent(100.0 - percent)),
        _ => None,
    },
    against_first: true,
    figure: ComparedFigure::MeanLatency,
    op: |spec| spec.rw.reads().then_some(Op::Read),
};

const WRITES: Question = Question {
    level: |spec| match (spec.rw.reads(), spec.rw.writes()) {
        (false, true) => Some(Level::ReadPercent(0.0)),
        (true, true) => spec.read_percent.map(Level::ReadPercent),
        _ => None,
    },
    op: |spec| spec.rw.writes().then_some(Op::Write),
    ..READS
};

/// A direction alone belongs to the mixes of its kind.
fn as_mix(spec: &mut TrialSpec) {
    spec.rw = if spec.rw.is_random() { Rw::RandRw } else { Rw::Rw };
    spec.read_percent = None;
}

/// Without a direction alone there is nothing to compare with.
fn with_one_alone<'a>(question: &Question, points: &[Evidence<'a>]) -> Vec<Evidence<'a>> {
    let blank = |evidence: &Evidence| {
        let mut spec = evidence.point.spec.clone();
        as_mix(&mut spec);
        spec
    };
    let is_alone = |evidence: &&Evidence| {
        (question.level)(&evidence.point.spec).is_some_and(|level| level.value() == 0.0)
    };
    let alone: Vec<_> = points.iter().filter(is_alone).map(blank).collect();
    points.iter().filter(|evidence| alone.contains(&blank(evidence))).cloned().collect()
}

impl FindingKind for MixInterference {
    fn id(&self) -> FindingName {
        FindingName::MixInterference
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Mix, ExperimentName::Matrix]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::folded("mix")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        [READS, WRITES]
            .iter()
            .flat_map(|question| effect::conclude(question, &writer, &with_one_alone(question, points)))
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "one-line"
summary = "one unit of flash with one line for reads and slower writes"
capacity = "1GiB"
[flash]
units = 1
stripe = "4KiB"
page = "4KiB"
mapping_unit = "4KiB"
read = "100us"
program = "300us"
erase = "1us"
pages_per_block = 65536
placement = "static"
"#,
            study: r#"
name = "mixes"
question = "Do writes hold up reads?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "mix"
mix = [0, 50, 100]
depth = [4, 1]
"#,
            truths: &[
                (Some(2.0), "reads and writes in turn, 4 in line: 2 x 100 us + 2 x 300 us for 4 x 100 us"),
                (Some(1.0), "QD 1, no read waits for a write: 100 us either way"),
                (Some(2.0 / 3.0), "2 x 100 us + 2 x 300 us for 4 x 300 us"),
                (Some(1.0), "QD 1, no write waits for a read: 300 us either way"),
            ],
            widest: 0.05,
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        Detail,
        detail::{ComparedWith, Effect, EffectAnswer},
    };

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    fn study(mix: &str) -> String {
        format!("name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"mix\"\nmix = {mix}")
    }

    #[test]
    fn a_mix_without_its_direction_alone_was_not_asked() {
        let found =
            |mix: &str| Pretend::usual().conclusions(&MixInterference, &study(mix), 1).remove(0).len();
        assert_eq!((found("70"), found("[50, 100]"), found("[0, 50, 100]")), (0, 1, 2));
    }

    fn effect(mix: &str) -> Effect {
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = exact.conclusions(&MixInterference, &study(mix), 1).remove(0).remove(0);
        let Detail::Effect(effect) = found.detail else { panic!("{found:?}") };
        effect
    }

    #[test]
    fn however_many_mixes_there_are_each_is_held_against_a_direction_alone() {
        let (alone, half) = (Level::WritePercent(0.0), Level::WritePercent(50.0));
        let two = effect("[0, 50, 100]");
        assert_eq!(
            (two.answer, two.lowest, two.highest, two.ratios),
            (EffectAnswer::NoEffect, alone, half, 1)
        );
        let many = effect("[0, 25, 50, 75, 100]");
        assert_eq!((many.reference, many.lowest), (ComparedWith::Level(alone), alone));
        assert_eq!((many.highest, many.ratios), (Level::WritePercent(75.0), 3));
        assert_eq!(many.figure, ComparedFigure::MeanLatency);
    }
}

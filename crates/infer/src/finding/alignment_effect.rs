//! The share of throughput that storage keeps when requests do not begin at a multiple of their size.
//!
//! What it is: the throughput at the offset that differs most from offset 0, divided by the throughput at 0, at the
//! same block size and queue depth.
//!
//! How it is computed: as for `stride_effect`: every offset against the smallest, with simultaneous intervals.
//! "Does not matter" only where all lie within 5 % of 1.
//!
//! Assumes: that the file's beginning is aligned to the storage's own units, as file systems usually ensure for 4
//! KiB.
//!
//! What it is not: the size of the storage's unit. Buffers gather small writes and hide it. An effect means that a
//! unit is larger than the offset; no effect means only that none is visible.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    ExperimentName, Finding, FindingName, Unit,
    detail::{ComparedFigure, Lack, Level},
};

use super::{
    FindingKind, Proof, ScreenLine,
    effect::{self, Question},
    group::{self, Writer},
};

pub(crate) struct AlignmentEffect;

const QUESTION: Question = Question {
    // What lies before the addressed part is taken off behind it.
    blank: |spec| (spec.offset_bytes, spec.span_bytes) = (0, 0),
    level: |spec| Some(Level::Offset(spec.offset_bytes)),
    against_first: false,
    figure: ComparedFigure::Throughput,
    op: |spec| group::only_direction(spec.rw),
};

impl FindingKind for AlignmentEffect {
    fn id(&self) -> FindingName {
        FindingName::AlignmentEffect
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Alignment]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::folded("alignment")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        effect::conclude(&QUESTION, &writer, points)
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Offsets)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "pages"
summary = "one unit of flash that senses whole pages of 4 KiB"
capacity = "1GiB"
[flash]
units = 1
stripe = "4KiB"
page = "4KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
[noise]
latency_cv = 0.02
"#,
            study: r#"
name = "offsets"
question = "Does alignment matter?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "alignment"
rw = "randread"
block_size = "4k"
offset = [0, 2048]
"#,
            truths: &[(
                Some(0.5),
                "a read across a boundary senses two pages on the only unit: 120 us for 60",
            )],
            widest: 0.05,
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, detail::EffectAnswer};

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    #[test]
    fn storage_without_units_is_said_to_have_no_effect() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"alignment\"";
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = &exact.conclusions(&AlignmentEffect, study, 1)[0];
        assert_eq!(found.len(), 2);
        let Detail::Effect(effect) = &found[1].detail else { panic!("{found:?}") };
        assert_eq!((effect.answer, effect.lowest), (EffectAnswer::NoEffect, Level::Offset(0)));
    }
}

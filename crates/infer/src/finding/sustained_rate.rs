//! How fast writes are once no buffer helps any more.
//!
//! What it is: the throughput of the last part of a long write, where throughput falls within it; else the
//! throughput of the whole.
//!
//! How it is computed: the windows of each trial are divided where two levels fit them best. It is a fall only
//! where the first level is a fifth higher or more and exceeds the scatter by five standard deviations, or where
//! the first window alone is 5 % higher and exceeds it as far. The figure is then taken from each trial, and given
//! as the geometric mean over trials with Student's interval.
//!
//! Where that throughput stepped from one trial to the next (a larger fast area was full, a credit was spent), only the
//! trials after the step count; with fewer than five of them the finding is inconclusive.
//!
//! Where throughput falls twice (see `burst_rate`), it is the throughput after the second fall.
//!
//! Where no trial shows a fall, the sentence says how much was written without one: there may be a larger buffer.
//!
//! Assumes: that each trial began with an empty buffer (the pause before it in `sustained-write` is for that), and
//! that the windows of 100 ms are short compared with the time that the buffer takes.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{ExperimentName, Finding, FindingName, Unit, detail::Lack};

use super::{
    FindingKind, Proof, ScreenLine,
    group::Writer,
    long_write::{self, Reading},
};

pub(crate) struct SustainedRate;

const READING: Reading = Reading {
    figure: |fall| fall.sustained,
    of_content: false,
    of_first_level: false,
    of_last_fall: true,
    of_level: true,
};

impl FindingKind for SustainedRate {
    fn id(&self) -> FindingName {
        FindingName::SustainedRate
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::SustainedWrite]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("sustained")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Rate, confidence };
        long_write::conclude(&READING, &writer, points)
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::LongWrites)
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(
                Some(2e7),
                "drain of the buffer: 20 MB/s, below the 16 units x 16 KiB / 600 us = 437 MB/s",
            )],
            ..long_write::PROOF
        }
    }
}

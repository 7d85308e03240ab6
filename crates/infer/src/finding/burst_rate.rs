//! How fast writes are until a buffer is full.
//!
//! What it is: the throughput of the first part of a long write, where throughput falls within it.
//!
//! How it is computed: the windows of each trial are divided where two levels fit them best. It is a fall only
//! where the first level is a fifth higher or more and exceeds the scatter by five standard deviations. The figure
//! is then taken from each trial, and given as the geometric mean over trials with Student's interval.
//!
//! Two buffers in series cause two falls, and two findings (`stage` 1 and 2 in the conditions). For this, three
//! levels must explain the throughput so much better than two that chance does not (the Bayesian information
//! criterion, at every fifth window), in more than half of the trials.
//!
//! Where it does not fall there is no burst, and only `sustained_rate` applies.
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

pub(crate) struct BurstRate;

const READING: Reading = Reading {
    figure: |fall| fall.burst,
    of_content: false,
    of_first_level: true,
    of_last_fall: false,
    of_level: false,
};

impl FindingKind for BurstRate {
    fn id(&self) -> FindingName {
        FindingName::BurstRate
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::SustainedWrite]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("burst")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Rate, confidence };
        long_write::conclude(&READING, &writer, points)
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::LongWrites)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(1e8), "the link, as long as the buffer has room")], ..long_write::PROOF }
    }
}

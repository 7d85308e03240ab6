//! How fast writes are once no buffer helps any more.
//!
//! What it is: the rate of the last part of a long write, where the rate falls within it; else the rate of the whole.
//!
//! How it is worked out: the windows of each trial are cut where two levels fit them best. It is a fall only where
//! the first level is a fifth higher or more and stands out of the scatter by five standard deviations, or where the
//! first window alone is 5 % higher and stands out as far; the figure is then read off each trial, and given as the
//! geometric mean over trials with Student's interval.
//!
//! Where the rate falls twice (see `burst_rate`), it is the rate after the second fall.
//!
//! Where no trial shows a fall, the sentence says how much was written without one:
//! a larger buffer may still be there.
//!
//! Assumes: that each trial began with an empty buffer, which the pause before it in `sustained-write` is for, and
//! that the windows of 100 ms are short against the time that the buffer takes.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::Finding;
use iosonde_model::FindingName;
use iosonde_model::detail::Lack;

use super::{
    FindingKind, Proof, Told,
    group::Writer,
    long_write::{self, Reading},
};
use crate::words::Unit;

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

    fn told(&self) -> Told {
        Told::always("sustained")
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

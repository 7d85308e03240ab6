//! How long a flush takes: from the last write's completion to the storage's word that all of them are kept.
//!
//! What it is: the mean time of `fsync` or `fdatasync` after so many writes as the workload says.
//!
//! How it is worked out: the mean over the flushes of each trial, then the geometric mean over trials with
//! Student's interval; trials lie a round apart and are taken as independent.
//!
//! Assumes: that the storage tells the truth about what is kept; no program can see whether it does.
//!
//! Traps: a flush pays for everything that was not yet written when it came. After one small write it is the
//! price of durability; after a thousand it is mostly the price of the thousand.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{About, Conditions, Finding, Op, units};

use super::{
    FindingKind, Proof, Told, durable,
    group::{self, Writer},
    over_trials,
};
use crate::words::Unit;

pub(crate) struct FlushLatency;

impl FindingKind for FlushLatency {
    fn id(&self) -> FindingName {
        FindingName::FlushLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Latency]
    }

    fn told(&self) -> Told {
        Told::always("flush")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        points.iter().filter_map(|evidence| one(&writer, evidence)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(
                Some(1_588_000.0),
                "a page is programmed in 600 us from its arrival, 12 us before its write is done; then 1 ms",
            )],
            ..durable::PROOF
        }
    }
}

/// `None` where a workload has no flushes.
fn one(writer: &Writer, evidence: &Evidence) -> Option<Finding> {
    let spec = &evidence.point.spec;
    let every = spec.sync.flush_every()?;
    let conditions = Conditions {
        op: Some(Op::Flush),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        ..Conditions::default()
    };
    let writes = match every {
        1 => format!("a write of {}", units::size(spec.block_size_bytes)),
        every => format!("{every} writes of {}", units::size(spec.block_size_bytes)),
    };
    let about = format!("How long a flush takes after {writes}");
    if let Err(why) = group::stands(evidence, &[About::Latency]) {
        return Some(writer.refused(&conditions, &[evidence], &about, &why));
    }
    let means = over_trials::of(evidence, About::Latency, |trial| trial.flush.as_ref()?.latency_ns.mean);
    Some(match over_trials::mean(&means, writer.confidence) {
        Some(estimate) => {
            let sentence = format!("a flush after {writes} takes {{}}.");
            let why = format!("The mean over {} trials.", means.len());
            writer.found(&conditions, &[evidence], estimate, &sentence, why)
        }
        None => writer.refused(&conditions, &[evidence], &about, "too few trials have flushes"),
    })
}

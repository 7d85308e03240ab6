//! How long a flush takes: from the last write's completion to the acknowledgement that all of them are durable.
//!
//! What it is: the mean time of `fsync` or `fdatasync` after the workload's number of writes.
//!
//! How it is computed: the mean over the flushes of each trial, then the geometric mean over trials with Student's
//! interval; trials are a round apart and are treated as independent.
//!
//! Assumes: that the storage's acknowledgement is true; no program can verify it.
//!
//! Traps: a flush includes everything that was not yet written when it came. After one small write it is the cost
//! of durability; after a thousand it is mostly the cost of the thousand.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, ExperimentName, Finding, FindingName, Op, Unit, detail::Durable,
};

use super::{
    FindingKind, Proof, ScreenLine, durable,
    group::{self, Writer},
    over_trials,
};

pub(crate) struct FlushLatency;

impl FindingKind for FlushLatency {
    fn id(&self) -> FindingName {
        FindingName::FlushLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Latency]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("flush")
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
    let writes = spec.sync.flush_every()?;
    let conditions = Conditions {
        op: Some(Op::Flush),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        ..Conditions::default()
    };
    if let Err(why) = group::valid(evidence, &[About::Latency]) {
        return Some(writer.inconclusive(&conditions, &[evidence], why));
    }
    let means = over_trials::of(evidence, About::Latency, |trial| trial.flush.as_ref()?.latency_ns.mean);
    Some(match over_trials::valid_mean(&means, writer.confidence) {
        Ok(estimate) => {
            let flush = Durable::Flush { writes, trials: means.len() };
            writer.concluded(&conditions, &[evidence], estimate, Detail::Durable(flush))
        }
        Err(why) => writer.inconclusive(&conditions, &[evidence], why),
    })
}

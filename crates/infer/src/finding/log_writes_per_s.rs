//! Durable appends per second by one writer: each written, then flushed, before the next.
//!
//! What it is: the rate of sequential writes of one size at QD 1, each followed by a flush (`fsync:1`,
//! `fdatasync:1`) or durable by itself (`dsync`). A database's commit rate with one client is about this, and so is
//! etcd's test (2,300 bytes, fdatasync after each).
//!
//! How it is computed: as every throughput of a point: a fit over the run's trials, without its drift.
//!
//! Assumes: that the storage's acknowledgement of durability is true.
//!
//! Traps: group commit lets many clients share a flush; then this rate times the clients is the bound, not this
//! rate. Figures well above one per rotation, or one per network round trip, mean that something answers early.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{Detail, ExperimentName, Finding, FindingName, Op, Unit, detail::Durable};

use super::{
    FindingKind, Proof, ScreenLine, durable,
    group::{self, Writer},
};

pub(crate) struct LogWritesPerS;

impl FindingKind for LogWritesPerS {
    fn id(&self) -> FindingName {
        FindingName::LogWritesPerS
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Latency]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("log")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Iops, confidence };
        points.iter().filter_map(|evidence| one(&writer, evidence)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(Some(625.0), "12 us into the buffer and 1.588 ms for the flush: 1.6 ms each")],
            ..durable::PROOF
        }
    }
}

/// `None` where a workload is no log.
fn one(writer: &Writer, evidence: &Evidence) -> Option<Finding> {
    let spec = &evidence.point.spec;
    if !durable::each_write(spec) || spec.rw.is_random() {
        return None;
    }
    let conditions = durable::conditions(spec);
    Some(match group::valid_rate(evidence, Op::Write, &[]) {
        Ok(rate) => {
            let log = Detail::Durable(Durable::Log(spec.sync));
            writer.concluded(&conditions, &[evidence], rate.estimate(writer.confidence), log)
        }
        Err(why) => writer.inconclusive(&conditions, &[evidence], why),
    })
}

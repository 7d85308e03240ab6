//! How long one small request takes when nothing else is under way.
//!
//! What it is: the mean latency of the smallest block size that was measured with one request in flight,
//! from the moment the program asked to the moment it saw the answer, system call included. It is the floor
//! below which no request of this program gets, and R₀ of every queue model.
//!
//! How it is worked out: the mean over the requests of each trial, then over trials on a logarithmic scale,
//! with the run's drift taken out (see `iosonde experiments queue-depth`). The mean is given rather than
//! the median, since Little's law and the knee hold for means; percentiles stand in the report beside it.
//!
//! Assumes: that a storage which answers one request at a time is at rest otherwise. A device that falls
//! asleep between requests, or a neighbour on the same host, makes it longer.
//!
//! Source: the zero-load latency of any queueing text, for example Kleinrock, Queueing Systems I (1975),
//! chapter 2.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{Conditions, Detail, Finding};

use super::{
    FindingKind, Proof, Told,
    group::{self, Writer},
};
use crate::words::Unit;

pub(crate) struct BaseLatency;

impl FindingKind for BaseLatency {
    fn id(&self) -> FindingName {
        FindingName::BaseLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize, ExperimentName::QueueDepth, ExperimentName::Latency]
    }

    fn told(&self) -> Told {
        Told::always("latency")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        let alone = |evidence: &&Evidence| evidence.point.spec.asked_in_flight() == 1;
        let groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            // The smallest block of this pattern that was measured alone.
            let like = points.iter().filter(alone).map(|other| &other.point.spec).filter(|s| s.rw == spec.rw);
            let smallest_bytes = like.map(|other| other.block_size_bytes).min()?;
            (alone(&evidence) && spec.block_size_bytes == smallest_bytes).then(|| Conditions {
                op: Some(op),
                random: Some(spec.rw.is_random()),
                block_size_bytes: Some(spec.block_size_bytes),
                queue_depth: Some(1),
                span_bytes: Some(spec.span_bytes),
                ..Conditions::default()
            })
        });
        let found =
            groups.iter().flat_map(|group| group.points.iter().map(move |evidence| (group, evidence)));
        found
            .map(|(group, evidence)| {
                let conditions = &group.conditions;
                match group::valid_latency(evidence, group.op) {
                    Ok(latency) => {
                        writer.concluded(conditions, &[evidence], latency.estimate(confidence), Detail::Plain)
                    }
                    Err(why) => writer.inconclusive(conditions, &[evidence], why),
                }
            })
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "base-latency"
summary = "80 us and a link: one request alone takes 5 + 80 + 4.1 us"
capacity = "64GiB"
[link]
bandwidth = "1GB/s"
latency = "5us"
[queue]
servers = 4
service = { fixed = "80us" }
[noise]
latency_cv = 0.05
"#,
            study: r#"
name = "base-latency"
question = "How long does a request take alone?"
time = "60s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = [1, 4]
"#,
            truths: &[
                (Some(89_096.0), "5 us link latency + 80 us service + 4,096 B / 1 GB/s = 4.096 us"),
                (Some(89_096.0), "writes pass the same parts"),
            ],
            widest: 0.01,
        }
    }
}

//! Single-request latency: how long one small request takes at QD 1.
//!
//! What it is: the mean latency of the smallest block size that was measured at QD 1. It runs from the moment when
//! the program made the request to the moment when it saw the answer, system call included. No request of this
//! program is faster on average; queue models call it R₀.
//!
//! How it is computed: the mean over the requests of each trial, then over trials on a logarithmic scale, without
//! the run's drift (see `iosonde experiments queue-depth`). The mean is given rather than the median, since
//! Little's law and the saturation point need means; the report has percentiles beside it.
//!
//! Assumes: that storage at QD 1 is otherwise idle. A device that falls asleep between requests, or a neighbour on
//! the same host, makes it longer.
//!
//! Source: the zero-load latency of any queueing text, for example Kleinrock, Queueing Systems I (1975), chapter 2.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{Conditions, Detail, ExperimentName, Finding, FindingName, Unit};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Writer},
};

pub(crate) struct BaseLatency;

impl FindingKind for BaseLatency {
    fn id(&self) -> FindingName {
        FindingName::BaseLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize, ExperimentName::QueueDepth, ExperimentName::Latency]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("latency")
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
summary = "80 us and a link: a single request takes 5 + 80 + 4.1 us"
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

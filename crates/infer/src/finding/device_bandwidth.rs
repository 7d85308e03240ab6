//! The most bytes per second that this storage gives, of what was measured.
//!
//! What it is: the highest rate of large requests with several in flight, over random and sequential ones,
//! for reads and for writes.
//!
//! How it is worked out: the largest of several estimates is too high, since it was chosen for being so.
//! The interval therefore ends, below, at the highest of lower ends that are made stricter by the number of
//! points (Bonferroni), and above at the highest upper end; that covers the true maximum whatever the
//! points' differences. The value is the weighted mean of the points that cannot be told from the top.
//!
//! Assumes: nothing about shapes. More in flight, or larger requests, might give more: the sentence says
//! what the best points had. Writes are counted when the storage acknowledges them; they may sit in a
//! buffer.
//!
//! Source: for the interval of a maximum, the union of one-sided bounds, as in R. G. Miller, Simultaneous
//! Statistical Inference (2nd edition, 1981), chapter 1.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::{Conditions, Detail, Finding, Inconclusive, detail::Highest};

use super::{
    FindingKind, Proof, Told, best,
    group::{self, Group, Writer},
};
use crate::words::Unit;

pub(crate) struct DeviceBandwidth;

impl FindingKind for DeviceBandwidth {
    fn id(&self) -> FindingName {
        FindingName::DeviceBandwidth
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::RandomVsSequential, ExperimentName::Spec]
    }

    fn told(&self) -> Told {
        Told::always("bandwidth")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Rate, confidence };
        let groups = group::groups(points, |op, evidence| {
            let span_bytes = Some(evidence.point.spec.span_bytes);
            Some(Conditions { op: Some(op), span_bytes, ..Conditions::default() })
        });
        groups.iter().map(|group| most(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "bandwidth"
summary = "a link of 1 GB/s before 16 servers that could do twice that"
capacity = "64GiB"
[link]
bandwidth = "1GB/s"
latency = "5us"
[queue]
servers = 16
service = { fixed = "2ms" }
[noise]
latency_cv = 0.05
"#,
            study: r#"
name = "bandwidth"
question = "How many bytes a second?"
time = "60s"
[[experiment]]
kind = "random-vs-sequential"
rw = ["read", "randread", "write", "randwrite"]
block_size = "1M"
depth = 16
"#,
            truths: &[
                (
                    Some(1e9),
                    "16 MiB in flight over 2 ms + 1.05 ms + 5 us would be 5.5 GB/s, 16 servers give 8.4 \
                     GB/s, the link 1",
                ),
                (Some(1e9), "writes pass the same parts"),
            ],
            widest: 0.01,
        }
    }
}

fn most(writer: &Writer, group: &Group) -> Finding {
    let mut rates = Vec::new();
    let mut standing = Vec::new();
    let mut invalid = Vec::new();
    for evidence in &group.points {
        match group::valid_rate(evidence, group.op, &[]) {
            Ok(mut rate) => {
                rate.log_mean += (evidence.point.spec.block_size_bytes as f64).ln();
                rates.push(rate);
                standing.push(*evidence);
            }
            Err(why) => invalid.push(why),
        }
    }
    let Some((estimate, top)) = best::highest(&rates, writer.confidence) else {
        let why = invalid.into_iter().next().unwrap_or(Inconclusive::NothingMeasured);
        return writer.inconclusive(&group.conditions, &group.points, why);
    };
    let best: Vec<_> = top.iter().map(|&place| standing[place]).collect();
    let conditions = Conditions {
        random: common(&best, |evidence| evidence.point.spec.rw.is_random()),
        block_size_bytes: common(&best, |evidence| evidence.point.spec.block_size_bytes),
        queue_depth: common(&best, |evidence| evidence.point.spec.queue_depth * evidence.point.spec.jobs),
        ..group.conditions.clone()
    };
    let depths = || best.iter().map(|evidence| evidence.point.spec.asked_in_flight());
    let queue_depths = [depths().min().unwrap_or(0), depths().max().unwrap_or(0)];
    let (points, imprecise_queue_depths) = (rates.len(), Vec::new());
    let facts = Highest { points, queue_depths, imprecise_queue_depths, invalid };
    writer.concluded(&conditions, &standing, estimate, Detail::Highest(facts))
}

/// What all points have in common, if they do.
fn common<T: PartialEq>(points: &[&Evidence], of: impl Fn(&Evidence) -> T) -> Option<T> {
    let mut values = points.iter().map(|evidence| of(evidence));
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

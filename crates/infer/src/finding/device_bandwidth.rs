//! The highest bandwidth of this storage that was measured.
//!
//! What it is: the highest throughput over all points of the run that have one direction, random and sequential, of
//! every block size and queue depth, for reads and for writes. The sentence names the points that it comes from.
//!
//! How it is computed: the largest of several estimates is too high, because it was selected for being the largest.
//! The lower end of the interval is therefore the highest of lower ends that are made stricter by the number of
//! points (Bonferroni), and the upper end is the highest upper end. This covers the true maximum whatever the
//! points' differences. The value is the weighted mean of the points whose own estimates lie within that interval.
//!
//! A point is left out, and named, if its interval contains all that the others give and is three times as wide, and
//! if a point of the same order takes part that asks for more: with larger requests and no shallower queue, or a
//! deeper queue and no smaller requests. These do not give less, so it is not the maximum by itself. More bytes
//! outstanding in smaller requests do not always give more (on some disks 4 MiB alone beat eight times 1 MiB); a point
//! with fewer bytes is left out only where its own estimate is not higher either, by more than a standard error.
//!
//! Assumes: little about shapes. Deeper queues, or larger requests, might give more: the sentence says what the
//! best points had. Writes count when the storage acknowledges them; they may still be in a buffer.
//!
//! Source: for the interval of a maximum, the union of one-sided bounds, as in R. G. Miller, Simultaneous
//! Statistical Inference (2nd edition, 1981), chapter 1.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, TrialSpec, Unit, detail::Highest,
};

use super::{
    FindingKind, Proof, ScreenLine, best,
    group::{self, Group, Writer},
};

pub(crate) struct DeviceBandwidth;

impl FindingKind for DeviceBandwidth {
    fn id(&self) -> FindingName {
        FindingName::DeviceBandwidth
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::RandomVsSequential, ExperimentName::Spec]
    }

    fn looks_at_the_run(&self) -> bool {
        true
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("bandwidth")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Rate, confidence };
        // A requested rate is not the device's maximum.
        let groups = group::groups(points, |op, evidence| {
            let loaded = evidence.point.spec.rate_iops.is_none();
            loaded.then(|| Conditions { op: Some(op), ..Conditions::default() })
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
                    "16 outstanding MiB over 2 ms + 1.05 ms + 5 us would be 5.5 GB/s, 16 servers give 8.4 \
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
    let may_go = |place: usize| {
        let own = standing[place];
        let more_bytes = |other: usize| {
            let least = rates[place].log_mean - rates[place].standard_error;
            asks_for_more_bytes(standing[other], own) && rates[other].log_mean >= least
        };
        (0..standing.len()).any(|other| asks_for_more(standing[other], own) || more_bytes(other))
    };
    let taking_part = best::without_ignorance(&rates, writer.confidence, may_go);
    let left_out = (0..rates.len()).filter(|place| !taking_part.contains(place));
    let imprecise = left_out.map(|place| best::size_and_depth(standing[place])).collect();
    let rates: Vec<_> = taking_part.iter().map(|&place| rates[place]).collect();
    let standing: Vec<_> = taking_part.iter().map(|&place| standing[place]).collect();
    let Some((estimate, top)) = best::highest(&rates, writer.confidence) else {
        let why = invalid.into_iter().next().unwrap_or(Inconclusive::NothingMeasured);
        return writer.inconclusive(&group.conditions, &group.points, why);
    };
    let best: Vec<_> = top.iter().map(|&place| standing[place]).collect();
    let conditions = Conditions {
        random: common(&best, |evidence| evidence.point.spec.rw.is_random()),
        block_size_bytes: common(&best, |evidence| evidence.point.spec.block_size_bytes),
        queue_depth: common(&best, |evidence| evidence.point.spec.queue_depth * evidence.point.spec.jobs),
        span_bytes: common(&best, |evidence| evidence.point.spec.span_bytes),
        ..group.conditions.clone()
    };
    let facts = Highest { imprecise, invalid, ..best::facts(rates.len(), &best) };
    writer.concluded(&conditions, &standing, estimate, Detail::Highest(facts))
}

/// Whether a point is another one with larger requests or a deeper queue.
fn asks_for_more(point: &Evidence, than: &Evidence) -> bool {
    let (own, other) = (&point.point.spec, &than.point.spec);
    let of = |spec: &TrialSpec| (spec.block_size_bytes, spec.asked_in_flight());
    let ((own_bytes, own_depth), (bytes, depth)) = (of(own), of(other));
    own.rw == other.rw && own_bytes >= bytes && own_depth >= depth && of(own) != of(other)
}

/// Whether a point is another one with at least as many bytes outstanding.
fn asks_for_more_bytes(point: &Evidence, than: &Evidence) -> bool {
    let (own, other) = (&point.point.spec, &than.point.spec);
    let bytes = |spec: &TrialSpec| spec.block_size_bytes * spec.asked_in_flight();
    own.rw == other.rw && own != other && bytes(own) >= bytes(other)
}

/// What all points have in common, if they do.
fn common<T: PartialEq>(points: &[&Evidence], of: impl Fn(&Evidence) -> T) -> Option<T> {
    let mut values = points.iter().map(|evidence| of(evidence));
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

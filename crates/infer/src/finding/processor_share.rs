//! The share of time in which the program and the kernel worked, rather than waited for storage.
//!
//! What it is: processor time of the busiest worker over elapsed time, at the largest block size that was measured.
//! 1 means no waiting at all. It includes system calls, copying between the program and the page cache, and the
//! program's own loop. It excludes time in which a device or a kernel thread worked.
//!
//! How it is computed: the share of each trial, then the geometric mean over trials with Student's interval; trials
//! are a round apart and are treated as independent. Trials that memory served count, whatever else is invalid of them;
//! those that are invalid about everything, as with failed requests, do not.
//!
//! Why the largest block size: there the cost of the calls is smallest, so that the rest is copying. A share near 1
//! even there means that the program and the memory determine the whole curve, whatever medium lies below.
//!
//! Assumes: that the kernel's accounting of processor time is right, which it is to a tick or better.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, Trial, Unit,
    detail::{Bottleneck, ProcessorShare as Facts},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Group, Writer},
    over_trials,
};

/// From here on the processor and nothing else sets the pace.
const BUSY: f64 = 0.9;
/// Up to here the processor sets it nowhere.
const IDLE: f64 = 0.5;

pub(crate) struct ProcessorShare;

impl FindingKind for ProcessorShare {
    fn id(&self) -> FindingName {
        FindingName::ProcessorShare
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Media]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::folded("processor")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        let groups = group::groups(points, |op, evidence| {
            let random = Some(evidence.point.spec.rw.is_random());
            Some(Conditions { op: Some(op), random, ..Conditions::default() })
        });
        groups.iter().map(|group| one(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "busy-program"
summary = "a program that works 20 us for each request, and a server that takes 80"
capacity = "1GiB"
[host]
request_cost = "20us"
[queue]
servers = 1
service = { fixed = "80us" }
"#,
            study: r#"
name = "shares"
question = "Who is at work?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "media"
rw = "read"
block_size = ["4k", "64k"]
"#,
            truths: &[(Some(0.2), "20 us of every 100")],
            widest: 0.02,
        }
    }
}

/// What memory served is just what this is about; a request that failed took no time.
fn counted<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Trial> {
    evidence.with(|void| void != Some(About::All)).filter(|trial| trial.measured_s > 0.0)
}

fn shares(evidence: &Evidence) -> Vec<f64> {
    counted(evidence).filter_map(|trial| trial.busy_share).map(|share| share.min(1.0)).collect()
}

fn one(writer: &Writer, group: &Group) -> Finding {
    let size = |evidence: &&&Evidence| evidence.point.spec.block_size_bytes;
    let (Some(largest), Some(smallest)) =
        (group.points.iter().max_by_key(size), group.points.iter().min_by_key(size))
    else {
        return writer.inconclusive(&group.conditions, &group.points, Inconclusive::NothingMeasured);
    };
    let conditions = Conditions {
        block_size_bytes: Some(largest.point.spec.block_size_bytes),
        ..group.conditions.clone()
    };
    let Some(estimate) = over_trials::mean(&shares(largest), writer.confidence) else {
        return writer.inconclusive(&conditions, &[largest], Inconclusive::NoCpuTime);
    };
    let pace = match (estimate.low, estimate.high) {
        (Some(low), _) if low > BUSY => Bottleneck::Cpu,
        (_, Some(high)) if high < IDLE => Bottleneck::Waiting,
        _ => Bottleneck::Both,
    };
    let small = shares(smallest);
    let facts = Facts {
        pace,
        smallest_block_size_bytes: smallest.point.spec.block_size_bytes,
        share_at_smallest: small.iter().sum::<f64>() / small.len().max(1) as f64,
    };
    let mut finding = writer.concluded(&conditions, &[largest], estimate, Detail::ProcessorShare(facts));
    finding.trials = counted(largest).map(|trial| trial.id).collect();
    finding
}

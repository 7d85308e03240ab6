//! How long a checkpoint takes to save, and to read back.
//!
//! What it is: the time in which 8 writers at once save 105 GB, the state of a model of 8 billion parameters, durably;
//! for reads, the time to read it back while nothing of it is in memory (`iosonde experiments checkpoint` names the
//! source).
//!
//! How it is worked out: each trial saves, or reads, smaller files from their beginning to their end, and takes as long
//! as its slowest writer. Its time is multiplied by 105 GB over its own bytes; then the geometric mean over trials with
//! Student's interval. The report says how many bytes were measured.
//!
//! Inconclusive where trials were cut short, so that files remained unfinished.
//!
//! Assumes: throughput stays what it was for the files that were measured. A write buffer that holds them, a burst
//! credit or heat make longer saves slower; `--size` measures larger files.
//!
//! What it is not: the time that training stands still. Many programs copy the state to memory and save it beside the
//! training.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, Op, Trial, TrialSpec,
    Unit,
    detail::{CheckpointSaved, Lack},
    training::CHECKPOINTS,
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Writer},
    over_trials,
};

pub(crate) struct CheckpointTime;

impl FindingKind for CheckpointTime {
    fn id(&self) -> FindingName {
        FindingName::CheckpointTime
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Checkpoint]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::each("checkpoint")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        points.iter().filter_map(|evidence| one(&writer, evidence)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::WholeFiles)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "buffered-flash"
summary = "a link of 1 GB/s, and a write buffer drained at 480 MB/s that a flush writes out"
capacity = "64GiB"
[link]
bandwidth = "1GB/s"
latency = "20us"
[flash]
units = 32
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 65536
placement = "static"
write_buffer = { size = "64MiB", latency = "12us", drain = "480MB/s", flush = "1ms" }
[noise]
latency_cv = 0.02
rate_cv_100ms = 0.02
lag1_100ms = 0.5
"#,
            study: r#"
name = "checkpoint"
question = "How long?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "checkpoint"
"#,
            truths: &[
                (
                    Some(219.32e9),
                    "4.2 ms until the first request has arrived, 1 GiB at 480 MB/s = 2.2370 s, 600 us for the last \
                     page and 1 ms for the flush: 2.2428 s, times 105 GB / 1 GiB = 97.79",
                ),
                (
                    Some(105.05e9),
                    "480 us for the first request's 8 pages of each unit, 1 GiB at 1 GB/s = 1.0737 s; times 97.79",
                ),
            ],
            widest: 0.03,
        }
    }
}

/// `None` for anything but whole files.
fn one(writer: &Writer, evidence: &Evidence) -> Option<Finding> {
    let spec = &evidence.point.spec;
    let op = group::only_direction(spec.rw)?;
    let conditions = Conditions {
        op: Some(op),
        random: Some(false),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        ..Conditions::default()
    };
    if let Err(why) = group::valid(evidence, &[About::Rate]) {
        return Some(writer.inconclusive(&conditions, &[evidence], why));
    }
    let (measured_bytes, of) = (bytes_of_all(spec), CHECKPOINTS[0]);
    let scale = of.bytes as f64 / measured_bytes as f64;
    let times = over_trials::of(evidence, About::Rate, |trial| {
        is_whole(trial, spec, op).then_some(1e9 * trial.elapsed_s * scale)
    });
    if times.is_empty() {
        let why = Inconclusive::CheckpointCutShort { bytes: measured_bytes };
        return Some(writer.inconclusive(&conditions, &[evidence], why));
    }
    Some(match over_trials::valid_mean(&times, writer.confidence) {
        Ok(estimate) => {
            let bytes_per_s = of.bytes as f64 / (estimate.value / 1e9);
            let (writers, trials) = (spec.jobs, times.len());
            let facts = CheckpointSaved { of, writers, measured_bytes, bytes_per_s, trials };
            writer.concluded(&conditions, &[evidence], estimate, Detail::CheckpointSaved(facts))
        }
        Err(why) => writer.inconclusive(&conditions, &[evidence], why),
    })
}

/// Bytes of all files of a trial.
fn bytes_of_all(spec: &TrialSpec) -> u64 {
    let files = if spec.ranges == iosonde_model::Ranges::Disjoint { 1 } else { u64::from(spec.jobs) };
    spec.span_bytes * files
}

/// Whether a trial came to the end of all its files, and of their flushes.
fn is_whole(trial: &Trial, spec: &TrialSpec, op: Op) -> bool {
    let moved_bytes = trial.direction(op).map_or(0, |direction| direction.bytes);
    let flushed = trial.flush.as_ref().map_or(0, |flush| flush.ios);
    let is_flushed = spec.sync.flush_every().is_none() || flushed >= u64::from(spec.jobs);
    moved_bytes == bytes_of_all(spec) && is_flushed
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Files, Flush, Ranges, Rw, Sync};
    use iosonde_testkit::specimen;

    use super::*;

    #[test]
    fn a_trial_counts_when_each_file_is_whole_and_flushed() {
        let save = TrialSpec {
            rw: Rw::Write,
            block_size_bytes: 1 << 20,
            jobs: 4,
            span_bytes: 8 << 20,
            files: Files::New,
            sync: Sync::Fsync { every: 8 },
            ..TrialSpec::default()
        };
        assert_eq!(bytes_of_all(&save), 32 << 20);
        let disjoint = TrialSpec { ranges: Ranges::Disjoint, ..save.clone() };
        assert_eq!(bytes_of_all(&disjoint), 8 << 20);
        let mut trial = specimen::healthy(Rw::Write, 1 << 20, 1, 32);
        trial.write = Some(specimen::direction(32, 1 << 20, 1_000_000));
        assert!(!is_whole(&trial, &save, Op::Write), "no flush");
        let flushes = specimen::direction(4, 1, 1_000_000);
        let (latency_ns, histogram) = (flushes.latency_ns, flushes.histogram);
        trial.flush = Some(Flush { ios: 4, errors: 0, latency_ns, histogram, commit: None });
        assert!(is_whole(&trial, &save, Op::Write));
        trial.write = Some(specimen::direction(31, 1 << 20, 1_000_000));
        assert!(!is_whole(&trial, &save, Op::Write), "a file that ends early");
    }
}

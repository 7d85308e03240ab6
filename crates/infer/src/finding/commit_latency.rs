//! How long a database's commit waits: its writes and the flush that makes them durable, one client alone.
//!
//! What it is: the mean time from the first write of a commit to the end of its flush (`fsync:N`, `fdatasync:N` after
//! N writes), or the time of a write that is durable by itself (`dsync`), at queue depth 1.
//!
//! How it is worked out: the mean over a trial's commits, each timed from its first write to the end of its flush; then
//! the geometric mean over trials with Student's interval. p99 and p99.9 are those of the trials' merged histograms.
//! Other tools give writes and flushes alone: N times the mean write plus the mean flush, and no percentiles. Trials
//! lie a round apart and are taken as independent.
//!
//! Assumes: that the storage tells the truth about what is kept; that the client sends its next write at once.
//!
//! Traps: `base_latency` of buffered writes is a copy into memory, without the flush that a commit waits for. With
//! several clients a group commit shares a flush, and each client waits longer than this.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{About, Detail, ExperimentName, Finding, FindingName, Sync, Trial, Unit, detail::Commit};

use super::{
    FindingKind, Proof, ScreenLine, durable,
    group::{self, Writer},
    over_trials,
};

pub(crate) struct CommitLatency;

impl FindingKind for CommitLatency {
    fn id(&self) -> FindingName {
        FindingName::CommitLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Latency, ExperimentName::Requirement]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("commit")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        points.iter().filter_map(|evidence| one(&writer, evidence)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(
                Some(1_600_000.0),
                "12 us into the buffer; its page is programmed 600 us after it came, and the flush ends 1 ms later",
            )],
            ..durable::PROOF
        }
    }
}

/// `None` where no write becomes durable, or where writes overlap: what one commit waits for is then not their sum.
fn one(writer: &Writer, evidence: &Evidence) -> Option<Finding> {
    let spec = &evidence.point.spec;
    if spec.sync == Sync::None || spec.sync.at_end() || spec.rw.reads() || spec.asked_in_flight() != 1 {
        return None;
    }
    let conditions = durable::conditions(spec);
    if let Err(why) = group::valid(evidence, &[About::Latency]) {
        return Some(writer.inconclusive(&conditions, &[evidence], why));
    }
    let commits = over_trials::of(evidence, About::Latency, |trial| commit_ns(trial, spec.sync));
    let flushes = over_trials::of(evidence, About::Latency, flush_ns);
    Some(match over_trials::valid_mean(&commits, writer.confidence) {
        Ok(estimate) => {
            let flush_ns = over_trials::mean(&flushes, writer.confidence).map(|mean| mean.value);
            let tail = evidence.point.commit.as_ref();
            let p99_ns = tail.and_then(|commits| commits.latency_ns_p99);
            let p99_9_ns = tail.and_then(|commits| commits.latency_ns_p99_9);
            let commit = Commit { sync: spec.sync, flush_ns, p99_ns, p99_9_ns, trials: commits.len() };
            writer.concluded(&conditions, &[evidence], estimate, Detail::Commit(commit))
        }
        Err(why) => writer.inconclusive(&conditions, &[evidence], why),
    })
}

/// The mean over a trial's commits. Other tools give the means of writes and flushes alone.
fn commit_ns(trial: &Trial, sync: Sync) -> Option<f64> {
    if let Some(commits) = trial.flush.as_ref().and_then(|flush| flush.commit.as_ref()) {
        return commits.latency_ns.mean;
    }
    let write_ns = trial.write.as_ref()?.latency_ns.mean?;
    match sync.flush_every() {
        Some(writes) => Some(f64::from(writes) * write_ns + flush_ns(trial)?),
        None => Some(write_ns),
    }
}

fn flush_ns(trial: &Trial) -> Option<f64> {
    trial.flush.as_ref()?.latency_ns.mean
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Flush, Rw};
    use iosonde_testkit::specimen;

    use super::*;

    /// Writes of 50 us at queue depth 1, and flushes of 200 us.
    fn trial() -> Trial {
        let mut trial = specimen::healthy(Rw::Write, 4096, 1, 20_000);
        let flush = specimen::direction(1000, 4096, 200_000);
        trial.flush = Some(Flush {
            ios: 1000,
            errors: 0,
            latency_ns: flush.latency_ns,
            histogram: flush.histogram,
            commit: None,
        });
        trial
    }

    #[test]
    fn a_commit_is_its_writes_and_their_flush() {
        let mean_ns = |sync: &str| commit_ns(&trial(), sync.parse().unwrap()).unwrap().round();
        assert_eq!(mean_ns("fdatasync:1"), 250_000.0);
        assert_eq!(mean_ns("fsync:8"), 600_000.0);
        assert_eq!(mean_ns("dsync"), 50_000.0);
    }

    #[test]
    fn a_trial_without_flushes_has_no_commit() {
        let none = Trial { flush: None, ..trial() };
        assert_eq!(commit_ns(&none, Sync::Fsync { every: 1 }), None);
    }
}

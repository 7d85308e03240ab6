//! Estimates of points as named figures, for formats of other programs.

use std::collections::BTreeMap;

use iosonde_model::{About, Estimate, Judgement, Op, Outcome, Point, Run};

/// Returns true if at least one trial of a point counts, as what a program gets or of the storage.
pub(super) fn is_counted(point: &Point) -> bool {
    point.trials > point.left_out
}

/// Returns true if a trial of a point that counts is about the storage, and not what memory or the program gave.
pub(super) fn is_of_storage(run: &Run, point: &Point) -> bool {
    let void = |id: &u64| invalid(run, *id).any(|line| line.about.touches(About::Device));
    // A run that was kept without its trials has no ids to look at.
    let all_void = !point.trial_ids.is_empty() && point.trial_ids.iter().all(void);
    is_counted(point) && !all_void
}

/// What of a trial is invalid, for a cell: `device`, `rate latency`; empty where nothing is.
pub(super) fn void_about(run: &Run, trial: u64) -> String {
    let mut about: Vec<String> =
        invalid(run, trial).map(|line| format!("{:?}", line.about).to_lowercase()).collect();
    about.sort_unstable();
    about.dedup();
    about.join(" ")
}

fn invalid(run: &Run, trial: u64) -> impl Iterator<Item = &Judgement> {
    run.verdicts.iter().filter(move |line| line.verdict == Outcome::Invalid && line.trial == Some(trial))
}

/// Estimates of one direction, by the names of the JSON document.
pub(super) fn estimates(point: &Point, op: Op) -> Vec<(&'static str, Estimate)> {
    let Some(side) = point.direction(op) else { return Vec::new() };
    let timed = [
        ("latency_ns_mean", side.latency_ns_mean),
        ("latency_ns_p50", side.latency_ns_p50),
        ("latency_ns_p99", side.latency_ns_p99),
        ("latency_ns_p99_9", side.latency_ns_p99_9),
    ];
    // A program that flushes waits for the commit, not for its write alone.
    let commit = point.commit.as_ref().filter(|_| op == Op::Write);
    let committed = commit.into_iter().flat_map(|commit| {
        [
            ("commit_latency_ns_mean", commit.latency_ns_mean),
            ("commit_latency_ns_p50", commit.latency_ns_p50),
            ("commit_latency_ns_p99", commit.latency_ns_p99),
            ("commit_latency_ns_p99_9", commit.latency_ns_p99_9),
        ]
    });
    let timed = timed.into_iter().chain(committed).filter_map(|(name, estimate)| Some((name, estimate?)));
    [("iops", side.iops), ("bytes_per_s", side.bytes_per_s)].into_iter().chain(timed).collect()
}

/// Name of a point's direction, one of its own in the run: `queue-depth: 4 KiB random reads, QD 4, read`. One that is
/// not of the storage ends with `(not of the storage)`.
pub(super) fn name(run: &Run, point: &Point, op: Op) -> String {
    let own = |point: &Point| format!("{}: {}", point.experiment, point.spec.describe());
    let mut count = BTreeMap::new();
    for other in &run.points {
        *count.entry(own(other)).or_insert(0_u32) += 1;
    }
    // Spans and engines are not in the words.
    let twin = count.get(&own(point)).is_some_and(|count| *count > 1);
    let which = if twin { format!(" (point {})", point.id) } else { String::new() };
    let of_memory = if is_of_storage(run, point) { "" } else { " (not of the storage)" };
    format!("{}{which}, {op}{of_memory}", own(point))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use iosonde_model::{PointDirection, TrialSpec};

    /// Two points, of which the first has intervals.
    pub(crate) fn measured() -> Run {
        let mut run = crate::run_file::tests::imported();
        let point = |id, low, high| {
            let spec =
                TrialSpec { queue_depth: 4, span_bytes: (id as u64 + 1) << 30, ..TrialSpec::default() };
            let mut point =
                Point::planned(id, "queue-depth", TrialSpec { block_size_bytes: 4096 << id, ..spec });
            let iops = Estimate { value: 1000.0, low, high };
            (point.trials, point.left_out) = (5, 1);
            point.read = Some(PointDirection {
                iops,
                bytes_per_s: Estimate { value: 4.096e6, low: None, high: None },
                latency_ns_mean: Some(Estimate { value: 4e6, low: Some(3.9e6), high: Some(4.1e6) }),
                latency_ns_p50: None,
                latency_ns_p99: Some(Estimate { value: 9e6, low: None, high: None }),
                latency_ns_p99_9: None,
                levels: Vec::new(),
            });
            point
        };
        run.points = vec![point(0, Some(950.0), Some(1060.0)), point(1, None, None)];
        run
    }

    #[test]
    fn points_that_read_alike_have_names_of_their_own() {
        let mut run = measured();
        run.points[1].spec.block_size_bytes = 4096;
        let names: Vec<String> = run.points.iter().map(|point| name(&run, point, Op::Read)).collect();
        assert_eq!(names[1], "queue-depth: 4 KiB random reads, QD 4 (point 1), read");
        assert_ne!(names[0], names[1]);
    }
}

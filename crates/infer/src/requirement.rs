//! A run against a documented requirement: every limit kept, broken, or neither.
//!
//! A limit is kept where the figure's whole interval keeps it, and broken where all of it lies beyond. What lies
//! between is *inconclusive*, and so is every limit whose trials are invalid: an answer from them could be either. For
//! a percentile this is a test of the share of requests over the limit, with trials as units (see
//! [`iosonde_stats::clustered_share`]): one stall in a minute is neither ignored nor decisive.
//!
//! Each limit has the run's confidence: a figure that lies exactly at its limit is called kept in 2.5 % of the runs,
//! and broken in 2.5 %.

use iosonde_judge::{
    estimate::{FEWEST_TRIALS, Voids, percentile},
    standing,
};
use iosonde_model::{
    About, CheckName, ClaimUnit, Estimate, Histogram, Judgement, Op, Outcome, Phase, Point, RequiredBound,
    RequiredLimit, RequiredOf, Requirement, RequirementAnswer, RequirementLine, RequirementUnsettled,
    RequirementVerdict, Run, Study, Trial,
};

use crate::finding::over_trials;

macro_rules! requirements {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../requirements/", $name, ".toml")))),+]
    };
}

/// Name and text of each requirement that comes with the program. A new one is a file and its name here.
pub const REQUIREMENTS: &[(&str, &str)] = requirements![
    "etcd",
    "openshift-etcd",
    "openshift-etcd-heavy",
    "satellite",
    "android-storage",
    "sd-card-a1",
];

/// The requirement that a run checked, held against it; `None` of other runs.
pub fn checked(run: &Run) -> Option<(Requirement, Vec<RequirementLine>)> {
    let requirement = Study::parse(&run.info.study_source, &run.info.study).ok()?.requirement?;
    let lines = lines(run, &requirement);
    Some((requirement, lines))
}

/// Every requirement that a run answers: the one that it checked, else those that it measured beside its question.
pub fn answers(run: &Run) -> Vec<RequirementAnswer> {
    let held = checked(run).map_or_else(|| measured_beside(run), |own| vec![own]);
    let answer = |(requirement, lines): (Requirement, Vec<RequirementLine>)| RequirementAnswer {
        name: requirement.name,
        verdict: verdict(&lines),
        lines,
    };
    held.into_iter().map(answer).collect()
}

/// The requirements that come with the program and whose workloads this run measured, beside any other question.
pub fn measured_beside(run: &Run) -> Vec<(Requirement, Vec<RequirementLine>)> {
    let known = REQUIREMENTS.iter().filter_map(|(name, text)| Requirement::parse(text, name).ok());
    let measured = |limit: &RequiredLimit| run.points.iter().any(|point| limit.workload.is_of(&point.spec));
    let fitting = known.filter(|requirement| requirement.limits.iter().all(measured));
    fitting.map(|requirement| (requirement.clone(), lines(run, &requirement))).collect()
}

/// Every limit of a requirement.
pub fn lines(run: &Run, requirement: &Requirement) -> Vec<RequirementLine> {
    let voids = standing::voids(run);
    requirement.limits.iter().map(|limit| line(run, limit, &voids)).collect()
}

/// What the limits come to: one that is broken decides, and all must be kept.
pub fn verdict(lines: &[RequirementLine]) -> RequirementVerdict {
    let any = |verdict| lines.iter().any(|line| line.verdict == verdict);
    if any(RequirementVerdict::Fail) {
        RequirementVerdict::Fail
    } else if lines.is_empty() || any(RequirementVerdict::Inconclusive) {
        RequirementVerdict::Inconclusive
    } else {
        RequirementVerdict::Pass
    }
}

/// The point that a limit is about. A study may measure one workload with direct and with buffered I/O: the one
/// with the most valid trials.
pub fn point_of<'a>(run: &'a Run, limit: &RequiredLimit) -> Option<&'a Point> {
    let own = run.points.iter().filter(|point| limit.workload.is_of(&point.spec));
    own.min_by_key(|point| std::cmp::Reverse(point.trials.saturating_sub(point.invalid)))
}

fn line(run: &Run, limit: &RequiredLimit, voids: &Voids) -> RequirementLine {
    let nothing = RequirementLine {
        limit: limit.clone(),
        measured: None,
        low: None,
        high: None,
        count: 0,
        trials: 0,
        verdict: RequirementVerdict::Inconclusive,
        why: Some(RequirementUnsettled::NotMeasured),
    };
    let Some(point) = point_of(run, limit) else {
        return nothing;
    };
    let own = || run.trials.iter().filter(|trial| is_of(trial, point));
    let valid: Vec<&Trial> = own().filter(|trial| !voids.contains_key(&trial.id)).collect();
    let Some((estimate, count)) = figure(limit, point, &valid, standing::confidence(run)) else {
        let why = why_invalid(run, point, own().count(), valid.len());
        return RequirementLine { why: why.or(nothing.why.clone()), ..nothing };
    };
    let told = RequirementLine {
        measured: Some(estimate.value),
        low: estimate.low,
        high: estimate.high,
        count,
        trials: valid.len(),
        ..nothing
    };
    if let Some(why) = why_invalid(run, point, own().count(), valid.len()) {
        return RequirementLine { why: Some(why), ..told };
    }
    let verdict = against(&estimate, limit.bound);
    let why = (verdict == RequirementVerdict::Inconclusive)
        .then(|| RequirementUnsettled::Wide { times: times(&estimate, limit.bound) });
    RequirementLine { verdict, why, ..told }
}

fn is_of(trial: &Trial, point: &Point) -> bool {
    trial.phase == Phase::Measure && trial.point == Some(point.id)
}

/// The figure of a limit, and how many requests, flushes or commits it is from.
fn figure(
    limit: &RequiredLimit,
    point: &Point,
    valid: &[&Trial],
    confidence: f64,
) -> Option<(Estimate, u64)> {
    let own: Vec<&Histogram> = valid.iter().filter_map(|trial| latencies(trial, limit.of)).collect();
    let count = own.iter().map(|histogram| histogram.total()).sum();
    let estimate = match limit.bound {
        RequiredBound::Below(latency) => match latency.quantile {
            Some(q) => percentile::one_sided(&own, q, confidence, point.spec.asked_in_flight() as f64),
            None => {
                let means: Vec<f64> = own.iter().filter_map(|histogram| histogram.mean_ns()).collect();
                over_trials::mean(&means, confidence)
            }
        },
        RequiredBound::AtLeast { unit, .. } => {
            let op = if limit.of == RequiredOf::Read { Op::Read } else { Op::Write };
            let direction = point.direction(op)?;
            let of = |iops: Estimate, bytes_per_s: Estimate| match unit {
                ClaimUnit::Iops => iops,
                ClaimUnit::BytesPerSecond => bytes_per_s,
            };
            // Two levels have no common mean: the interval holds both.
            let whole = over_trials::grained(of(direction.iops, direction.bytes_per_s));
            let levels = direction.levels.iter().map(|level| of(level.iops, level.bytes_per_s));
            Some(levels.fold(whole, |all, level| Estimate {
                low: Some(f64::min(all.low.unwrap_or(all.value), level.low.unwrap_or(level.value))),
                high: Some(f64::max(all.high.unwrap_or(all.value), level.high.unwrap_or(level.value))),
                ..all
            }))
        }
    };
    estimate.map(|estimate| (estimate, count))
}

fn latencies(trial: &Trial, of: RequiredOf) -> Option<&Histogram> {
    match of {
        RequiredOf::Read => trial.direction(Op::Read).map(|direction| &direction.histogram),
        RequiredOf::Write => trial.direction(Op::Write).map(|direction| &direction.histogram),
        RequiredOf::Flush => trial.flushes(),
        RequiredOf::Commit => trial.commits(),
    }
}

/// Why no answer may rest on these trials; `None` where one may.
fn why_invalid(run: &Run, point: &Point, trials: usize, valid: usize) -> Option<RequirementUnsettled> {
    let own = || run.trials.iter().filter(|trial| is_of(trial, point));
    let errors: u64 = own().map(Trial::errors).sum();
    if errors > 0 {
        return Some(RequirementUnsettled::Errors { errors });
    }
    let of_all = |judged: &&Judgement| {
        let here = judged.scope == "run" || (judged.scope == "point" && judged.point == Some(point.id));
        here && judged.verdict == Outcome::Invalid && judged.about != About::Depth
    };
    if let Some(judged) = run.verdicts.iter().find(of_all) {
        return Some(RequirementUnsettled::InvalidRun { check: judged.check });
    }
    let check = usual_check(run, point);
    if valid < FEWEST_TRIALS {
        return Some(RequirementUnsettled::FewValid { trials, valid, needed: FEWEST_TRIALS, check });
    }
    (2 * valid <= trials).then_some(RequirementUnsettled::MostInvalid { trials, valid, check })
}

/// The check that most of a point's invalid trials failed.
fn usual_check(run: &Run, point: &Point) -> Option<CheckName> {
    let invalid = run.verdicts.iter().filter(|judged| {
        judged.verdict == Outcome::Invalid && judged.trial.is_some_and(|id| point.trial_ids.contains(&id))
    });
    let mut counts: Vec<(CheckName, usize)> = Vec::new();
    for judged in invalid {
        match counts.iter_mut().find(|(check, _)| *check == judged.check) {
            Some((_, count)) => *count += 1,
            None => counts.push((judged.check, 1)),
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(check, _)| check)
}

fn against(estimate: &Estimate, bound: RequiredBound) -> RequirementVerdict {
    let (kept, broken) = match bound {
        RequiredBound::Below(limit) => {
            let limit_ns = limit.ns as f64;
            // The upper end is the last value that is possible: at the limit it breaks "below".
            (
                estimate.high.is_some_and(|high| high < limit_ns),
                estimate.low.is_some_and(|low| low >= limit_ns),
            )
        }
        RequiredBound::AtLeast { value, .. } => {
            (estimate.low.is_some_and(|low| low >= value), estimate.high.is_some_and(|high| high < value))
        }
    };
    match (kept, broken) {
        (true, _) => RequirementVerdict::Pass,
        (_, true) => RequirementVerdict::Fail,
        _ => RequirementVerdict::Inconclusive,
    }
}

/// More time than this is no advice.
const TIMES_MAX: f64 = 60.0;

/// Factor by which the time has to grow until the interval leaves the limit out, if the value stays: its width falls
/// with the root of the time.
fn times(estimate: &Estimate, bound: RequiredBound) -> Option<f64> {
    let limit = match bound {
        RequiredBound::Below(limit) => limit.ns as f64,
        RequiredBound::AtLeast { value, .. } => value,
    };
    let end = if estimate.value < limit { estimate.high? } else { estimate.low? };
    let (distance, half) = ((limit / estimate.value).ln(), (end / estimate.value).ln());
    let times = (half / distance).powi(2).max(2.0);
    (times.is_finite() && times <= TIMES_MAX).then_some(times)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{LatencySummary, Rw};
    use iosonde_testkit::specimen;

    use super::*;

    fn requirement(below: &str) -> Requirement {
        let text = format!(
            "name = 'x'\nsummary = ''\nwhy = ''\nsource = 'a test'\nsource_date = '2026'\n[[limit]]\nof = 'commit'\n\
             below = '{below}'\nrw = 'write'\nblock_size = '4k'\nsync = 'dsync'\n"
        );
        Requirement::parse(&text, "x").unwrap()
    }

    /// Trials of one second with 1000 commits, of which as many as said took 12 ms, and the others the rest.
    fn run(slow: &[u64]) -> Run {
        let trial = |at: usize, slow: u64| {
            let mut trial = specimen::healthy(Rw::Write, 4096, 1, 1000);
            let mut histogram = Histogram::new();
            (0..1000 - slow)
                .for_each(|_| histogram.record((1_000_000_000 - slow * 12_000_000) / (1000 - slow)));
            (0..slow).for_each(|_| histogram.record(12_000_000));
            trial.spec.sync = "dsync".parse().unwrap();
            let write = trial.write.as_mut().unwrap();
            (write.latency_ns, write.histogram) = (LatencySummary::of(&histogram), histogram);
            (trial.id, trial.point, trial.round) = (at as u64 + 1, Some(0), at as u32 + 1);
            trial
        };
        let trials: Vec<Trial> = slow.iter().enumerate().map(|(at, &slow)| trial(at, slow)).collect();
        let mut run = specimen::run(trials[0].clone());
        run.points = vec![Point::planned(0, "requirement", trials[0].spec.clone())];
        run.points[0].trial_ids = trials.iter().map(|trial| trial.id).collect();
        run.trials = trials;
        run
    }

    fn of(slow: &[u64]) -> RequirementLine {
        lines(&run(slow), &requirement("p99=10ms")).remove(0)
    }

    #[test]
    fn a_share_of_slow_commits_decides_what_its_interval_decides() {
        // 2 % of 40,000 are slow: more than 1 %, with any confidence. 0.5 %: less.
        let broken = of(&[20; 40]);
        assert_eq!(broken.verdict, RequirementVerdict::Fail, "{broken:?}");
        let kept = of(&[5; 40]);
        assert_eq!((kept.verdict, kept.count, kept.trials), (RequirementVerdict::Pass, 40_000, 40));
        // The same 0.8 % in all trials, and in four bursts.
        assert_eq!(of(&[8; 40]).verdict, RequirementVerdict::Pass);
        let mut bursts = [0; 40];
        [3, 11, 12, 30].into_iter().for_each(|at| bursts[at] = 80);
        let burst = of(&bursts);
        assert_eq!(burst.verdict, RequirementVerdict::Inconclusive);
        assert!(matches!(burst.why, Some(RequirementUnsettled::Wide { .. })), "{burst:?}");
    }

    #[test]
    fn the_list_is_the_folder_and_every_requirement_is_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../requirements");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<String> =
            files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        let mut known: Vec<&str> = REQUIREMENTS.iter().map(|(name, _)| *name).collect();
        files.sort();
        known.sort_unstable();
        assert_eq!(files, known);
        for (name, text) in REQUIREMENTS {
            let requirement = Requirement::parse(text, name).unwrap_or_else(|error| panic!("{error}"));
            assert!(requirement.name == *name && requirement.source.contains("https://"), "{name}");
        }
    }

    #[test]
    fn one_stall_is_not_decisive() {
        let mut one = [0; 40];
        one[7] = 1;
        assert_eq!(of(&one).verdict, RequirementVerdict::Pass);
    }

    #[test]
    fn invalid_trials_neither_pass_nor_fail() {
        for slow in [0, 50] {
            let mut run = run(&[slow; 40]);
            // More than half of them beside another process's I/O.
            for trial in run.trials.iter_mut().take(21) {
                trial.witnesses.block_layer_read_bytes = Some(1 << 30);
            }
            let line = lines(&run, &requirement("p99=10ms")).remove(0);
            assert_eq!(line.verdict, RequirementVerdict::Inconclusive);
            assert!(matches!(
                line.why,
                Some(RequirementUnsettled::MostInvalid { trials: 40, valid: 19, .. })
            ));
        }
        let mut run = run(&[0; 40]);
        run.trials[3].write.as_mut().unwrap().errors = 1;
        let line = lines(&run, &requirement("p99=10ms")).remove(0);
        assert_eq!(line.why, Some(RequirementUnsettled::Errors { errors: 1 }));
        let few = of(&[0; 3]);
        assert!(matches!(few.why, Some(RequirementUnsettled::FewValid { valid: 3, .. })), "{few:?}");
    }

    #[test]
    fn of_two_points_of_a_workload_the_one_with_valid_trials_answers() {
        let mut run = run(&[0; 40]);
        let limit = requirement("p99=10ms").limits.remove(0);
        run.points[0].trials = 40;
        let mut cached = run.points[0].clone();
        (cached.id, cached.invalid) = (run.points[0].id + 1, 40);
        run.points.insert(0, cached);
        assert_eq!(point_of(&run, &limit).map(|point| point.id), Some(run.points[1].id));
    }

    #[test]
    fn another_workload_is_not_measured() {
        let mut run = run(&[0; 40]);
        run.points[0].spec.sync = "fsync:1".parse().unwrap();
        let line = lines(&run, &requirement("p99=10ms")).remove(0);
        assert_eq!(line.why, Some(RequirementUnsettled::NotMeasured));
        assert_eq!(verdict(&[line]), RequirementVerdict::Inconclusive);
    }
}

//! Valid and invalid trials: their counts, and whether anything is left.

use std::collections::BTreeSet;

use iosonde_judge::check::CHECKS;
use iosonde_model::{
    About, Cause, CheckName, DeviceNote, Finding, FindingName, Judgement, Medium, Op, Outcome, Point, Run,
    Status, Trial, TrialSpec,
    cause::{CacheServed, DirectIgnored, NotSteady, Outliers, WriteBack},
};
use iosonde_plan::schedule::FEWEST_COMPLETE_ROUNDS;

use crate::finding::lookup::estimate;

use super::fact::{ByteSource, Fact, Fatal, InvalidBy, InvalidPoints, NotStorage, WeighedFact, Weight};

/// Share of invalid trials from which a run says nothing.
pub(super) const INVALID_SHARE_MAX: f64 = 0.5;
/// Share of invalid trials above which it is a warning: trials are repeated, and a few are lost on any busy
/// machine.
pub(super) const INVALID_SHARE_WARNING: f64 = 0.1;

/// Share of direct I/O's bytes that the device moved, below which it moved nothing.
const NOTHING_SHARE: f64 = 0.02;
/// Share of the bytes that moved, from which figures are a mixture of memory and storage.
const PART_SHARE: f64 = 0.5;

/// Why nothing can be concluded from the trials, if so.
pub(super) fn fatal(run: &Run, measured: &[&Trial]) -> Option<Fatal> {
    if measured.is_empty() {
        return Some(Fatal::NothingMeasured);
    }
    // What the study asks of the page cache says nothing of the trials that bypass it.
    let meant = cached_on_purpose(run, measured);
    let bypassing: Vec<&Trial> =
        measured.iter().copied().filter(|trial| !meant.contains(&trial.id)).collect();
    let measured = if bypassing.is_empty() { measured } else { &bypassing };
    let most =
        |invalid: &[&Judgement]| ids(invalid).len() as f64 >= INVALID_SHARE_MAX * measured.len() as f64;
    let of = |names: &[CheckName]| -> Vec<&Judgement> {
        invalid_verdicts(run, measured).filter(|line| names.contains(&line.check)).collect()
    };
    let unmoved =
        of(&[CheckName::CacheServed, CheckName::DirectIgnored, CheckName::WriteBack, CheckName::Unmapped]);
    if most(&unmoved) {
        return not_storage(run, measured.len(), &unmoved).map(Fatal::NotStorage);
    }
    let bound = of(&[CheckName::GeneratorBound]);
    if most(&bound) {
        return bound.first().map(|&first| Fatal::GeneratorLimit(first.clone()));
    }
    let any: Vec<_> = invalid_verdicts(run, measured).collect();
    let example = most_common(&any).filter(|_| most(&any))?;
    Some(Fatal::MostInvalid {
        invalid: ids(&any).len(),
        trials: measured.len(),
        depth_only: depth_only(&any),
        example: example.clone(),
    })
}

/// Points without a valid trial, where they are more than a few.
pub(super) fn invalid_points(run: &Run, measured: &[&Trial]) -> Option<InvalidPoints> {
    let invalid: BTreeSet<u64> = unintended(run, measured)
        .filter(|line| line.about != About::Depth)
        .filter_map(|line| line.trial)
        .collect();
    let points = |valid_only: bool| -> BTreeSet<usize> {
        let own = measured.iter().filter(|trial| !valid_only || !invalid.contains(&trial.id));
        own.filter_map(|trial| trial.point).collect()
    };
    let (all, valid) = (points(false).len(), points(true).len());
    let lost = all - valid;
    (lost as f64 > INVALID_SHARE_WARNING * all as f64).then_some(InvalidPoints { invalid: lost, points: all })
}

/// With fewer than three complete rounds nothing is known of noise and drift. (A run without a study is one trial,
/// and says so elsewhere.)
pub(super) fn unrepeated(run: &Run) -> Option<Fatal> {
    let rounds = run.info.rounds;
    if run.info.study_source.is_empty() {
        return None;
    }
    if rounds < FEWEST_COMPLETE_ROUNDS {
        return Some(Fatal::TooFewRounds { rounds, needed: FEWEST_COMPLETE_ROUNDS });
    }
    let no_interval = run.points.iter().all(|point| half_width(run, point).is_none());
    no_interval.then_some(Fatal::NoInterval { rounds })
}

/// Half of the wider interval of a point's directions, as a share of the value; of a point whose whole trials are
/// timed, that of their time.
pub fn half_width(run: &Run, point: &Point) -> Option<f64> {
    let timed = |finding: &&Finding| {
        finding.name == FindingName::CheckpointTime
            && finding.status == Status::Found
            && finding.trials.iter().any(|id| point.trial_ids.contains(id))
    };
    if let Some(finding) = run.findings.iter().find(timed) {
        return estimate(finding).relative_half_width();
    }
    let directions = Op::DIRECTIONS.into_iter().filter(|&op| point.spec.rw.has(op));
    let widths = directions.map(|op| point.direction(op)?.iops.relative_half_width());
    widths.collect::<Option<Vec<_>>>()?.into_iter().max_by(f64::total_cmp)
}

/// Memory, or nothing at all: a hole of a sparse file costs no storage.
fn not_storage(run: &Run, measured: usize, invalid: &[&Judgement]) -> Option<NotStorage> {
    let share_of = |line: &Judgement| {
        moved_of_issued(line).map_or(1.0, |(moved, issued)| moved as f64 / issued.max(1) as f64)
    };
    // A cache that is known to be there explains every shortfall.
    let below =
        |line: &&&Judgement| matches!(line.cause, Some(Cause::CacheServed(CacheServed::Below { .. })));
    let cache_below = invalid.iter().find(below);
    // The plainest example, or the answer says one thing and its example another.
    let plainest = || invalid.iter().min_by(|a, b| share_of(a).total_cmp(&share_of(b)));
    let &example = cache_below.or_else(plainest)?;
    let holes = run.info.device.notes.iter().find(|note| matches!(note, DeviceNote::Holes { .. }));
    // I/O that was buffered although it should have been direct is memory all the same.
    let ignored = invalid.iter().any(|line| line.check == CheckName::DirectIgnored);
    // A study may use buffered I/O on purpose where all else is direct.
    let past =
        |line: &&Judgement| line.trial.and_then(|id| run.trial(id)).is_none_or(|trial| trial.spec.direct);
    let direct = run.info.device.direct && !ignored && invalid.iter().any(past);
    let direct = direct && run.info.device.medium != Medium::Memory;
    let bytes = invalid.iter().filter_map(|line| moved_of_issued(line));
    let (moved, issued) = bytes.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let moved_share = if issued > 0 { moved as f64 / issued as f64 } else { 0.0 };
    let by_engine = matches!(example.cause, Some(Cause::CacheServed(CacheServed::NoStorage { .. })));
    let source = match (direct, holes) {
        _ if by_engine => ByteSource::Engine,
        _ if cache_below.is_some() => ByteSource::CacheBelow,
        // Not exactly nothing: others' I/O is in the count.
        (true, _) if moved_share < NOTHING_SHARE => ByteSource::Nothing,
        (true, Some(_)) => ByteSource::Holes,
        _ if moved_share < PART_SHARE => ByteSource::Memory,
        _ => ByteSource::MemoryAndStorage,
    };
    let (trials, holes) = (ids(invalid).len(), holes.cloned());
    Some(NotStorage { source, moved_share, holes, example: example.clone(), trials, measured })
}

/// Bytes of a trial that storage moved, and bytes of its requests, where a verdict compares them.
fn moved_of_issued(line: &Judgement) -> Option<(u64, u64)> {
    match line.cause.as_ref()? {
        Cause::CacheServed(CacheServed::Shortfall { moved_bytes, issued_bytes, .. })
        | Cause::DirectIgnored(DirectIgnored::ServedFromCache { moved_bytes, issued_bytes, .. })
        | Cause::WriteBack(WriteBack::NotTaken { moved_bytes, issued_bytes }) => {
            Some((*moved_bytes, *issued_bytes))
        }
        Cause::WriteBack(WriteBack::Dirty { dirty_after_bytes, issued_bytes }) => {
            Some((issued_bytes.saturating_sub(*dirty_after_bytes), *issued_bytes))
        }
        _ => None,
    }
}

/// Verdicts of `invalid` on measured trials.
fn invalid_verdicts<'a>(run: &'a Run, measured: &[&Trial]) -> impl Iterator<Item = &'a Judgement> + use<'a> {
    let known: BTreeSet<u64> = measured.iter().map(|trial| trial.id).collect();
    run.verdicts.iter().filter(move |judgement| {
        judgement.verdict == Outcome::Invalid && judgement.trial.is_some_and(|id| known.contains(&id))
    })
}

/// Trials that the page cache served because the study asks for that, where all else of the run bypasses it.
fn cached_on_purpose(run: &Run, measured: &[&Trial]) -> BTreeSet<u64> {
    let buffered: BTreeSet<u64> =
        measured.iter().filter(|trial| !trial.spec.direct).map(|trial| trial.id).collect();
    let through_cache = [CheckName::CacheServed, CheckName::WriteBack];
    invalid_verdicts(run, measured)
        .filter(|line| through_cache.contains(&line.check) && line.about == About::Device)
        .filter_map(|line| line.trial.filter(|id| run.info.device.direct && buffered.contains(id)))
        .collect()
}

/// Verdicts of `invalid`, but for what a cache makes of trials that are meant for it: they are not the storage's, and
/// their limit is the program.
fn unintended<'a>(run: &'a Run, measured: &[&Trial]) -> impl Iterator<Item = &'a Judgement> + use<'a> {
    let meant = cached_on_purpose(run, measured);
    let of_cache = [CheckName::CacheServed, CheckName::WriteBack, CheckName::GeneratorBound];
    invalid_verdicts(run, measured).filter(move |line| {
        !(of_cache.contains(&line.check) && line.trial.is_some_and(|id| meant.contains(&id)))
    })
}

/// Workloads that use the page cache on purpose: their figures are those of programs.
pub(super) fn cached_points(run: &Run, measured: &[&Trial]) -> Option<WeighedFact> {
    let trials = cached_on_purpose(run, measured);
    let own = measured.iter().filter(|trial| trials.contains(&trial.id));
    let cached: BTreeSet<usize> = own.filter_map(|trial| trial.point).collect();
    let points: BTreeSet<usize> = measured.iter().filter_map(|trial| trial.point).collect();
    let fact = Fact::CachedOnPurpose { cached: cached.len(), points: points.len() };
    (!cached.is_empty()).then_some(WeighedFact { mark: Weight::Yes, fact })
}

fn ids(judgements: &[&Judgement]) -> BTreeSet<u64> {
    judgements.iter().filter_map(|judgement| judgement.trial).collect()
}

/// Whether later trials replace one whose warm-up was too short.
fn is_replaced(judgement: &Judgement) -> bool {
    let cause = judgement.cause.as_ref().map(Cause::itself);
    matches!(cause, Some(Cause::NotSteady(NotSteady::Replaced { .. })))
}

fn depth_only(judgements: &[&Judgement]) -> bool {
    judgements.iter().all(|line| line.about == About::Depth)
}

/// How many trials are valid, and why the others are not.
pub(super) fn counts(run: &Run, measured: &[&Trial]) -> WeighedFact {
    let lines: Vec<_> = unintended(run, measured).collect();
    let (trials, invalid) = (measured.len(), ids(&lines).len());
    // Of invalid trials none is in a mean, near or far.
    let outliers = if invalid == trials { 0 } else { outliers(run) };
    // Each invalid trial counts under the first check that says so, so that the counts add up to all of them.
    let mut counted = BTreeSet::new();
    // Trials of one workload alone need no name of it.
    let measured_workloads: BTreeSet<_> = measured.iter().map(|trial| trial.point).collect();
    let mut reasons: Vec<InvalidBy> =
        CHECKS.iter().filter_map(|check| invalid_by(run, check.id(), &lines, &mut counted)).collect();
    if measured_workloads.len() == 1 {
        reasons.iter_mut().for_each(|reason| reason.workload = None);
    }
    let share = invalid as f64 / trials as f64;
    let mark = match share {
        _ if invalid == 0 => Weight::Yes,
        _ if share >= INVALID_SHARE_MAX => Weight::No,
        _ if share > INVALID_SHARE_WARNING => Weight::Doubt,
        _ => Weight::Yes,
    };
    WeighedFact { mark, fact: Fact::Trials { trials, invalid, outliers, reasons } }
}

/// An example of what makes most of a workload's invalid trials invalid; `None` where none is.
pub fn most_invalid_by<'a>(run: &'a Run, spec: &TrialSpec) -> Option<&'a Judgement> {
    let own: Vec<&Trial> = run.trials.iter().filter(|trial| trial.spec == *spec).collect();
    most_common(&invalid_verdicts(run, &own).collect::<Vec<_>>())
}

/// The first verdict of the check that most of them are of.
fn most_common<'a>(lines: &[&'a Judgement]) -> Option<&'a Judgement> {
    let count = |check: CheckName| lines.iter().filter(|line| line.check == check).count();
    lines.iter().rev().max_by_key(|line| count(line.check)).copied()
}

/// Trials that a check makes invalid and that are not counted yet.
fn invalid_by(
    run: &Run,
    check: CheckName,
    lines: &[&Judgement],
    counted: &mut BTreeSet<u64>,
) -> Option<InvalidBy> {
    let fresh =
        |line: &&&Judgement| line.check == check && line.trial.is_some_and(|id| !counted.contains(&id));
    let own: Vec<&Judgement> = lines.iter().filter(fresh).copied().collect();
    let &example = own.first()?;
    let trials = ids(&own);
    counted.extend(&trials);
    let points: BTreeSet<_> =
        trials.iter().filter_map(|&id| run.trial(id)).map(|trial| trial.point).collect();
    let workload = example.trial.and_then(|id| run.trial(id));
    Some(InvalidBy {
        check,
        trials: trials.len(),
        workloads: points.len(),
        depth_only: depth_only(&own),
        replaced: own.iter().all(|line| is_replaced(line)),
        workload: workload.map(|trial| Box::new(trial.spec.clone())),
        example: example.clone(),
    })
}

/// Trials that no verdict makes invalid and that are excluded from every mean.
pub(super) fn outliers(run: &Run) -> usize {
    let of_run = |judgement: &&Judgement| judgement.check == CheckName::Outliers && judgement.scope == "run";
    let count = |judgement: &Judgement| match &judgement.cause {
        Some(Cause::Outliers(Outliers::Far(found) | Outliers::Many(found))) => Some(found.outliers),
        Some(Cause::Outliers(Outliers::Cold(found))) => Some(found.outliers),
        Some(Cause::Tally(tally)) => tally.outliers,
        _ => None,
    };
    run.verdicts.iter().filter(of_run).filter_map(count).max().unwrap_or(0) as usize
}

//! Warnings of checks, and witnesses that are missing.

use std::collections::BTreeSet;

use iosonde_judge::check::CHECKS;
use iosonde_model::{
    About, Cause, CheckName, Finding, Judgement, Outcome, Phase, Run, Status, Trial, TrialSpec,
    cause::{NoWitness, Outliers, TooFewSamples},
};

use super::fact::{Fact, Touched, WarningScope, WeighedFact};
use super::trials::{INVALID_SHARE_MAX, INVALID_SHARE_WARNING, outliers};
use super::write_buffer;
use crate::finding::{
    ReadWhen, kind,
    lookup::{figures_behind, trials_behind},
};

const SCOPES: [(&str, WarningScope); 3] =
    [("trial", WarningScope::Trial), ("point", WarningScope::Point), ("run", WarningScope::Run)];

/// One line for each check that warns. Where the trials are `invalid`, a change of throughput over the run is left
/// out: what memory or the load generator did is no course of the storage.
pub(super) fn of_checks(run: &Run, invalid: bool) -> Vec<WeighedFact> {
    let measured = |trial: &&Trial| trial.phase == Phase::Measure;
    let measured: BTreeSet<u64> = run.trials.iter().filter(measured).map(|trial| trial.id).collect();
    let single_trial = measured.len() == 1;
    let of_invalid = run.verdicts.iter().filter(|line| line.verdict == Outcome::Invalid);
    let invalid_trials: BTreeSet<u64> = of_invalid.filter_map(|line| line.trial).collect();
    // The buffer is a warning itself, and says of how many points.
    let by_buffer = write_buffer::with_two_rates(run);
    let lines = CHECKS.iter().flat_map(|check| {
        // Of figures that are not the storage's, it does not matter how precise they are.
        let is_moot = invalid && (QUALIFYING.contains(&check.id()) || OVER_TIME.contains(&check.id()));
        SCOPES.iter().filter(move |_| !is_moot).filter_map(|(word, scope)| {
            let own = |judgement: &&Judgement| {
                judgement.check == check.id()
                    && judgement.scope == *word
                    && judgement.verdict == Outcome::Warning
                    && !(check.id() == CheckName::NotSteady && is_about(&by_buffer, judgement))
                    && !(invalid && *scope == WarningScope::Run && judgement.about == About::Rate)
            };
            let all: Vec<_> = run.verdicts.iter().filter(own).collect();
            // Counted among the trials that are figures, as in every other line; canaries only where nothing else is.
            let counts = |line: &&&Judgement| line.trial.is_none_or(|id| measured.contains(&id));
            let own: Vec<_> = match all.iter().filter(counts).count() {
                0 => all,
                _ => all.iter().filter(counts).copied().collect(),
            };
            let worst = Cause::worst(own.iter().map(|line| line.cause.as_ref()));
            let example = own.get(worst.unwrap_or(0)).copied()?.clone();
            let about_invalid =
                own.iter().filter(|line| line.trial.is_some_and(|id| invalid_trials.contains(&id))).count();
            let touched = touched(run, &own);
            let points: BTreeSet<usize> = own.iter().filter_map(|line| point_of(run, line)).collect();
            let workload = workload_of(run, &example).map(|spec| Box::new(spec.clone()));
            // Of trials that are invalid anyway, no figure is left to qualify.
            let matters = about_invalid < own.len()
                && !is_rare(run, &own, measured.len())
                && matters(run, &example, *scope, &touched, measured.len());
            let fact = Fact::Warnings {
                scope: *scope,
                count: own.len(),
                about_invalid,
                single_trial,
                points: points.len(),
                workload,
                example,
                is_worst: worst.is_some(),
                touched,
            };
            Some(WeighedFact::doubt_if(matters, fact))
        })
    });
    lines.collect()
}

fn is_about(points: &BTreeSet<usize>, judgement: &Judgement) -> bool {
    judgement.point.is_some_and(|point| points.contains(&point))
}

/// Checks of how figures change in time.
const OVER_TIME: [CheckName; 2] = [CheckName::NotSteady, CheckName::Drift];

/// Checks whose warnings qualify the figures that they touch, and say nothing else of the storage or the machine.
const QUALIFYING: [CheckName; 4] =
    [CheckName::TooFewSamples, CheckName::Outliers, CheckName::Multimodal, CheckName::GeneratorBound];

/// Checks whose warning about a trial says that its figures are not those of the workload. A point of many trials has
/// them in its scatter, or among its outliers. (A pause or a fall of the rate is none of them: that it happened once is
/// what a reader wants to know.)
const OF_ONE_TRIAL: [CheckName; 5] = [
    CheckName::DepthNotReached,
    CheckName::GeneratorBound,
    CheckName::Interference,
    CheckName::Saturated,
    CheckName::Multimodal,
];
/// What the excluded outliers would move a mean by, from which on a reader is told first: 9 of 83 trials that were 2 %
/// slower move it by 0.2 %.
const MOVED_MIN: f64 = 0.01;
/// Share of a run's trials, and of a point's, up to which such warnings qualify no figure. On the busy disk of this
/// machine, one trial of 274 had 7 of its 16 requests at the device, and stood before all other warnings.
const RARE_IN_RUN: f64 = 0.01;
const RARE_IN_POINT: f64 = 1.0 / 3.0;

/// Whether warnings are about so few trials of repeated points that no figure rests on them.
fn is_rare(run: &Run, own: &[&Judgement], measured: usize) -> bool {
    let of_one_trial = |line: &&Judgement| OF_ONE_TRIAL.contains(&line.check) && line.trial.is_some();
    if !own.iter().all(of_one_trial) || own.len() as f64 > RARE_IN_RUN * measured as f64 {
        return false;
    }
    own.iter().all(|line| {
        let point = point_of(run, line);
        let beside = own.iter().filter(|other| point_of(run, other) == point).count();
        let trials = run.points.iter().find(|one| Some(one.id) == point).map_or(0, |one| one.trial_ids.len());
        beside as f64 <= RARE_IN_POINT * trials as f64
    })
}

/// Trials that warnings are about: their own, or those of their point.
fn touched(run: &Run, own: &[&Judgement]) -> Touched {
    let trials = |line: &Judgement| -> Vec<u64> {
        let of_point = |id: usize| run.points.iter().find(|point| point.id == id);
        let point = line.point.and_then(of_point).map(|point| point.trial_ids.clone());
        line.trial.map_or_else(|| point.unwrap_or_default(), |id| vec![id])
    };
    let is_about_percentiles =
        |line: &&Judgement| CHECKS.iter().any(|kind| kind.id() == line.check && kind.is_about_percentiles());
    Touched {
        lines: own.iter().map(|line| (line.about, trials(line))).collect(),
        percentiles: own.iter().any(is_about_percentiles),
    }
}

fn point_of(run: &Run, line: &Judgement) -> Option<usize> {
    line.point.or_else(|| run.trial(line.trial?)?.point)
}

fn workload_of<'a>(run: &'a Run, line: &Judgement) -> Option<&'a TrialSpec> {
    match (line.trial, line.point) {
        (Some(id), _) => run.trial(id).map(|trial| &trial.spec),
        (None, Some(id)) => run.points.iter().find(|point| point.id == id).map(|point| &point.spec),
        (None, None) => None,
    }
}

/// Whether warnings of one check change how a figure of the first screen is read. Without findings, every figure is
/// one.
fn matters(run: &Run, example: &Judgement, scope: WarningScope, touched: &Touched, measured: usize) -> bool {
    let shown = |finding: &&Finding| {
        let when = kind(finding.name).screen_line().when;
        finding.status == Status::Found && [ReadWhen::Always, ReadWhen::Found].contains(&when)
    };
    if !QUALIFYING.contains(&example.check) {
        return true;
    }
    if scope == WarningScope::Run {
        // Outliers are excluded and counted beside the valid trials; many of them are a property of the storage.
        let few = outliers(run) as f64 <= INVALID_SHARE_WARNING * measured as f64;
        return match &example.cause {
            // What a cache answers later is another state than what it answers first.
            Some(Cause::Outliers(Outliers::Cold(_))) => true,
            Some(Cause::Outliers(Outliers::Far(found) | Outliers::Many(found))) => {
                let share = found.outliers as f64 / found.trials.max(1) as f64;
                !few && share * found.rate_share.ln().abs() >= MOVED_MIN
            }
            _ => !(example.check == CheckName::Outliers && few),
        };
    }
    // A mean has its interval from the scatter between trials, and percentiles come from merged histograms that are
    // large enough for them, or not at all: slow storage is no reason for a warning.
    let few_requests = matches!(example.cause, Some(Cause::TooFewSamples(TooFewSamples::Requests { .. })));
    if few_requests && scope == WarningScope::Trial && !run.points.is_empty() && !run.info.is_single() {
        return false;
    }
    let mut figures = run.findings.iter().filter(shown).peekable();
    let is_touched =
        |finding: &Finding| touched.qualifies(figures_behind(finding), &trials_behind(run, finding));
    figures.peek().is_none() || figures.any(is_touched)
}

/// Where nothing could see whether bytes moved, memory cannot be ruled out. Trials that moved little had their witness.
pub(super) fn unwitnessed(run: &Run) -> Option<WeighedFact> {
    let blind = run.verdicts.iter().find(|judgement| {
        let (cause, most) = match &judgement.cause {
            Some(Cause::Tally(tally)) => {
                (tally.first.as_deref(), tally.unchecked as f64 >= INVALID_SHARE_MAX * tally.judged as f64)
            }
            cause => (cause.as_ref(), true),
        };
        [CheckName::CacheServed, CheckName::WriteBack].contains(&judgement.check)
            && judgement.verdict == Outcome::NotChecked
            && !matches!(cause, Some(Cause::NoWitness(NoWitness::TooSmall { .. })))
            && most
    })?;
    Some(WeighedFact::doubt(Fact::NoWitness(blind.clone())))
}

/// Witnesses that spoke of some trials and not of others: one that vanishes in mid-run is not passed over.
pub(super) fn witness_lost(run: &Run, measured: &[&Trial]) -> Option<WeighedFact> {
    let moved = |trial: &Trial| {
        let seen = &trial.witnesses;
        seen.block_layer_read_bytes.or(seen.network_read_bytes).is_some()
    };
    let silent: Vec<&&Trial> = measured.iter().filter(|trial| !moved(trial)).collect();
    let first = silent.first()?;
    if silent.len() == measured.len() || run.info.is_imported() {
        return None;
    }
    Some(WeighedFact::doubt(Fact::WitnessLost {
        trials_without: silent.len(),
        trials: measured.len(),
        from_trial: first.id,
        reported: first.witnesses.absent.first().cloned(),
    }))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        FindingName, Reason, Verdict,
        cause::{DepthNotReached, Multimodal},
    };
    use iosonde_testkit::pretend::{Pretend, QUICK};

    use super::*;
    use crate::validity::Weight;

    /// One trial of many in which the depth was not reached is a note; all trials of its point are a warning.
    #[test]
    fn a_rare_trial_is_no_warning() {
        let mut run = Pretend::usual().run(QUICK, 1);
        crate::conclude::conclude(&mut run, None).unwrap();
        run.verdicts.clear();
        let point = run.points.iter().find(|point| point.trial_ids.len() >= 5).unwrap().clone();
        let weight = |trials: &[u64]| {
            let short = DepthNotReached::Short { in_flight_mean: 7.0, asked: 16.0 };
            let verdict =
                || Verdict::Warning(Reason::new(About::Rate, Cause::DepthNotReached(short.clone())));
            let line =
                |id: &u64| Judgement::new(CheckName::DepthNotReached, "trial", Some(*id), None, verdict());
            let run = Run { verdicts: trials.iter().map(line).collect(), ..run.clone() };
            let told = of_checks(&run, false);
            assert_eq!(told.len(), 1);
            told[0].mark
        };
        assert!(run.trials.len() > 100);
        assert!(weight(&point.trial_ids[..1]) < Weight::Doubt);
        assert_eq!(weight(&point.trial_ids), Weight::Doubt);
    }

    #[test]
    fn latency_groups_are_a_warning_about_latencies_and_about_no_ratio_of_rates() {
        let mut run = Pretend::usual().run(QUICK, 1);
        crate::conclude::conclude(&mut run, None).unwrap();
        let all = std::mem::take(&mut run.findings);
        let mut of = |name: FindingName| {
            let finding = all.iter().find(|finding| finding.name == name && finding.status == Status::Found);
            let finding = finding.expect("quick answers it").clone();
            let lines = vec![(About::Latency, finding.trials.clone())];
            run.findings = vec![finding];
            let reason = Reason::new(About::Latency, Cause::Multimodal(Multimodal::NoTrials));
            let verdict = Verdict::Warning(reason);
            let example = Judgement::new(CheckName::Multimodal, "point", None, Some(0), verdict);
            let touched = Touched { lines, percentiles: false };
            matters(&run, &example, WarningScope::Point, &touched, run.trials.len())
        };
        assert!(of(FindingName::BaseLatency));
        for of_rates in
            [FindingName::RandomVsSequential, FindingName::PlateauBlockSize, FindingName::DepthFor95Percent]
        {
            assert!(!of(of_rates), "{of_rates:?}");
        }
    }
}

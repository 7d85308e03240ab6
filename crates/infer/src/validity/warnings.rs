//! Warnings of checks, and witnesses that are missing.

use std::collections::BTreeSet;

use iosonde_judge::check::CHECKS;
use iosonde_model::{About, Cause, CheckName, Judgement, Outcome, Phase, Run, Trial, cause::NoWitness};

use super::fact::{Fact, WarningScope, WeighedFact};
use super::trials::INVALID_SHARE_MAX;

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
    let lines = CHECKS.iter().flat_map(|check| {
        SCOPES.iter().filter_map(|(word, scope)| {
            let own = |judgement: &&Judgement| {
                judgement.check == check.id()
                    && judgement.scope == *word
                    && judgement.verdict == Outcome::Warning
                    && !(invalid && *scope == WarningScope::Run && judgement.about == About::Rate)
            };
            let all: Vec<_> = run.verdicts.iter().filter(own).collect();
            // Counted among the trials that are figures, as in every other line; canaries only where nothing else is.
            let counts = |line: &&&Judgement| line.trial.is_none_or(|id| measured.contains(&id));
            let own: Vec<_> = match all.iter().filter(counts).count() {
                0 => all,
                _ => all.iter().filter(counts).copied().collect(),
            };
            let example = own.first().copied()?.clone();
            let about_invalid =
                own.iter().filter(|line| line.trial.is_some_and(|id| invalid_trials.contains(&id))).count();
            Some(WeighedFact::doubt(Fact::Warnings {
                scope: *scope,
                count: own.len(),
                about_invalid,
                single_trial,
                example,
            }))
        })
    });
    lines.collect()
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

//! Warnings of checks, and witnesses that are missing.

use std::collections::BTreeSet;

use iosonde_judge::check::CHECKS;
use iosonde_model::{About, Cause, CheckName, Judgement, Outcome, Phase, Run, Trial, cause::NoWitness};

use super::fact::{Fact, Line, Scope};
use super::trials::INVALID_SHARE_MAX;

const SCOPES: [(&str, Scope); 3] = [("trial", Scope::Trial), ("point", Scope::Point), ("run", Scope::Run)];

/// One line for each check that warns. Where the trials are `invalid`, a change of throughput over the run is left
/// out: what memory or the load generator did is no course of the storage.
pub(super) fn of_checks(run: &Run, invalid: bool) -> Vec<Line> {
    let measured = |trial: &&Trial| trial.phase == Phase::Measure;
    let measured: BTreeSet<u64> = run.trials.iter().filter(measured).map(|trial| trial.id).collect();
    let single_trial = measured.len() == 1;
    let lines = CHECKS.iter().flat_map(|check| {
        SCOPES.iter().filter_map(|(word, scope)| {
            let own = |judgement: &&Judgement| {
                judgement.check == check.id()
                    && judgement.scope == *word
                    && judgement.verdict == Outcome::Warning
                    && !(invalid && *scope == Scope::Run && judgement.about == About::Rate)
            };
            let all: Vec<_> = run.verdicts.iter().filter(own).collect();
            // Counted among the trials that are figures, as in every other line; canaries only where nothing else is.
            let counts = |line: &&&Judgement| line.trial.is_none_or(|id| measured.contains(&id));
            let own: Vec<_> = match all.iter().filter(counts).count() {
                0 => all,
                _ => all.iter().filter(counts).copied().collect(),
            };
            let example = own.first().copied()?.clone();
            Some(Line::doubt(Fact::Warnings { scope: *scope, count: own.len(), single_trial, example }))
        })
    });
    lines.collect()
}

/// Where nothing could see whether bytes moved, memory cannot be ruled out. Trials that moved little had their witness.
pub(super) fn unwitnessed(run: &Run) -> Option<Line> {
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
    Some(Line::doubt(Fact::NoWitness(blind.clone())))
}

/// Witnesses that spoke of some trials and not of others: one that vanishes in mid-run is not passed over.
pub(super) fn witness_lost(run: &Run, measured: &[&Trial]) -> Option<Line> {
    let moved = |trial: &Trial| {
        let seen = &trial.witnesses;
        seen.block_layer_read_bytes.or(seen.network_read_bytes).is_some()
    };
    let silent: Vec<&&Trial> = measured.iter().filter(|trial| !moved(trial)).collect();
    let first = silent.first()?;
    if silent.len() == measured.len() || run.info.is_imported() {
        return None;
    }
    Some(Line::doubt(Fact::WitnessLost {
        trials_without: silent.len(),
        trials: measured.len(),
        from_trial: first.id,
        reported: first.witnesses.absent.first().cloned(),
    }))
}

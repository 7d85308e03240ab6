//! The trials that a scope gives to a check of single trials.

use iosonde_model::{
    About, Phase, Reason, Run, Scope, Trial, TrialSpec, Unstated, Verdict, cause::NoWitness,
};

/// The trial of a scope, whatever it was run for.
pub(super) fn any(scope: Scope, run: &Run) -> Option<&Trial> {
    match scope {
        Scope::Trial(place) => run.trials.get(place),
        Scope::Point(_) | Scope::Run => None,
    }
}

/// The trial of a scope, if it measured something: preparation (filling) is no figure of anything.
pub(super) fn measuring(scope: Scope, run: &Run) -> Option<&Trial> {
    any(scope, run).filter(|trial| trial.phase != Phase::Prepare)
}

/// The rest of a verdict on another tool's buffered result: without a witness, memory is
/// as likely as storage, and "not checked" would let it pass.
pub(super) fn through_the_cache(verdict: Verdict, trial: &Trial, run: &Run) -> Verdict {
    match verdict {
        Verdict::NotChecked(_) if run.info.is_imported() && buffered(trial).is_some() => {
            let span_bytes = buffered(trial).map(|spec| spec.span_bytes).filter(|&bytes| bytes > 0);
            let unstated = trial.unstated.contains(&Unstated::PageCache);
            let why =
                if unstated { NoWitness::PageCacheUnstated } else { NoWitness::Imported { span_bytes } };
            Verdict::Warning(Reason::new(About::Device, why))
        }
        verdict => verdict,
    }
}

/// The first buffered stream of a trial.
pub(super) fn buffered(trial: &Trial) -> Option<&TrialSpec> {
    trial.spec.streams().find(|spec| !spec.direct)
}

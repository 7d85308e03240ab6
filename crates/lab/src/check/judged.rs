//! What a scope means for a check that looks at single trials.

use iosonde_model::{Phase, Run, Scope, Trial};

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

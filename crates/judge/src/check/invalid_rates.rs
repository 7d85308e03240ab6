//! Trials whose rate other checks made invalid: what checks of points and of the run leave out.

use std::collections::BTreeSet;

use iosonde_model::{About, Run, Scope, Trial, Verdict};

/// Trials whose rate some check called invalid.
///
/// A check of a point or of the run that takes this can only be asked once the checks of trials have spoken.
#[derive(Debug, Default)]
pub struct InvalidRates {
    ids: BTreeSet<u64>,
}

impl InvalidRates {
    /// Trials of the run that one of the verdicts makes invalid as a rate.
    pub fn of<'a>(run: &Run, verdicts: impl IntoIterator<Item = &'a (Scope, Verdict)>) -> Self {
        let id = |(scope, verdict): &(Scope, Verdict)| match (scope, verdict) {
            (Scope::Trial(place), Verdict::Invalid(reason)) if reason.about.touches(About::Rate) => {
                Some(run.trials[*place].id)
            }
            _ => None,
        };
        Self { ids: verdicts.into_iter().filter_map(id).collect() }
    }

    /// Whether this trial's rate is invalid.
    pub fn contains(&self, trial: &Trial) -> bool {
        self.ids.contains(&trial.id)
    }

    /// Ids of the trials.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.ids.iter().copied()
    }
}

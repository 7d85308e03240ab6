//! Trials that an estimate may rest on.

use std::collections::BTreeMap;

use iosonde_model::{About, Trial};

/// For each trial with a void verdict, by its id: what that verdict is about.
pub type Voids = BTreeMap<u64, About>;

/// Whether estimates of this kind may rest on a trial.
pub(super) fn is_valid_for(voids: &Voids, trial: &Trial, figures: About) -> bool {
    !voids.get(&trial.id).is_some_and(|about| about.touches(figures))
}

/// Trials behind an interval at the least: fewer say too little about their own scatter.
pub const FEWEST_TRIALS: usize = 5;

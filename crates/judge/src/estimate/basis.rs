//! Trials that an estimate may rest on.

use std::collections::BTreeMap;

use iosonde_model::{About, Trial};

/// For each trial with an invalid verdict, by its id: the figures that it is about.
pub type Voids = BTreeMap<u64, About>;

/// Whether estimates of this kind may rest on a trial.
pub(super) fn is_valid_for(voids: &Voids, trial: &Trial, figures: About) -> bool {
    !voids.get(&trial.id).is_some_and(|about| about.touches(figures))
}

/// Minimum number of trials behind an interval: fewer do not show their own scatter.
pub const FEWEST_TRIALS: usize = 5;

//! Trials that an estimate may rest on.

use std::collections::BTreeMap;

use iosonde_model::About;

/// For each trial with a void verdict, by its id: what that verdict is about.
pub type Voids = BTreeMap<u64, About>;

/// Trials behind an interval at the least: fewer say too little about their own scatter.
pub const FEWEST_TRIALS: usize = 5;

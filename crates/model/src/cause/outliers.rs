//! Facts of the check `outliers`.

use serde::Serialize;

/// Trials that the estimates exclude.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Outliers {
    /// No point was visited often enough to tell which trial is the unusual one.
    TooFewVisits {
        /// Visits that a point needs.
        visits_needed: usize,
    },
    /// A trial lies farther away than chance reaches in any run.
    Far(Excluded),
    /// More trials lie away than chance explains.
    Many(Excluded),
    /// The first trials of several points are slower than all that follow, which agree: a cache was cold, or
    /// the storage was still busy with what came before the run.
    Cold(Cold),
    /// Some trials of a point lie farther away than chance reaches, and agree with each other: they count.
    Agree(Agreeing),
}

/// First trials that are excluded since what follows is faster.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cold {
    /// Number of these trials.
    pub cold: u64,
    /// All trials that are excluded, for this and other reasons.
    pub outliers: u64,
    /// Points that have any.
    pub points: u64,
    /// Trials that were measured.
    pub trials: u64,
    /// Rate of the slowest over the mean rate of those that follow at its point.
    pub rate_share: f64,
}

/// Trials of a point whose rates differ from those of its others, and hardly from each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreeing {
    /// Number of these trials.
    pub agreeing: u64,
    /// Trials of the point.
    pub of_trials: u64,
    /// Rate of the farthest over the others' mean rate.
    pub rate_share: f64,
    /// Standard deviation of the others, as a share of the rate.
    pub scatter_share: f64,
}

/// Outliers of a run, and the farthest of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Excluded {
    /// Trials that are excluded.
    pub outliers: u64,
    /// Trials that were measured.
    pub trials: u64,
    /// Id of the farthest outlier.
    pub farthest_trial: u64,
    /// Rate of the farthest outlier over its point's usual rate.
    pub rate_share: f64,
    /// Standard deviation of the other trials of its point, as a share of the rate.
    pub scatter_share: f64,
}

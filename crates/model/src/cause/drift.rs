//! Facts of the check `drift`.

use serde::Serialize;

/// Change of all points' rates over the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Drift {
    /// Too few trials are valid at points that were visited more than once.
    TooFewTrials {
        /// Trials there are.
        trials: usize,
        /// Trials that are needed.
        needed: usize,
    },
    /// The points were measured one after the other.
    Confounded {
        /// Share of all differences in time that lie between points.
        confounded_share: f64,
    },
    /// Time and point cannot be separated.
    NoSlope,
    /// The points changed in different directions.
    Unlike {
        /// Points whose rate rose.
        rose: usize,
        /// Points whose rate fell.
        fell: usize,
        /// Points whose rate held.
        held: usize,
        /// Length of the run.
        duration_s: f64,
        /// Whether the run wrote.
        wrote: bool,
    },
    /// All points changed alike.
    Changed {
        /// Change over the run, as a share.
        change_share: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end of its interval.
        high: f64,
        /// Length of the run.
        duration_s: f64,
    },
}

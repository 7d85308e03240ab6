//! Facts of drift.

/// Change of throughput over the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunDrift {
    /// It changed.
    Changed {
        /// Time between the first and the last trial.
        duration_s: f64,
        /// Change in that time, as a share.
        change_share: f64,
    },
    /// It did not.
    Steady {
        /// Time between the first and the last trial.
        duration_s: f64,
        /// Largest change that the interval allows, as a share.
        most_share: f64,
    },
}

/// Why a drift can neither be shown nor excluded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DriftProblem {
    /// Too few trials are valid.
    TooFewTrials {
        /// Trials that are valid.
        valid: usize,
        /// Trials that are needed.
        needed: usize,
    },
    /// Each point was visited at another time, so that time and point have one effect.
    Confounded,
    /// The interval reaches beyond what matters.
    TooWide {
        /// Time between the first and the last trial.
        duration_s: f64,
        /// Lower end of the change in that time, as a share.
        low_share: f64,
        /// Upper end of that change.
        high_share: f64,
    },
    /// Points changed in different directions.
    Different {
        /// Time between the first and the last trial.
        duration_s: f64,
        /// Points that became faster.
        rose: usize,
        /// Points that became slower.
        fell: usize,
        /// Points that did not change.
        held: usize,
    },
}

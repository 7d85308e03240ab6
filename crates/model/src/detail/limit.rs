//! Facts about rate limits.

use crate::IoLimit;

/// Evidence of a rate limit, or of none.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// A control group sets it, and trials reached it.
    Set {
        /// The limit that is set.
        limit: IoLimit,
        /// Trials that reached it.
        trials: usize,
    },
    /// Throughput fell to a cap.
    Fell {
        /// Requests per second before.
        before_iops: f64,
        /// Time until it fell.
        lasted_s: f64,
    },
    /// Throughput did not fall.
    Level {
        /// Time under load.
        load_s: f64,
    },
}

/// Why nothing can be said of a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LimitProblem {
    /// The load has too few windows to show a fall.
    FewWindows {
        /// Windows with a length.
        windows: usize,
    },
    /// Writes became slower, as they do when a buffer is full.
    WritesFell,
    /// Too few trials came after the fall.
    FewAfterFall {
        /// Trials after it.
        trials: usize,
    },
    /// Trials after the fall differ too much for a limit.
    Scatter {
        /// Largest deviation from their mean, as a share.
        deviation: f64,
    },
    /// Other workloads ran before the fall.
    OtherWorkloads,
}

//! Facts of the check `clock`.

use serde::Serialize;

/// Clocks that disagree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Clock {
    /// Clocks that were not read before and after the trial.
    NotRead,
    /// Machine that slept during the trial.
    Slept {
        /// Time asleep.
        suspended_s: f64,
    },
    /// Request clock that ran faster or slower than the kernel's.
    Speed {
        /// Request clock over the kernel's clock.
        clock_ratio: f64,
    },
    /// Calendar that was set during the trial.
    CalendarSet {
        /// Change of the calendar; negative where it was set back.
        calendar_step_s: f64,
    },
}

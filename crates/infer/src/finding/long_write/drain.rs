//! What a buffer drains within a pause that is too short to empty it.
//!
//! A buffer may empty while it is filled, and then contains what was written beyond the later throughput. Or it
//! empties only while idle, and then contains all that was written until the fall. A write after a shorter pause
//! distinguishes the two: the first kind has emptied at its sustained throughput by then, the second more slowly.

use iosonde_model::{
    About, Estimate, Trial,
    detail::{Drain, Pause},
};

use super::{
    fall::{Fall, lasting, mean_of, taken, windows},
    long::Long,
};
use crate::finding::over_trials;

/// Limits of the drain rate, relative to the sustained one, for a buffer that empties while it is filled.
const SAME_RATE: [f64; 2] = [0.75, 1.3];
/// Share of the buffer's size from which on it counts as empty.
const ALL_BACK: f64 = 0.9;
/// Up to which nothing shows.
const NOTHING_BACK: f64 = 0.05;

/// How long nothing had been written before a trial.
pub(super) fn pause_s(trial: &Trial, writes: &[&Trial]) -> f64 {
    let ends = writes.iter().filter(|other| other.started_s < trial.started_s);
    let latest = ends.map(|other| other.started_s + other.elapsed_s).reduce(f64::max);
    latest.map_or(f64::INFINITY, |ended_s| trial.started_s - ended_s)
}

/// What had drained within a shorter pause.
pub(in crate::finding) struct Drained {
    pub(in crate::finding) pause: Pause,
    /// Bytes beyond the lasting rate that were taken again.
    pub(in crate::finding) back: Estimate,
}

impl Long<'_, '_> {
    /// What the write after a shorter pause finds, against what the last of `falls` took.
    pub(in crate::finding) fn drained(&self, falls: &[Vec<Fall>], confidence: f64) -> Option<Drained> {
        let after_gap = self.after_gap?;
        let rate = mean_of(falls.iter().map(|falls| lasting(falls)));
        let last = || falls.iter().filter_map(|falls| falls.last());
        let whole = mean_of(last().map(|fall| fall.buffered));
        // What buffers before the last one hold is long there again.
        let before = mean_of(falls.iter().map(|falls| taken(falls))) - whole;
        // No burst lasts longer than after a whole pause.
        let most = last().map(|fall| fall.before_windows).max()? + 2;
        let writes = self.writes();
        let back = |trial: &Trial| {
            let windows = windows(trial);
            let burst = &windows[..most.min(windows.len())];
            (burst.iter().map(|(length, at)| length * (at - rate)).sum::<f64>() - before).max(1.0)
        };
        let trials = || after_gap.standing(About::Rate).filter(|trial| trial.measured_s > 0.0);
        let gap_s = mean_of(trials().map(|trial| pause_s(trial, &writes)));
        let back: Vec<f64> = trials().map(back).collect();
        let share = mean_of(back.iter().copied()) / whole;
        let back = over_trials::mean(&back, confidence)?;
        let by_rate = |end: Option<f64>| end.unwrap_or(0.0) / (gap_s * rate);
        let same = by_rate(back.low) >= SAME_RATE[0] && by_rate(back.high) <= SAME_RATE[1];
        let drain = if share <= NOTHING_BACK {
            Drain::Nothing
        } else if share >= ALL_BACK {
            Drain::Everything
        } else if same {
            Drain::WhileFilled
        } else if by_rate(back.high) < SAME_RATE[0] {
            Drain::OnlyIdle
        } else {
            Drain::Unknown
        };
        let pause = Pause { gap_s, drain };
        (gap_s.is_finite() && gap_s > 0.0 && whole > 0.0).then_some(Drained { pause, back })
    }
}

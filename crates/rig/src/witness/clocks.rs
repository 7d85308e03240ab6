//! Whether time itself could be trusted during a trial: the clock that times requests against the kernel's own.
//!
//! The kernel's monotonic clock is never set, and does not count while the machine sleeps; the calendar's is set by
//! hand or by a time service, and the one since boot counts sleep. Their differences over a trial are steps of the
//! calendar and time asleep. Slewing (500 parts in a million at most) moves monotonic and calendar alike.

use iosonde_model::Absence;

use crate::clock::{Clock, ClockReadings};

/// Steps of the clocks between two moments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Steps {
    pub(crate) calendar_step_s: f64,
    pub(crate) suspended_s: f64,
    /// `None` where the trial was too short to compare the clocks' speeds.
    pub(crate) own_ratio: Option<f64>,
}

/// Speeds are compared where reading the clocks costs less than this share of the time between.
const SPREAD_SHARE_MAX: f64 = 1e-3;

pub(crate) fn since(clock: &Clock, before: Option<ClockReadings>) -> Result<Steps, Absence> {
    let pair = before.zip(clock.moment());
    pair.map(|(before, after)| steps(before, after)).ok_or(Absence::ClocksUnreadable)
}

fn steps(before: ClockReadings, after: ClockReadings) -> Steps {
    let seconds = |ns: i128| ns as f64 / 1e9;
    let (monotonic_ns, spread_ns) =
        (after.monotonic_ns - before.monotonic_ns, before.spread_ns + after.spread_ns);
    let comparable = monotonic_ns > 0 && spread_ns as f64 <= SPREAD_SHARE_MAX * monotonic_ns as f64;
    let own_ns = i128::from(after.own_ns) - i128::from(before.own_ns);
    Steps {
        calendar_step_s: seconds(after.calendar_ns - before.calendar_ns - monotonic_ns),
        suspended_s: seconds(after.boot_ns - before.boot_ns - monotonic_ns),
        own_ratio: comparable.then(|| own_ns as f64 / monotonic_ns as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: ClockReadings =
        ClockReadings { own_ns: 0, monotonic_ns: 0, calendar_ns: 0, boot_ns: 0, spread_ns: 100 };
    const S: i128 = 1_000_000_000;

    #[test]
    fn a_calendar_set_back_and_a_nights_sleep() {
        let after = ClockReadings {
            own_ns: 2_000_000_000,
            monotonic_ns: 2 * S,
            calendar_ns: 2 * S - 3600 * S,
            boot_ns: 30 * S,
            spread_ns: 100,
        };
        let want = Steps { calendar_step_s: -3600.0, suspended_s: 28.0, own_ratio: Some(1.0) };
        assert_eq!(steps(ZERO, after), want);
    }

    #[test]
    fn speeds_are_compared_only_over_long_enough() {
        let after = ClockReadings { own_ns: 1_100_000, monotonic_ns: 1_000_000, spread_ns: 950, ..ZERO };
        assert_eq!(steps(ZERO, after).own_ratio, None);
        let after = ClockReadings { own_ns: 1_100_000, monotonic_ns: 1_000_000, spread_ns: 800, ..ZERO };
        assert_eq!(steps(ZERO, after).own_ratio, Some(1.1));
    }

    #[test]
    fn the_clocks_of_this_machine_agree() {
        let clock = Clock::real();
        let before = clock.moment();
        crate::clock::sleep_s(0.05);
        let steps = since(&clock, before).unwrap();
        assert!(steps.calendar_step_s.abs() < 0.01 && steps.suspended_s.abs() < 0.01, "{steps:?}");
        assert!(steps.own_ratio.is_none_or(|ratio| (ratio - 1.0).abs() < 0.01), "{steps:?}");
    }
}

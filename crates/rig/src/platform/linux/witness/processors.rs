//! How busy the machine's processors were, and how much of them the hypervisor took: `/proc/stat`.
//!
//! It counts in ticks of 10 ms for each processor: over 0.3 s on two processors a share is known to about 2
//! %.

use iosonde_model::{Absence, Counter};

use super::reading::Reading;
use crate::platform::linux::System;
use crate::witness::grown;

/// `/proc/stat`, open.
#[derive(Debug)]
pub(super) struct Processors(Reading);

/// Ticks of all processors since the machine started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    busy: u64,
    idle: u64,
    steal: u64,
    /// Part of `busy`.
    softirq: u64,
}

/// Shares of all processors' time between two readings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    pub(super) busy: f64,
    pub(super) steal: f64,
    pub(super) softirq: f64,
}

impl Processors {
    pub(super) fn open(system: &System) -> Result<Self, Absence> {
        Reading::open(&system.path("/proc/stat")).map(Self)
    }

    pub(super) fn ticks(&mut self) -> Option<Ticks> {
        parse(self.0.text().ok()?)
    }

    /// The shares since an earlier reading.
    pub(super) fn since(&mut self, before: Option<Ticks>) -> Result<Shares, Absence> {
        let after = self.ticks();
        shares(before, after)
    }
}

fn shares(before: Option<Ticks>, after: Option<Ticks>) -> Result<Shares, Absence> {
    let delta = |counter: Counter, count: fn(Ticks) -> u64| {
        grown(counter, "/proc/stat", before.map(count), after.map(count)).map(|ticks| ticks as f64)
    };
    let (busy, idle) = (delta(Counter::BusyTime, |t| t.busy)?, delta(Counter::IdleTime, |t| t.idle)?);
    let steal = delta(Counter::StealTime, |t| t.steal)?;
    let softirq = delta(Counter::SoftirqTime, |t| t.softirq)?;
    let total = busy + idle + steal;
    if total == 0.0 {
        return Err(Absence::ShorterThanTick);
    }
    Ok(Shares { busy: busy / total, steal: steal / total, softirq: softirq / total })
}

/// `cpu user nice system idle iowait irq softirq steal guest guest_nice`; guest time is in user and nice
/// already.
fn parse(text: &str) -> Option<Ticks> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let mut ticks = [0; 8];
    let mut words = line.split_whitespace();
    for tick in &mut ticks {
        *tick = words.next()?.parse::<u64>().ok()?;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    let sum = |parts: &[u64]| parts.iter().try_fold(0_u64, |sum, &part| sum.checked_add(part));
    // iowait is idleness, and moves back to idle when a waiting task wakes elsewhere: only their sum is
    // monotonic.
    let busy = sum(&[user, nice, system, irq, softirq])?;
    Some(Ticks { busy, idle: sum(&[idle, iowait])?, steal, softirq })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn guest_time_is_not_counted_twice() {
        let text = "cpu  10 20 30 400 50 6 7 8 9 1\ncpu0 5 0 0 0 0 0 0 0 0 0\n";
        // busy = 10 + 20 + 30 + 6 + 7.
        assert_eq!(parse(text), Some(Ticks { busy: 73, idle: 450, steal: 8, softirq: 7 }));
        assert_eq!(parse("cpu  1 2 3\n"), None);
    }

    #[test]
    fn shares_of_the_difference() {
        let before = Ticks { busy: 100, idle: 1000, steal: 10, softirq: 5 };
        let after = Ticks { busy: 130, idle: 1060, steal: 20, softirq: 15 };
        // 30 + 60 + 10 ticks in all.
        assert_eq!(shares(Some(before), Some(after)), Ok(Shares { busy: 0.3, steal: 0.1, softirq: 0.1 }));
        assert_eq!(shares(Some(before), Some(before)), Err(Absence::ShorterThanTick));
        assert!(matches!(shares(Some(after), Some(before)), Err(Absence::WentBackwards { .. })));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", numbers in prop::collection::vec(any::<u64>(), 0..12)) {
            let _ = parse(&text);
            let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
            let _ = parse(&format!("cpu  {}", numbers.join(" ")));
        }
    }
}

//! Waiting for messages without keeping a processor busy: hosts may share one with the load that is measured.

use std::time::Duration;

use iosonde_rig::clock;

/// Looks that only let others run; a message on one machine takes a few microseconds.
const EAGER: u32 = 64;
/// Looks until which it sleeps 50 us, and then 500 us.
const SOON: u32 = 2_000;

/// Pauses between looks, which grow.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    looks: u32,
}

impl Pause {
    pub(crate) fn take(&mut self) {
        self.looks = self.looks.saturating_add(1);
        if self.looks <= EAGER {
            std::thread::yield_now();
        } else {
            if self.looks == EAGER + 1 {
                // Else each of a trial's five turns of the conversation ends up to 50 us late.
                clock::exact_sleeps();
            }
            clock::sleep_ns(if self.looks <= SOON { 50_000 } else { 500_000 });
        }
    }
}

/// A moment until which it is waited.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at_ns: u64,
    pub(crate) after_s: u64,
}

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        let at_ns = clock::monotonic_ns().saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        Self { at_ns, after_s: time.as_secs() }
    }

    pub(crate) fn is_over(&self) -> bool {
        clock::monotonic_ns() >= self.at_ns
    }
}

/// Waits for a moment of the monotonic clock: asleep until shortly before, since a sleep ends late.
pub(crate) fn until_ns(at_ns: u64) {
    /// A wake-up takes some 60 us without a busy processor.
    const EARLY_NS: u64 = 100_000;
    loop {
        let left_ns = at_ns.saturating_sub(clock::monotonic_ns());
        if left_ns == 0 {
            return;
        }
        match left_ns.checked_sub(EARLY_NS) {
            None | Some(0) => std::thread::yield_now(),
            Some(early_ns) => clock::sleep_ns(early_ns),
        }
    }
}

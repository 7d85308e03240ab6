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

/// For how long it is waited. Time in which this process was stopped, or its machine slept, does not count: the
/// others may have been stopped with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    time: Duration,
    left_ns: u64,
    looked_ns: u64,
}

impl Deadline {
    /// More than that between two looks, and it was stopped: it looks ten times a second and more.
    const LOOKED_NS: u64 = 1_000_000_000;

    pub(crate) fn after(time: Duration) -> Self {
        let left_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self { time, left_ns, looked_ns: clock::monotonic_ns() }
    }

    /// The same time again, from now on.
    pub(crate) fn renew(&mut self) {
        *self = Self::after(self.time);
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.looked(clock::monotonic_ns())
    }

    fn looked(&mut self, now_ns: u64) -> bool {
        let since_ns = now_ns.saturating_sub(self.looked_ns).min(Self::LOOKED_NS);
        (self.left_ns, self.looked_ns) = (self.left_ns.saturating_sub(since_ns), now_ns);
        self.left_ns == 0
    }

    /// Seconds for which it is waited.
    pub(crate) fn after_s(&self) -> u64 {
        self.time.as_secs()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_does_not_pass_while_the_process_is_stopped() {
        let mut deadline = Deadline::after(Duration::from_secs(20));
        let mut now_ns = deadline.looked_ns;
        // Stopped for an hour: the first look after it counts for a second.
        now_ns += 3_600_000_000_000;
        assert!(!deadline.looked(now_ns));
        let mut looks = 0;
        while !deadline.looked(now_ns) {
            now_ns += 100_000_000;
            looks += 1;
        }
        assert_eq!(looks, 190);
    }
}

//! A call of the kernel that does not return: a server that is gone, a file system in user space that hangs.
//!
//! The measured loop looks at the clock at least once a second, and gives requests up that are out for too long. It
//! cannot where the thread itself is inside the call. So another thread looks whether any of the others still runs.
//! Nothing can end such a call but the end of the process.
//!
//! The same thread sees that the whole process did not run, by a signal or with its machine: it wakes up late. The
//! threads that measure cannot tell that from storage that is slow.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    clock::Clock,
    drive,
    long_flush::LongFlush,
    platform::{interrupt, scheduling::OtherThreads, supervise},
};

/// Time without any running thread after which a call is given up: more than the loop itself gives a request.
pub const STALLED_AFTER: Duration = Duration::from_nanos(drive::patience_ns(false) + 2 * drive::WAIT_NS);
/// After a signal that ends the run.
const STALLED_AFTER_STOP: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_nanos(drive::WAIT_NS);
/// Ten times in each look, so that a pause is seen wherever it begins; a wake-up takes some 5 µs.
const WAKES: u32 = 10;
/// Later than this, and it did not run: on a machine with five programs for each processor threads woke 0.1 s late.
const LATE: Duration = Duration::from_millis(250);

/// Looks on until it is dropped.
#[derive(Debug)]
pub struct StallWatch {
    over: Arc<AtomicBool>,
    seen: Arc<Seen>,
    looking: Option<JoinHandle<()>>,
}

/// What both threads know.
#[derive(Debug)]
struct Seen {
    counter: quanta::Clock,
    origin: u64,
    pulse: Mutex<Pulse>,
}

impl Seen {
    fn new(sleeps: Duration) -> Self {
        let Clock::Real { counter, origin } = Clock::real() else {
            unreachable!("processes sleep in real time")
        };
        Self { counter, origin, pulse: Mutex::new(Pulse { sleeps, ran_ns: 0, stopped_ns: 0 }) }
    }

    fn pulse(&self) -> MutexGuard<'_, Pulse> {
        // Two numbers, which are right whoever panicked.
        self.pulse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ns(&self) -> u64 {
        self.counter.delta_as_nanos(self.origin, self.counter.raw())
    }
}

/// When the thread that looks on ran last, and how long it could not. Time is counted from each beat to the next,
/// without a gap: a signal that stops the process stops each thread wherever it is.
#[derive(Debug)]
struct Pulse {
    /// What it sleeps by itself.
    sleeps: Duration,
    ran_ns: u64,
    stopped_ns: u64,
}

impl Pulse {
    fn beat(&mut self, now_ns: u64) {
        self.stopped_ns = self.stopped_ns(now_ns);
        self.ran_ns = now_ns;
    }

    /// Time in which it could not run, so far. After a stop another thread may run and ask before the next beat.
    fn stopped_ns(&self, now_ns: u64) -> u64 {
        let since = Duration::from_nanos(now_ns.saturating_sub(self.ran_ns));
        let late = since.saturating_sub(self.sleeps);
        self.stopped_ns + if late > LATE { late.as_nanos() as u64 } else { 0 }
    }
}

impl StallWatch {
    /// Calls `stalled` on a thread of its own, with the time that has passed, if no other thread of the process runs
    /// for so long.
    pub fn start(after: Duration, stalled: impl FnOnce(Duration) + Send + 'static) -> Self {
        let every = LOOK_EVERY.min(after);
        let sleeps = every / WAKES;
        let (over, seen) = (Arc::new(AtomicBool::new(false)), Arc::new(Seen::new(sleeps)));
        let (ended, own) = (Arc::clone(&over), Arc::clone(&seen));
        let look = move || {
            let others = OtherThreads::new();
            let (mut before, mut idle) = (None, Duration::ZERO);
            loop {
                for _ in 0..WAKES {
                    sleep(sleeps);
                    own.pulse().beat(own.now_ns());
                    if ended.load(Ordering::Acquire) {
                        return;
                    }
                    // Not at the beginning, when the others make ready for the trial.
                    before = before.or_else(|| others.running_ns());
                }
                let now = others.running_ns();
                let is_asked = interrupt::is_asked();
                let excused = !is_asked && LongFlush::is_under_way();
                idle = if now == before && !excused { idle + every } else { Duration::ZERO };
                before = now;
                let patience = if is_asked { after.min(STALLED_AFTER_STOP) } else { after };
                if idle >= patience && before.is_some() {
                    return stalled(idle);
                }
            }
        };
        // Without a thread to spare, nobody looks on.
        let looking = thread::Builder::new().name("stall-watch".into()).spawn(look).ok();
        Self { over, seen, looking }
    }

    /// Time in which the process did not run, so far.
    pub fn stopped_s(&self) -> f64 {
        // Without the thread, nobody knows.
        let stopped_ns =
            self.looking.as_ref().map_or(0, |_| self.seen.pulse().stopped_ns(self.seen.now_ns()));
        stopped_ns as f64 / 1e9
    }
}

/// Sleeps, and stops with the process that waits for this one.
fn sleep(time: Duration) {
    let stopped = supervise::is_stopped();
    thread::park_timeout(time);
    // Twice: one that goes on with this process is seen a moment too early.
    if stopped && supervise::is_stopped() {
        supervise::stop_with_the_other();
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // Not waited for: the next trial is not to be held up.
        if let Some(looking) = self.looking.take() {
            looking.thread().unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn beats_at(ms: &[u64]) -> Pulse {
        let mut pulse = Pulse { sleeps: Duration::from_millis(100), ran_ns: 0, stopped_ns: 0 };
        ms.iter().for_each(|at| pulse.beat(at * MS));
        pulse
    }

    #[test]
    fn waking_up_late_is_no_stop() {
        assert_eq!(beats_at(&[100, 205, 500]).stopped_ns(600 * MS), 0);
    }

    #[test]
    fn time_stopped_is_what_lies_between_two_beats_beyond_the_sleep() {
        assert_eq!(beats_at(&[100, 1300, 1400, 2700]).stopped_ns(2750 * MS), (1100 + 1200) * MS);
    }

    #[test]
    fn who_asks_before_the_next_beat_hears_of_the_stop() {
        let mut pulse = beats_at(&[100, 200]);
        assert_eq!(pulse.stopped_ns(1500 * MS), 1200 * MS);
        pulse.beat(1501 * MS);
        assert_eq!(pulse.stopped_ns(1502 * MS), 1201 * MS);
    }
}

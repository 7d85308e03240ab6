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
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{
    clock::Clock,
    drive,
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
    stopped_ns: Arc<AtomicU64>,
    looking: Option<JoinHandle<()>>,
}

impl StallWatch {
    /// Calls `stalled` on a thread of its own, with the time that has passed, if no other thread of the process runs
    /// for so long.
    pub fn start(after: Duration, stalled: impl FnOnce(Duration) + Send + 'static) -> Self {
        let (over, stopped_ns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (seen, late_ns) = (Arc::clone(&over), Arc::clone(&stopped_ns));
        let look = move || {
            let others = OtherThreads::new();
            let (mut before, mut idle) = (others.running_ns(), Duration::ZERO);
            let every = LOOK_EVERY.min(after);
            loop {
                for _ in 0..WAKES {
                    late_ns.fetch_add(late_after(every / WAKES), Ordering::Relaxed);
                    if seen.load(Ordering::Acquire) {
                        return;
                    }
                }
                let now = others.running_ns();
                idle = if now == before { idle + every } else { Duration::ZERO };
                before = now;
                let patience = if interrupt::is_asked() { after.min(STALLED_AFTER_STOP) } else { after };
                if idle >= patience && before.is_some() {
                    return stalled(idle);
                }
            }
        };
        // Without a thread to spare, nobody looks on.
        let looking = thread::Builder::new().name("stall-watch".into()).spawn(look).ok();
        Self { over, stopped_ns, looking }
    }

    /// Time in which the process did not run, so far.
    pub fn stopped_s(&self) -> f64 {
        self.stopped_ns.load(Ordering::Relaxed) as f64 / 1e9
    }
}

/// Waits, and returns by how much too long, where the thread did not run.
fn late_after(wait: Duration) -> u64 {
    let clock = Clock::real();
    let began_ns = clock.now_ns();
    let stopped = supervise::is_stopped();
    thread::park_timeout(wait);
    // Twice: one that goes on with this process is seen a moment too early.
    if stopped && supervise::is_stopped() {
        supervise::stop_with_the_other();
    }
    let late = Duration::from_nanos(clock.now_ns() - began_ns).saturating_sub(wait);
    if late > LATE { late.as_nanos() as u64 } else { 0 }
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

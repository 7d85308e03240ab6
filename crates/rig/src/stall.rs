//! A call of the kernel that does not return: a server that is gone, a file system in user space that hangs.
//!
//! The measured loop looks at the clock at least once a second, and gives requests up that are out for too long. It
//! cannot where the thread itself is inside the call. So another thread looks whether any of the others still runs.
//! Nothing can end such a call but the end of the process.

use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::{drive, interrupt};

/// Time without any running thread after which a call is given up: more than the loop itself gives a request.
pub const STALLED_AFTER: Duration = Duration::from_nanos(drive::HUNG_AFTER_NS + 2 * drive::WAIT_NS);
/// The same once a signal has asked for the end.
const STALLED_AFTER_STOP: Duration = Duration::from_secs(4);
const LOOK_EVERY: Duration = Duration::from_nanos(drive::WAIT_NS);

/// Looks on until it is dropped.
#[derive(Debug)]
pub struct StallWatch {
    over: Arc<AtomicBool>,
    looking: Option<JoinHandle<()>>,
}

impl StallWatch {
    /// Calls `stalled` on a thread of its own, with the time that has passed, if no other thread of the process runs for
    /// so long.
    pub fn start(after: Duration, stalled: impl FnOnce(Duration) + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let look = move || {
            let own = rustix::thread::gettid().as_raw_nonzero().get().to_string();
            let (mut before, mut idle) = (running_ns(&own), Duration::ZERO);
            let every = LOOK_EVERY.min(after);
            loop {
                thread::park_timeout(every);
                if seen.load(Ordering::Acquire) {
                    return;
                }
                let now = running_ns(&own);
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
        Self { over, looking }
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

/// Processor time of all other threads; `None` where the kernel does not tell.
fn running_ns(own: &str) -> Option<u64> {
    let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    let others = threads.filter(|thread| thread.file_name() != *own);
    // One that has ended meanwhile ran until then: the sum changes.
    Some(others.filter_map(|thread| one_ns(&thread.path())).sum())
}

/// Time on a processor is the first figure of `schedstat` (proc(5)).
fn one_ns(thread: &Path) -> Option<u64> {
    fs::read_to_string(thread.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
}

//! Threads: their timers, and whether any of them runs.

use std::{fs, path::Path};

/// Lets sleeps of this thread end when they are due: by default up to 50 µs late, so that the kernel can wake several
/// sleepers at once (prctl(2), PR_SET_TIMERSLACK); an open loop would count that as latency.
pub(crate) fn exact_timers() {
    // SAFETY: the call changes a number of this thread alone and reads no memory of ours.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Does nothing: Linux moves a busy thread to the faster cores by itself.
pub(crate) fn full_speed() {}

/// All threads of this process but the one that made this.
pub(crate) struct OtherThreads {
    own: String,
}

impl OtherThreads {
    /// All but the calling one.
    pub(crate) fn new() -> Self {
        Self { own: rustix::thread::gettid().as_raw_nonzero().get().to_string() }
    }

    /// Processor time of them all; `None` where the kernel does not tell.
    pub(crate) fn running_ns(&self) -> Option<u64> {
        let threads = fs::read_dir("/proc/self/task").ok()?.flatten();
        let others = threads.filter(|thread| thread.file_name() != *self.own);
        // One that has ended meanwhile ran until then: the sum changes.
        Some(others.filter_map(|thread| one_ns(&thread.path())).sum())
    }
}

/// Time on a processor is the first figure of `schedstat` (proc(5)).
fn one_ns(thread: &Path) -> Option<u64> {
    fs::read_to_string(thread.join("schedstat")).ok()?.split(' ').next()?.parse().ok()
}

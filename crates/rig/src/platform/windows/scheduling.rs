//! Threads: their timers, and whether any of them runs.

/// Sleeps of the standard library use exact timers since Windows 10 1803 by themselves.
pub(crate) fn exact_timers() {}

/// All threads of this process but the one that made this.
pub(crate) struct OtherThreads;

impl OtherThreads {
    /// All but the calling one.
    pub(crate) fn new() -> Self {
        Self
    }

    /// `None`: Windows counts a thread's time in ticks of 15.6 ms, which one that waits for storage may never fill.
    pub(crate) fn running_ns(&self) -> Option<u64> {
        None
    }
}

//! Threads: their timers, and whether any of them runs.

/// Sleeps end when they are due, but for what App Nap delays: programs in a terminal are not put to nap.
pub(crate) fn exact_timers() {}

/// All threads of this process but the one that made this.
pub(crate) struct OtherThreads;

impl OtherThreads {
    /// All but the calling one.
    pub(crate) fn new() -> Self {
        Self
    }

    /// `None`: the time of single threads is not asked.
    pub(crate) fn running_ns(&self) -> Option<u64> {
        None
    }
}

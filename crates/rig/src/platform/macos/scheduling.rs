//! Threads: their timers, and whether any of them runs.

/// Sleeps end when they are due, but for what App Nap delays: programs in a terminal are not put to nap.
pub(crate) fn exact_timers() {}

/// QOS_CLASS_USER_INITIATED (sys/qos.h).
const USER_INITIATED: u32 = 0x19;

unsafe extern "C" {
    fn pthread_set_qos_class_self_np(class: u32, relative_priority: libc::c_int) -> libc::c_int;
}

/// Asks for the performance cores, and for disk requests that are not held back: a user waits for the result. Threads
/// of a lower class run on the efficiency cores.
pub(crate) fn full_speed() {
    // SAFETY: the call changes the class of this thread, and touches no memory of ours.
    unsafe { pthread_set_qos_class_self_np(USER_INITIATED, 0) };
}

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

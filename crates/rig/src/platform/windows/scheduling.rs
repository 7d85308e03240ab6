//! Threads: their timers, and whether any of them runs.

use windows_sys::Win32::System::Threading::{
    GetCurrentThread, SetThreadInformation, THREAD_POWER_THROTTLING_CURRENT_VERSION,
    THREAD_POWER_THROTTLING_EXECUTION_SPEED, THREAD_POWER_THROTTLING_STATE, ThreadPowerThrottling,
};

/// Sleeps of the standard library use exact timers since Windows 10 1803 by themselves.
pub(crate) fn exact_timers() {}

/// Asks that this thread is never slowed to save power, nor kept on the slower cores (Windows does so with programs in
/// the background).
pub(crate) fn full_speed() {
    let state = THREAD_POWER_THROTTLING_STATE {
        Version: THREAD_POWER_THROTTLING_CURRENT_VERSION,
        ControlMask: THREAD_POWER_THROTTLING_EXECUTION_SPEED,
        StateMask: 0,
    };
    // SAFETY: the structure is that of the class, and outlives the call. Windows before 1709 refuses, and has no such
    // slowing.
    unsafe {
        let length = size_of::<THREAD_POWER_THROTTLING_STATE>() as u32;
        SetThreadInformation(GetCurrentThread(), ThreadPowerThrottling, (&raw const state).cast(), length);
    }
}

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

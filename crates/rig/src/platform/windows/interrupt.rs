//! Ctrl-C, Ctrl-Break and the end of the console: the first stops the measured loop, the second ends the program.

use std::sync::{
    Once,
    atomic::{AtomicBool, Ordering},
};

use windows_sys::{
    Win32::System::Console::{CTRL_BREAK_EVENT, GenerateConsoleCtrlEvent, SetConsoleCtrlHandler},
    core::BOOL,
};

static STOP: AtomicBool = AtomicBool::new(false);

/// Runs on a thread that the system makes for it.
unsafe extern "system" fn ask_to_stop(_event: u32) -> BOOL {
    // Not handled the second time: then the system ends the process.
    BOOL::from(!STOP.swap(true, Ordering::Relaxed))
}

/// Passes Ctrl-Break on to a process that was started here as the first of its group; one of this console gets the
/// event by itself.
pub fn pass_on(process: u32) {
    // SAFETY: plain numbers. A process that has ended has nothing to be told.
    unsafe { GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, process) };
}

/// Catches the console's events from now on, and returns the flag that they raise.
pub fn catch() -> &'static AtomicBool {
    static HANDLER: Once = Once::new();
    // SAFETY: the handler lives as long as the program, and only sets a flag.
    HANDLER.call_once(|| unsafe {
        SetConsoleCtrlHandler(Some(ask_to_stop), 1);
    });
    &STOP
}

/// Returns true if an event has ended the run.
pub(crate) fn is_asked() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Windows has no limit on the size of a process's files.
pub fn outlive_file_size_limit() {}

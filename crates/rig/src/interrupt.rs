//! Signals. Ctrl-C: the first stops the measured loop, the second ends the program as usual.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn ask_to_stop(_signal: libc::c_int) {
    // A store is all that is allowed here: signal handlers may not allocate or lock (signal-safety(7)).
    STOP.store(true, Ordering::Relaxed);
}

/// Sends the signal of Ctrl-C to a process that was started here and has not been waited for.
pub fn pass_on(process: u32) {
    let pid = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // One that has just ended has nothing to be told.
    let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::INT));
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on, and returns the flag that they raise.
pub fn catch() -> &'static AtomicBool {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the structure is plain data that is zero where it is not set; the handler is signal-safe.
        // RESETHAND gives the second signal its usual effect; no RESTART, so that a waiting call returns.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ask_to_stop as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    &STOP
}

/// Returns true if a signal has ended the run.
pub(crate) fn is_asked() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// Makes a write beyond the limit on file sizes (`ulimit -f`) an error, which is reported, instead of a signal that
/// ends the process.
pub fn outlive_file_size_limit() {
    // SAFETY: ignoring a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

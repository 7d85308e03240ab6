//! Signals. Ctrl-C: the first stops the measured loop, the second ends the program as usual.

use std::{
    sync::{
        Once,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

use crate::platform::leave;

/// The signals that end a run.
const CAUGHT: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

static STOP: AtomicBool = AtomicBool::new(false);
/// The signals that came, a bit each.
static ASKED: AtomicU32 = AtomicU32::new(0);

extern "C" fn ask_to_stop(signal: libc::c_int) {
    // Signal handlers may not allocate or lock (signal-safety(7)).
    STOP.store(true, Ordering::Relaxed);
    let own = 1 << signal;
    if ASKED.fetch_or(own, Ordering::Relaxed) & own == 0 {
        return leave::got(signal);
    }
    leave::by_signal(signal);
    // SAFETY: both calls are allowed here. The signal waits until this handler returns, and then ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Sends the signal of Ctrl-C to a process that was started here and has not been waited for.
pub fn pass_on(process: u32) {
    let pid = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // One that has just ended has nothing to be told.
    let _ = pid.map(|pid| rustix::process::kill_process(pid, rustix::process::Signal::INT));
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on, and returns the flag that they raise.
pub fn catch() -> &'static AtomicBool {
    static TAKER: Once = Once::new();
    TAKER.call_once(take_on_a_thread);
    for signal in CAUGHT.into_iter().filter(|signal| !nohup(*signal)) {
        // SAFETY: the structure is plain data that is zero where it is not set; the handler is signal-safe. No RESTART,
        // so that a waiting call returns.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ask_to_stop as *const () as libc::sighandler_t;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
    &STOP
}

/// Who started this program with `nohup` does not want the end of the terminal to end it.
fn nohup(signal: libc::c_int) -> bool {
    // SAFETY: without a new action the call writes the present one to a place of ours, plain data that may be zero.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        signal == libc::SIGHUP && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Lets a thread of its own take the signals, and no thread that is started later. The kernel gives a signal to the
/// first thread that takes it, and one inside a call that never returns would not get to its handler.
fn take_on_a_thread() {
    let taker = thread::Builder::new().name("signals".into()).spawn(|| {
        mask(libc::SIG_UNBLOCK);
        loop {
            thread::park();
        }
    });
    // Without a thread to spare, this one goes on taking them.
    if taker.is_ok() {
        mask(libc::SIG_BLOCK);
    }
}

/// Blocks or unblocks the signals for this thread and those that it starts.
fn mask(how: libc::c_int) {
    // SAFETY: the set is plain data that sigemptyset fills in; pthread_sigmask reads it and writes nothing.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in CAUGHT {
            libc::sigaddset(&mut set, signal);
        }
        libc::pthread_sigmask(how, &set, std::ptr::null_mut());
    }
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

//! The last words of the process that works, to the one that waits for it (`supervise`).
//!
//! It may not come to its end: Linux keeps a thread whose call of the storage does not return, and a process whose
//! requests of `libaio` are out. So it says how it ends before it does. A signal's handler may call all of this.

use std::sync::atomic::{AtomicI32, Ordering};

/// Where it says so; -1 where nobody waits.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// What standard input, output and error become. Opened at the beginning: later there is no power to open it.
static NOWHERE: AtomicI32 = AtomicI32::new(-1);

/// A word is two bytes: which, and its number.
pub(crate) type Word = [u8; 2];
/// A signal was taken.
pub(crate) const GOT: u8 = 1;
/// It ends with this exit code.
pub(crate) const CODE: u8 = 2;
/// It ends by this signal.
pub(crate) const SIGNAL: u8 = 3;
/// It stops, since the one that waits for it is stopped.
pub(crate) const STOPS: u8 = 4;

/// Says it there from now on.
pub(crate) fn speak_to(pipe: libc::c_int) {
    // SAFETY: the path ends with a zero.
    let nowhere = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    NOWHERE.store(nowhere, Ordering::Relaxed);
    PIPE.store(pipe, Ordering::Relaxed);
}

fn say(word: Word) -> bool {
    let pipe = PIPE.load(Ordering::Relaxed);
    // SAFETY: the two bytes are there; the pipe stays open until the process ends.
    pipe >= 0 && unsafe { libc::write(pipe, word.as_ptr().cast(), word.len()) } == word.len() as isize
}

/// A signal was taken that does not end the process.
pub(crate) fn got(signal: libc::c_int) {
    say([GOT, signal as u8]);
}

/// This process stops with the one that waits for it, and goes on when that one lets it.
pub(crate) fn stops() {
    say([STOPS, 0]);
}

/// This process ends with an exit code, now; what it had to say has been said.
pub fn with_code(code: u8) {
    if say([CODE, code]) {
        close_mouth();
    }
}

/// This process ends by a signal, now.
pub(crate) fn by_signal(signal: libc::c_int) {
    if say([SIGNAL, signal as u8]) {
        close_mouth();
    }
}

/// Gives standard input, output and error back: a program that reads them to their end must not wait for the storage.
fn close_mouth() {
    for standard in 0..=2 {
        // SAFETY: descriptors are numbers, and these three stay open.
        unsafe { libc::dup2(NOWHERE.load(Ordering::Relaxed), standard) };
    }
}

//! Names of files that remain where the measuring process is killed, for the one that then removes them (`cleaner`).

use std::{
    os::{
        fd::{IntoRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
    sync::atomic::{AtomicI32, Ordering},
};

/// Where the measuring process names its files; -1 where nobody listens.
static PIPE: AtomicI32 = AtomicI32::new(-1);

/// Longer messages are not written as a whole (pipe(7)).
const PATH_BYTES_MAX: usize = libc::PIPE_BUF - 1;

/// The measuring process names its files there from now on, until it ends.
pub(super) fn speak_to(pipe: OwnedFd) {
    PIPE.store(pipe.into_raw_fd(), Ordering::Relaxed);
}

/// A file or folder of our own of this absolute path is about to be made, and is to be removed if this process cannot.
/// A path that is too long is left to the next run.
pub(super) fn will_remove(path: &Path) {
    let pipe = PIPE.load(Ordering::Relaxed);
    let mut message = path.as_os_str().as_bytes().to_vec();
    if pipe < 0 || message.len() > PATH_BYTES_MAX {
        return;
    }
    // No path has a zero in it.
    message.push(0);
    // SAFETY: the bytes are there; the pipe stays open until the process ends.
    unsafe { libc::write(pipe, message.as_ptr().cast(), message.len()) };
}

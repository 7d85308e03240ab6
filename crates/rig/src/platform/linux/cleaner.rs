//! A process that removes the named files and folders of the measuring process once that has ended.
//!
//! A file without a name is gone with the last process that has it open. Where a file system has no such files, and
//! where other hosts open a file by its name, somebody must remove the name, and a process that is killed cannot.
//! `mpirun` kills all processes of a job 3 to 11 ms after it has asked them to end, when one of them was killed. So a
//! process of a session of its own, which neither a terminal nor `mpirun` knows of, waits for the end of the measuring
//! one: for the end of a pipe that only that one writes to. It then does what the next run would do (`remove_strays`),
//! and ends. Where nothing was named it does nothing.

use std::{
    ffi::OsStr,
    fs::File,
    io::Read,
    os::{
        fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd},
        unix::ffi::OsStrExt,
    },
    path::PathBuf,
    thread,
    time::Duration,
};

use super::{confine, guard::remove_strays};
use crate::guard::is_our_name;

/// How often, and at what distance, a name is tried whose file is still locked: the pipe is closed before other files
/// are, a large file takes a while to be given back, and requests to a disk that stalls hold it until they are done.
/// One minute in all, for which nobody waits.
const TRIES: u32 = 1200;
const APART: Duration = Duration::from_millis(50);

/// Starts the process. Call it before there is any thread, and before the measuring process is started, which gets what
/// is returned (`remains::speak_to`); others close it. `None` where the system gives no process.
pub(super) fn stand_by() -> Option<OwnedFd> {
    let (names, speaks) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).ok()?;
    // SAFETY: there is one thread, so that the new process has all that it needs.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => {
            // Nobody's child: a program that signals the children of a measurement, or waits for them, finds only the
            // measuring one.
            // SAFETY: as above, and as below.
            unsafe {
                if libc::fork() != 0 {
                    libc::_exit(0)
                }
            }
            drop(speaks);
            hold_nothing_but(names.into_raw_fd());
            // SAFETY: it is the only descriptor that was left, and nobody else's.
            let names = unsafe { File::from_raw_fd(NAMES) };
            remove_after(names);
            // SAFETY: what would run at a normal end belongs to the process that this is a copy of.
            unsafe { libc::_exit(0) }
        }
        between => {
            // SAFETY: no status is written.
            unsafe { libc::waitpid(between, std::ptr::null_mut(), 0) };
            Some(speaks)
        }
    }
}

/// Place of the only descriptor that is kept beside the standard ones.
const NAMES: RawFd = 3;

/// Lets go of terminal, folder, files and power that were inherited.
fn hold_nothing_but(names: RawFd) {
    let _ = rustix::process::setsid();
    let _ = std::env::set_current_dir("/");
    // SAFETY: descriptors are numbers; nothing of this process uses those that are closed.
    unsafe {
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..=2 {
            libc::dup2(nowhere, standard);
        }
        libc::dup2(names, NAMES);
        libc::syscall(libc::SYS_close_range, NAMES + 1, libc::c_uint::MAX, 0);
        // What asks the measuring process to end asks nothing of this one.
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::prctl(libc::PR_SET_NAME, c"iosonde-cleaner".as_ptr());
    }
    confine::keep_what_cleaning_needs();
}

/// Reads names until nobody can say any more, and removes them.
fn remove_after(mut names: File) {
    let mut bytes = Vec::new();
    // What was read before an error counts.
    let _ = names.read_to_end(&mut bytes);
    let paths = bytes.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    let paths = paths.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    let mut left: Vec<PathBuf> = paths.filter(|path| is_our_name(path)).collect();
    for _ in 0..TRIES {
        let gone = remove_strays(&left);
        left.retain(|path| !gone.contains(path));
        if left.is_empty() {
            break;
        }
        thread::sleep(APART);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::*;

    #[test]
    fn what_was_named_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let [ours, other, precious] =
            [".iosonde-abcdefg7", ".iosonde-abcdefg8", "thesis.tex"].map(|name| folder.path().join(name));
        for path in [&ours, &other, &precious] {
            fs::write(path, "x").unwrap();
        }
        let (names, speaks) = rustix::pipe::pipe().unwrap();
        let mut speaks = File::from(speaks);
        for path in [&ours, &precious] {
            speaks.write_all(&[path.as_os_str().as_bytes(), b"\0"].concat()).unwrap();
        }
        drop(speaks);
        remove_after(File::from(names));
        assert!(!ours.exists() && other.exists() && precious.exists());
    }
}

//! Who has a file open for writing, or a lock on it, at this moment.
//!
//! A database, a virtual machine or a download lives in such a file: overwriting it harms a program that runs, which
//! the plain word `--destroy` does not cover. Four signs are looked for: flock, POSIX and open-file-description locks,
//! leases, and descriptors that may write. What a killed process left in a call that does not return is none of them:
//! the run that it belonged to could not go on before the storage answers.

use std::{
    fmt,
    fs::{self, File},
    io,
    os::fd::AsRawFd,
    path::Path,
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use super::inode::Inode;
use crate::{
    clock::sleep_s,
    platform::linux::{is_killed, locked_by_the_killed},
};

/// One second in all: a killed program's locks and descriptors outlive it while the kernel closes its rings, which
/// takes tenths of a second.
const TRIES: u32 = 21;
const PAUSE_S: f64 = 0.05;

/// Constant of linux/fcntl.h; the libc crate does not have it.
const F_SETSIG: libc::c_int = 10;

/// A process that has the file, where it can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    name: String,
    id: u32,
}

/// How the file is held. Shown behind its path: "/srv/vm.img is open for writing in qemu (process 4711)".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// With flock, as iosonde itself does it: a measurement may be running.
    Flock,
    /// With a POSIX or an open-file-description lock.
    Locked(Option<Holder>),
    /// A descriptor that may write, without a lock.
    OpenForWriting(Option<Holder>),
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, holder) = match self {
            Self::Flock => return write!(f, "is locked by another program"),
            Self::Locked(holder) => ("is locked by", holder),
            Self::OpenForWriting(holder) => ("is open for writing in", holder),
        };
        match holder {
            Some(Holder { name, id }) => write!(f, "{what} {name} (process {id})"),
            None => write!(f, "{what} another program"),
        }
    }
}

/// How another program holds the file behind a descriptor that cannot write; `None` if none does, or where neither the
/// file system nor `/proc` says.
pub(super) fn held(file: &File, inode: Inode) -> Option<Held> {
    let mut found = None;
    for tried in 0..TRIES {
        if tried > 0 {
            sleep_s(PAUSE_S);
        }
        found = held_now(file, inode);
        found.as_ref()?;
    }
    found
}

/// The same for a host whose run has the file open and locked already, by this very program. No lease is asked for: one
/// would keep the next host of this machine from opening the file.
pub(super) fn held_by_strangers(file: &File, inode: Inode) -> Option<Held> {
    if let Some(locker) = locker(file) {
        return Some(Held::Locked(locker.and_then(named)));
    }
    let strangers = writers(inode, |id| !is_this_program(id));
    strangers.living.map(|holder| Held::OpenForWriting(Some(holder)))
}

/// True if another process of this very program has the device open for writing.
pub(super) fn is_held_by_this_program(inode: Inode) -> bool {
    writers(inode, is_this_program).living.is_some()
}

fn is_this_program(id: u32) -> bool {
    let program = |id: &str| rustix::fs::stat(format!("/proc/{id}/exe")).map(|stat| Inode::of(&stat));
    program(&id.to_string()).is_ok_and(|theirs| program("self").is_ok_and(|ours| ours == theirs))
}

fn held_now(file: &File, inode: Inode) -> Option<Held> {
    if !flock_is_free(file) {
        return Some(Held::Flock);
    }
    if let Some(locker) = locker(file) {
        return Some(Held::Locked(locker.and_then(named)));
    }
    match has_writers(file) {
        Some(false) => None,
        Some(true) => match writers(inode, |_| true) {
            Writers { living: None, killed: true } => None,
            Writers { living, .. } => Some(Held::OpenForWriting(living)),
        },
        None => writers(inode, |_| true).living.map(|holder| Held::OpenForWriting(Some(holder))),
    }
}

fn flock_is_free(file: &File) -> bool {
    let taken = flock(file, FlockOperation::NonBlockingLockExclusive);
    if taken.is_ok() {
        let _ = flock(file, FlockOperation::Unlock);
    }
    taken != Err(Errno::WOULDBLOCK) || locked_by_the_killed(file)
}

/// The process that has a lock on any byte; `Some(None)` if the lock belongs to an open file, which has no process, or
/// to a process of another container.
fn locker(file: &File) -> Option<Option<u32>> {
    // A lock for writing over the whole file meets every other. Asked through libc: for a lock of an open file the
    // kernel answers process -1, which rustix's `Pid` cannot hold.
    // SAFETY: flock is made of integers, for which zeros are a value.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as _;
    // SAFETY: F_GETLK reads and writes the one flock that it is given; the descriptor is open while `file` lives.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &raw mut lock) };
    let locked = asked == 0 && i32::from(lock.l_type) != libc::F_UNLCK;
    locked.then(|| u32::try_from(lock.l_pid).ok().filter(|id| *id > 0))
}

/// Whether any descriptor of the file may write: a lease for reading is refused while one may. `None` where leases
/// are not to be had: another user's file, or a file system without them (NFS).
fn has_writers(file: &File) -> Option<bool> {
    let command = |command, argument: libc::c_int| {
        // SAFETY: F_SETSIG and F_SETLEASE take an int and no memory; the descriptor is open while `file` lives.
        let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // A program that opens it in this moment breaks the lease: SIGIO would end this process, SIGURG is ignored by
    // default.
    command(F_SETSIG, libc::SIGURG).ok()?;
    let writers = match command(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => Some(false),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Some(true),
        Err(_) => None,
    };
    let _ = command(libc::F_SETLEASE, libc::F_UNLCK);
    writers
}

/// Processes that have the file open for writing, found in `/proc`: of other users' processes only root sees it.
struct Writers {
    living: Option<Holder>,
    killed: bool,
}

fn writers(inode: Inode, of: impl Fn(u32) -> bool) -> Writers {
    let mut killed = false;
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut others = ids.filter(|id| *id != std::process::id());
    let living = others.find(|id| {
        // The first thread of a killed process may have given its descriptors back before the last one.
        let dying = is_killed(*id);
        let threads = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
        let one = threads.take(if dying { usize::MAX } else { 1 });
        let has = one.map(|thread| thread.path()).any(|thread| writes(&thread, inode));
        killed |= dying && has;
        !dying && has && of(*id)
    });
    Writers { living: living.and_then(named), killed }
}

fn writes(thread: &Path, inode: Inode) -> bool {
    let Ok(descriptors) = fs::read_dir(thread.join("fd")) else { return false };
    descriptors.flatten().any(|entry| {
        rustix::fs::stat(entry.path()).is_ok_and(|stat| Inode::of(&stat) == inode)
            && may_write(&thread.join("fdinfo").join(entry.file_name()))
    })
}

/// `flags:` of fdinfo is octal, as open(2) takes it.
fn may_write(descriptor: &Path) -> bool {
    let info = fs::read_to_string(descriptor).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|octal| i32::from_str_radix(octal.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY)
}

fn named(id: u32) -> Option<Holder> {
    let name = fs::read_to_string(format!("/proc/{id}/comm")).ok()?;
    Some(Holder { name: name.trim().to_owned(), id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_now_at(path: &std::path::Path) -> Option<Held> {
        let file = File::open(path).unwrap();
        held_now(&file, Inode::of(&rustix::fs::fstat(&file).unwrap()))
    }

    #[test]
    fn a_file_that_nobody_has_is_free_and_asking_leaves_nothing_behind() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        assert_eq!(held_now_at(&file), None);
        assert_eq!(held_now_at(&file), None);
        File::options().write(true).open(&file).unwrap();
    }

    #[test]
    fn a_descriptor_that_may_write_is_seen_and_one_that_reads_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let reader = File::open(&file).unwrap();
        assert_eq!(held_now_at(&file), None);
        let writer = File::options().write(true).open(&file).unwrap();
        // This process itself is not looked for in /proc.
        assert_eq!(held_now_at(&file), Some(Held::OpenForWriting(None)));
        drop((reader, writer));
        assert_eq!(held_now_at(&file), None);
    }

    #[test]
    fn the_locks_of_files_and_flock_are_seen() {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let reader = File::open(&path).unwrap();
        flock(&reader, FlockOperation::LockShared).unwrap();
        assert_eq!(held_now_at(&path), Some(Held::Flock));
        flock(&reader, FlockOperation::Unlock).unwrap();
        // SAFETY: as in `locker`.
        let mut lock: libc::flock = unsafe { std::mem::zeroed() };
        lock.l_type = libc::F_RDLCK as _;
        // SAFETY: F_OFD_SETLK reads the one flock that it is given.
        assert_eq!(unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_OFD_SETLK, &raw mut lock) }, 0);
        assert_eq!(held_now_at(&path), Some(Held::Locked(None)));
    }
}

//! Opening a target in two steps, so that what is judged is what is written.
//!
//! First by path with O_PATH, which has no effect on what is there (a tape would rewind, a watchdog would
//! start, a pipe would block); this descriptor is judged. Then that very object again through
//! `/proc/self/fd`, with the rights that the judgement allows. The path is not looked at a second time:
//! a file that is exchanged in between changes nothing.

use std::{fs::File, io, os::fd::AsRawFd, path::Path};

use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fcntl_getfl, fcntl_setfl, fstat, open},
    io::Errno,
};

use super::links::refuse_strangers_link;
use crate::guard::{Refusal, target::unreachable_path};

/// Something found at a path, not yet opened for reading or writing.
#[derive(Debug)]
pub(super) struct OpenedPath {
    handle: File,
    /// Result of `fstat`.
    pub(super) stat: Stat,
}

impl OpenedPath {
    /// Finds what lies at a path, links followed.
    pub(super) fn at(path: &Path) -> Result<Self, Refusal> {
        refuse_strangers_link(path)?;
        let refuse = |error: Errno| unreachable_path(path, &error.into());
        let handle = File::from(open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(refuse)?);
        let stat = fstat(&handle).map_err(refuse)?;
        Ok(Self { handle, stat })
    }

    /// Its type.
    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    /// The descriptor, of no use but to be named as a folder.
    pub(super) fn handle(&self) -> &File {
        &self.handle
    }

    /// Opens it for reading, leaving even its access time alone where the kernel allows (it is ours, or we
    /// are root).
    pub(super) fn open_read_only(&self) -> io::Result<File> {
        match self.open(OFlags::RDONLY | OFlags::NOATIME) {
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => self.open(OFlags::RDONLY),
            other => other,
        }
    }

    /// Opens it with these flags; the object is the one that was found.
    pub(super) fn open(&self, flags: OFlags) -> io::Result<File> {
        let itself = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        if self.kind() != FileType::RegularFile {
            return Ok(File::from(open(itself, flags, Mode::empty())?));
        }
        // A file on which another program has a lease would block for 45 s here, until the kernel takes the lease away.
        let file = File::from(open(itself, flags | OFlags::NONBLOCK, Mode::empty())?);
        // For io_uring the flag means "never wait": every request that cannot be answered at once would fail.
        fcntl_setfl(&file, fcntl_getfl(&file)? & !OFlags::NONBLOCK)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Read};

    #[test]
    fn an_exchanged_path_does_not_exchange_what_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("target");
        fs::write(&path, "first").unwrap();
        let found = OpenedPath::at(&path).unwrap();
        fs::rename(&path, folder.path().join("aside")).unwrap();
        fs::write(&path, "second").unwrap();
        let mut text = String::new();
        found.open_read_only().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "first");
    }

    #[test]
    fn reading_does_not_give_the_right_to_write() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("target");
        fs::write(&path, "x").unwrap();
        let mut file = OpenedPath::at(&path).unwrap().open_read_only().unwrap();
        let error = io::Write::write(&mut file, b"y").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EBADF));
    }
}

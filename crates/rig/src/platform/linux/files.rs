//! Files beyond the standard library: reading at a place, advice, space.

use std::{
    ffi::OsStr,
    fs::{File, FileType},
    io,
    num::NonZeroU64,
    ops::Range,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, MetadataExt},
    },
    path::Path,
};

use rustix::fs::{Advice, FallocateFlags, Mode, OFlags, fadvise, fallocate, open};

use super::{KERNEL_SECTOR_BYTES, guard::unnamed};
use crate::platform::TargetKind;

pub(crate) use crate::platform::unix::quoted;

/// Reads at a place; returns the bytes read.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset_bytes: u64) -> io::Result<usize> {
    Ok(rustix::io::pread(file, bytes, offset_bytes)?)
}

/// Empties the page cache of a part of a file, as far as the kernel does so.
pub(crate) fn drop_pages(file: &File, range: Range<u64>) {
    let _ = rustix::fs::fdatasync(file);
    let length_bytes = NonZeroU64::new(range.end.saturating_sub(range.start));
    let _ = fadvise(file, range.start, length_bytes, Advice::DontNeed);
}

/// Tells the kernel in which order the file is read with buffered I/O: at random (`Some(true)`), from its start to its
/// end, or nothing. A file system that takes no advice reads as it does.
pub(crate) fn advise(file: &File, random: Option<bool>) {
    let advice = match random {
        None => Advice::Normal,
        Some(true) => Advice::Random,
        Some(false) => Advice::Sequential,
    };
    let _ = fadvise(file, 0, None, advice);
}

/// Gives a file its blocks; returns how many bytes it then has, and `None` where the file system reserves none.
pub(crate) fn allocate(file: &File, bytes: u64) -> io::Result<Option<u64>> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(Some(rustix::fs::fstat(file)?.st_blocks as u64 * KERNEL_SECTOR_BYTES)),
        Err(rustix::io::Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Free bytes for this user in the file system of a folder.
pub(crate) fn available_bytes(folder: &Path) -> io::Result<u64> {
    let room = rustix::fs::statvfs(folder)?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

/// Makes a file that is gone when it is closed. Its reads and writes are buffered.
pub(crate) fn temporary(folder: &Path) -> io::Result<File> {
    let folder = File::from(open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?);
    Ok(unnamed(&folder)?)
}

/// Opens a file without contents that takes whatever is written.
pub fn nothing() -> io::Result<File> {
    File::open("/dev/null")
}

/// Memory of this machine.
pub(crate) fn memory_bytes() -> Option<u64> {
    let system = rustix::system::sysinfo();
    Some(system.totalram * u64::from(system.mem_unit.max(1)))
}

/// Whether a path names a device by its form alone: on Linux a device is known by its node.
pub(crate) fn is_device(_path: &Path) -> bool {
    false
}

/// A name without its ending; `None` if it has another.
pub fn without_ending<'a>(name: &'a OsStr, ending: &str) -> Option<&'a OsStr> {
    Some(OsStr::from_bytes(name.as_bytes().strip_suffix(ending.as_bytes())?))
}

/// Kind of what lies at a path.
///
/// # Errors
/// Returns what it is where that is no storage.
pub fn kind(_path: &Path, kind: FileType) -> Result<TargetKind, &'static str> {
    match () {
        () if kind.is_dir() => Ok(TargetKind::Directory),
        () if kind.is_file() => Ok(TargetKind::File),
        () if kind.is_block_device() => Ok(TargetKind::Block),
        () if kind.is_char_device() => Err("a character device"),
        () if kind.is_fifo() => Err("a pipe"),
        () if kind.is_socket() => Err("a socket"),
        () => Err("neither a directory, nor a file, nor a block device"),
    }
}

/// Device and number of the file at a path, links followed: two paths with the same ones lead to one file.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Device and number of an open file.
pub fn identity_of(file: &File) -> io::Result<(u64, u64)> {
    file.metadata().map(|found| (found.dev(), found.ino()))
}

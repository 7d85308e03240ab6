//! Files beyond the standard library: reading at a place, read-ahead, space.

use std::{
    ffi::OsStr,
    fs::{File, FileType},
    io,
    ops::Range,
    os::{
        fd::AsRawFd,
        unix::{
            ffi::OsStrExt,
            fs::{FileExt, FileTypeExt, MetadataExt},
        },
    },
    path::Path,
};

use super::guard::unnamed;
pub(crate) use super::host::memory_bytes;
use crate::platform::{AtomicWrites, TargetKind};

pub(crate) use crate::platform::unix::quoted;

/// Reads at a place; returns the bytes read.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset_bytes: u64) -> io::Result<usize> {
    file.read_at(bytes, offset_bytes)
}

/// Writes out what is changed. macOS drops no part of a file from its cache on request: what stays there is seen by the
/// witness of residency.
pub(crate) fn drop_pages(file: &File, _range: Range<u64>) {
    let _ = file.sync_data();
}

/// Switches read-ahead off for random reads, and on for others (F_RDAHEAD).
pub(crate) fn advise(file: &File, random: Option<bool>) {
    let on = libc::c_int::from(random != Some(true));
    // SAFETY: the call changes a setting of the descriptor.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_RDAHEAD, on) };
}

/// Gives a file its blocks (F_PREALLOCATE); returns how many bytes it then has, and `None` where the file system
/// reserves none.
pub(crate) fn allocate(file: &File, bytes: u64) -> io::Result<Option<u64>> {
    let missing = bytes.saturating_sub(file.metadata()?.blocks() * 512);
    let mut asked = libc::fstore_t {
        fst_flags: libc::F_ALLOCATEALL,
        fst_posmode: libc::F_PEOFPOSMODE,
        fst_offset: 0,
        fst_length: missing as libc::off_t,
        fst_bytesalloc: 0,
    };
    // SAFETY: the structure is the one of the call, and outlives it.
    if missing > 0 && unsafe { libc::fcntl(file.as_raw_fd(), libc::F_PREALLOCATE, &raw mut asked) } < 0 {
        let error = io::Error::last_os_error();
        return if error.raw_os_error() == Some(libc::ENOTSUP) { Ok(None) } else { Err(error) };
    }
    file.set_len(bytes.max(file.metadata()?.len()))?;
    Ok(Some(file.metadata()?.blocks() * 512))
}

/// Free bytes for this user in the file system of a folder.
pub(crate) fn available_bytes(folder: &Path) -> io::Result<u64> {
    let room = rustix::fs::statvfs(folder)?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

/// Makes a file that is gone when it is closed. It is read and written through the cache.
pub(crate) fn temporary(folder: &Path) -> io::Result<File> {
    unnamed(folder)
}

/// Opens a file without contents that takes whatever is written.
pub fn nothing() -> io::Result<File> {
    File::open("/dev/null")
}

/// Whether a path names a device by its form alone: a device is known by its node.
pub(crate) fn is_device(_path: &Path) -> bool {
    false
}

/// A name without its ending; `None` if it has another.
pub fn without_ending<'a>(name: &'a OsStr, ending: &str) -> Option<&'a OsStr> {
    Some(OsStr::from_bytes(name.as_bytes().strip_suffix(ending.as_bytes())?))
}

/// Kind of what lies at a path. Raw disks are character devices (`/dev/rdisk2`).
///
/// # Errors
/// Returns what it is where that is no storage.
pub fn kind(path: &Path, kind: FileType) -> Result<TargetKind, &'static str> {
    let is_disk = || path.to_string_lossy().starts_with("/dev/rdisk");
    match () {
        () if kind.is_dir() => Ok(TargetKind::Directory),
        () if kind.is_file() => Ok(TargetKind::File),
        () if kind.is_block_device() || kind.is_char_device() && is_disk() => Ok(TargetKind::Block),
        () if kind.is_char_device() => Err("a character device"),
        () if kind.is_fifo() => Err("a pipe"),
        () if kind.is_socket() => Err("a socket"),
        () => Err("neither a directory, nor a file, nor a disk"),
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

/// Bytes of a span that lie in holes (APFS knows SEEK_HOLE); `None` where the file system does not tell.
pub fn unmapped_bytes(file: &File, span: Range<u64>) -> Option<u64> {
    let end = span.end.min(file.metadata().ok()?.len());
    // SAFETY: the call moves the descriptor's place, which nothing here uses.
    let seek = |at: u64, what| unsafe { libc::lseek(file.as_raw_fd(), at as libc::off_t, what) };
    let (mut at, mut holes_bytes) = (span.start, span.end.saturating_sub(end));
    while at < end {
        let data = match seek(at, libc::SEEK_DATA) {
            found if found >= 0 => (found as u64).min(end),
            _ if io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO) => end,
            _ => return None,
        };
        holes_bytes += data - at;
        let hole = seek(data, libc::SEEK_HOLE);
        at = if hole < 0 { end } else { (hole as u64).max(data + 1) };
    }
    Some(holes_bytes)
}

/// Bytes of a file that no clone and no snapshot shares (getattrlist(2), ATTR_CMNEXT_PRIVATESIZE); `None` where the
/// file system does not tell.
pub(super) fn private_bytes(file: &File) -> Option<u64> {
    /// The answer: its length, and one value.
    #[repr(C, packed(4))]
    struct Answer {
        length_bytes: u32,
        private_bytes: i64,
    }
    let mut wanted = libc::attrlist {
        bitmapcount: libc::ATTR_BIT_MAP_COUNT,
        reserved: 0,
        commonattr: 0,
        volattr: 0,
        dirattr: 0,
        fileattr: 0,
        forkattr: libc::ATTR_CMNEXT_PRIVATESIZE,
    };
    let mut answer = Answer { length_bytes: 0, private_bytes: 0 };
    // SAFETY: both structures are those of the call, which writes at most as many bytes as it is told.
    let told = unsafe {
        libc::fgetattrlist(
            file.as_raw_fd(),
            (&raw mut wanted).cast(),
            (&raw mut answer).cast(),
            size_of::<Answer>(),
            libc::FSOPT_ATTR_CMN_EXTENDED,
        )
    };
    let (length_bytes, private_bytes) = (answer.length_bytes, answer.private_bytes);
    (told == 0 && length_bytes as usize == size_of::<Answer>()).then(|| u64::try_from(private_bytes).ok())?
}

/// Sets an extended attribute.
///
/// # Errors
/// Returns an error where the file system keeps none.
pub fn set_attribute(file: &File, name: &str, value: &str) -> io::Result<()> {
    Ok(rustix::fs::fsetxattr(file, name, value.as_bytes(), rustix::fs::XattrFlags::empty())?)
}

/// Returns an attribute of the file at a path, links followed; `None` if it has none of that name.
pub fn attribute(path: &Path, name: &str) -> Option<String> {
    let mut value = vec![0; 256];
    let length = rustix::fs::getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(length);
    String::from_utf8(value).ok()
}

/// False: whether a process was killed and waits for its storage is not asked.
pub fn locked_by_the_killed(_file: &File) -> bool {
    false
}

/// None: this system promises no atomic writes.
pub fn atomic_writes(_file: &File) -> Option<Option<AtomicWrites>> {
    None
}

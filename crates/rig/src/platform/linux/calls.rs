//! System calls that several engines make, with results as requests have them: bytes, or a negative errno.

use std::{fs::File, io, os::fd::AsRawFd};

use iosonde_model::Sync;

/// Holes are punched in place: a trim never changes a file's length. On a block device the kernel turns this into
/// zeroes with unmapping.
pub const PUNCH: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;

/// The present errno as a result.
pub fn errno() -> i32 {
    -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// Interruptions in a row after which a call has failed: far more signals than a process gets within one request, and
/// milliseconds where the storage itself says EINTR for ever.
const INTERRUPTED_MAX: u32 = 1000;

/// Makes a call again where a signal interrupts it. Lengths are below 2 GiB, so they fit a result.
#[inline]
pub fn result(mut call: impl FnMut() -> isize) -> i32 {
    for _ in 0..INTERRUPTED_MAX {
        let moved = call();
        if moved >= 0 {
            return moved as i32;
        }
        let errno = errno();
        if errno != -libc::EINTR {
            return errno;
        }
    }
    -libc::EINTR
}

/// Returns true if a flush is one of data alone.
pub fn data_only(sync: Sync) -> bool {
    matches!(sync, Sync::Fdatasync { .. })
}

/// Flags of a write by which it is durable when it completes (pwritev2(2)).
pub fn write_flags(sync: Sync) -> i32 {
    match sync {
        Sync::Dsync => libc::RWF_DSYNC,
        Sync::Osync => libc::RWF_SYNC,
        Sync::None | Sync::Fsync { .. } | Sync::Fdatasync { .. } => 0,
    }
}

/// Flushes a file; returns when everything written to it is durable.
pub fn flush(file: &File, sync: Sync) -> i32 {
    let fd = file.as_raw_fd();
    // SAFETY: both calls touch no memory of ours.
    result(|| unsafe { if data_only(sync) { libc::fdatasync(fd) } else { libc::fsync(fd) } } as isize)
}

/// Trims a range; the result is its length, as other directions report what they moved.
pub fn trim(file: &File, offset_bytes: u64, length_bytes: u32) -> i32 {
    let (fd, at, length) = (file.as_raw_fd(), offset_bytes as libc::off_t, libc::off_t::from(length_bytes));
    // SAFETY: the call touches no memory of ours.
    match result(|| unsafe { libc::fallocate(fd, PUNCH, at, length) } as isize) {
        0 => length_bytes as i32,
        errno => errno,
    }
}

/// Returns true if a file was opened with O_DIRECT.
pub fn is_direct(file: &File) -> bool {
    // SAFETY: the call touches no memory of ours.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_DIRECT != 0
}

/// How many direct requests one system call hands on. The kernel plugs a batch: none of its requests reaches the device
/// before the last is queued (blk_start_plug(), as io_submit_sqes() calls it). At QD 32, handing on 32 at once
/// left a virtual disk idle meanwhile and cost 15 % of its rate, 4 at a time nothing; of 128, 16 at a time cost nothing
/// and a fifth less processor time than 4. An eighth of the depth is both.
pub(crate) fn direct_part(depth: u32) -> usize {
    (depth as usize / 8).max(4)
}

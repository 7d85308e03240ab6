//! System calls that several engines make, with results as requests have them: bytes, or a negative errno.
//!
//! They are made without the C library: its `pread` is a point where a thread can be cancelled, and in a program of
//! several threads it spends 29 ns of 320 on that (a page-cached read of 512 bytes).

use std::{fs::File, io, io::IoSliceMut, os::fd::AsRawFd};

use iosonde_model::Sync;
use rustix::{
    fs::{FallocateFlags, fallocate, fdatasync, fsync},
    io::{Errno, ReadWriteFlags, preadv2},
};

use super::atomic_writes;
use crate::{buffer::BufferPool, engine::Unavailable};

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
pub fn result(mut call: impl FnMut() -> rustix::io::Result<usize>) -> i32 {
    for _ in 0..INTERRUPTED_MAX {
        match call() {
            Ok(moved) => return moved as i32,
            Err(Errno::INTR) => {}
            Err(errno) => return -errno.raw_os_error(),
        }
    }
    -libc::EINTR
}

/// Flags of a write by which it is durable when it completes (pwritev2(2)).
pub fn write_flags(sync: Sync) -> i32 {
    match sync {
        Sync::Dsync => libc::RWF_DSYNC,
        Sync::Osync => libc::RWF_SYNC,
        _ => 0,
    }
}

/// Flag of reads that an engine's option stands for; 0 for options of another kind.
pub fn read_flag(option: &str) -> i32 {
    match option {
        "hipri" => libc::RWF_HIPRI,
        "nowait" => libc::RWF_NOWAIT,
        "dontcache" => libc::RWF_DONTCACHE,
        _ => 0,
    }
}

/// Flag of writes that an engine's option stands for.
pub fn write_flag(option: &str) -> i32 {
    if option == "atomic" { libc::RWF_ATOMIC } else { read_flag(option) }
}

/// All flags of several options.
pub fn flags(options: &[&str], flag: fn(&str) -> i32) -> i32 {
    options.iter().fold(0, |flags, option| flags | flag(option))
}

/// Refuses atomic writes where the kernel promises none.
pub fn refuse_atomic(engine: &str, file: &File) -> Result<(), Unavailable> {
    let why = match atomic_writes(file) {
        Some(Some(_)) if is_direct(file) => return Ok(()),
        Some(Some(_)) => "atomic writes need direct I/O",
        Some(None) => {
            "this file system or its device offers no atomic writes (statx: atomic_write_unit_max is 0)"
        }
        None => "this kernel or this file system offers no atomic writes (statx tells no STATX_WRITE_ATOMIC)",
    };
    Err(Unavailable(format!("{engine}:atomic: {why}")))
}

/// Refuses `dontcache` where a read with its flag fails for that reason.
pub fn refuse_dontcache(engine: &str, file: &File) -> Result<(), Unavailable> {
    match try_read(file, libc::RWF_DONTCACHE)? {
        libc::EOPNOTSUPP => Err(Unavailable(format!(
            "{engine}:dontcache: this kernel or this file system does not offer it (EOPNOTSUPP)"
        ))),
        _ => Ok(()),
    }
}

/// Reads once with a flag; returns the errno, 0 or negative if it went well. An empty file tells only whether the
/// kernel knows the flag.
pub fn try_read(file: &File, flag: i32) -> Result<i32, Unavailable> {
    // 64 KiB: a multiple of every alignment that direct I/O asks for.
    let buffers = BufferPool::new(1, 1 << 16).map_err(|error| Unavailable(error.to_string()))?;
    // SAFETY: the pool's only slot is 64 KiB long, and nobody else uses it.
    let block = unsafe { std::slice::from_raw_parts_mut(buffers.slot(0), 1 << 16) };
    let flags = ReadWriteFlags::from_bits_retain(flag as u32);
    Ok(-result(|| preadv2(file, &mut [IoSliceMut::new(block)], 0, flags)))
}

/// Flushes a file; returns when everything written to it is durable.
pub fn flush(file: &File, sync: Sync) -> i32 {
    result(|| if sync.of_data_alone() { fdatasync(file) } else { fsync(file) }.map(|()| 0))
}

/// Trims a range; the result is its length, as other directions report what they moved.
pub fn trim(file: &File, offset_bytes: u64, length_bytes: u32) -> i32 {
    let punch = FallocateFlags::from_bits_retain(PUNCH as u32);
    result(|| fallocate(file, punch, offset_bytes, length_bytes.into()).map(|()| length_bytes as usize))
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

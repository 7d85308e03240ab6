//! One request as one call that returns when the storage has answered: `pread`, `pwrite`, F_FULLFSYNC.

use std::{fs::File, io, os::fd::AsRawFd, sync::Arc};

use iosonde_model::{LoopNote, Op, Sync};

use crate::engine::{Bench, EngineOption, Request, Unavailable};

/// What can be asked of the calls.
pub(crate) const OPTIONS: &[EngineOption] = &[EngineOption {
    name: "fsync",
    explain: "flushes with fsync(2), which on macOS leaves data in the drive's cache, instead of F_FULLFSYNC.",
}];

/// Whether the calls can write a stream to new files.
pub(crate) const MAKES_FILES: bool = false;

/// Interruptions in a row after which a call has failed.
const INTERRUPTED_MAX: u32 = 1000;

/// Tries an option: this one works everywhere.
pub(crate) fn try_option(_file: &File, _option: &str) -> Result<(), Unavailable> {
    Ok(())
}

/// An open file, and how its calls are made.
pub(crate) struct Positioned {
    file: Arc<File>,
    slots: Box<[*mut u8]>,
    durable: bool,
    plain: bool,
}

impl Positioned {
    /// Makes it ready.
    pub(crate) fn open(file: &Arc<File>, bench: &Bench) -> io::Result<Self> {
        Ok(Self {
            file: Arc::clone(file),
            slots: (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect(),
            durable: matches!(bench.sync, Sync::Dsync | Sync::Osync),
            plain: bench.has("fsync"),
        })
    }

    /// Makes one request and returns its result.
    #[inline]
    pub(crate) fn call(&mut self, &Request { slot, op, length_bytes, offset_bytes }: &Request) -> i32 {
        let (fd, buffer) = (self.file.as_raw_fd(), self.slots[slot as usize].cast());
        let (length, at) = (length_bytes as usize, offset_bytes as libc::off_t);
        match op {
            // SAFETY: the slot's buffer is at least a block long and outlives the engine; nobody else uses it.
            Op::Read => result(|| unsafe { libc::pread(fd, buffer, length, at) }),
            Op::Write => {
                // SAFETY: as for reads.
                let moved = result(|| unsafe { libc::pwrite(fd, buffer, length, at) });
                // Durable when the call returns, as O_DSYNC is elsewhere.
                match if moved >= 0 && self.durable { self.flush() } else { 0 } {
                    errno if errno < 0 => errno,
                    _ => moved,
                }
            }
            Op::Trim => self.trim(at, length_bytes),
            Op::Flush => self.flush(),
        }
    }

    fn flush(&self) -> i32 {
        let fd = self.file.as_raw_fd();
        // SAFETY: both calls touch no memory of ours.
        result(|| unsafe { if self.plain { libc::fsync(fd) } else { libc::fcntl(fd, libc::F_FULLFSYNC) } }
            as isize)
    }

    /// Punches a hole (F_PUNCHHOLE).
    fn trim(&self, offset: libc::off_t, length_bytes: u32) -> i32 {
        let hole = libc::fpunchhole_t {
            fp_flags: 0,
            reserved: 0,
            fp_offset: offset,
            fp_length: libc::off_t::from(length_bytes),
        };
        let fd = self.file.as_raw_fd();
        // SAFETY: the structure is the one of the call, and outlives it.
        match result(|| unsafe { libc::fcntl(fd, libc::F_PUNCHHOLE, &raw const hole) } as isize) {
            0 => length_bytes as i32,
            errno => errno,
        }
    }

    /// Returns notes for the reader that are known only after the run: none.
    pub(crate) fn remarks(&self) -> Vec<LoopNote> {
        Vec::new()
    }
}

/// Makes a call again where a signal interrupts it.
#[inline]
fn result(mut call: impl FnMut() -> isize) -> i32 {
    for _ in 0..INTERRUPTED_MAX {
        let moved = call();
        if moved >= 0 {
            return moved as i32;
        }
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if errno != libc::EINTR {
            return -errno;
        }
    }
    -libc::EINTR
}

//! One request as one call that returns when the storage has answered: `pread`, `pwrite` and their flags.

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut},
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use iosonde_model::{LoopNote, Op, Sync};
use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    io::{ReadWriteFlags, pread, preadv2, pwrite, pwritev2},
};

use super::{calls, guard::unnamed};
use crate::engine::{Bench, EngineOption, NewFiles, Request, Unavailable};

/// What can be asked of the calls.
pub(crate) const OPTIONS: &[EngineOption] = &[
    EngineOption {
        name: "hipri",
        explain: "hints that the device may be polled for the answer (RWF_HIPRI); direct I/O, and kernels \
                  before 5.19.",
    },
    EngineOption {
        name: "nowait",
        explain: "asks not to wait first (RWF_NOWAIT), and again with waiting where that fails.",
    },
    EngineOption {
        name: "dontcache",
        explain: "buffered I/O that leaves nothing in the page cache behind (RWF_DONTCACHE, Linux 6.14).",
    },
    EngineOption {
        name: "atomic",
        explain: "writes that are on storage whole or not at all (RWF_ATOMIC, Linux 6.11); direct I/O, and sizes \
                  within the limits that `iosonde doctor` shows.",
    },
];

/// Whether the calls can write a stream to new files.
pub(crate) const MAKES_FILES: bool = true;

/// Reads once with an option's flag. An empty file tells only whether the kernel knows the flag.
pub(crate) fn try_option(file: &File, option: &str) -> Result<(), Unavailable> {
    match option {
        "atomic" => return calls::refuse_atomic("psync", file),
        "dontcache" => return calls::refuse_dontcache("psync", file),
        "hipri" if !calls::is_direct(file) => {
            return Err(Unavailable("psync:hipri polls the device, which only direct I/O reaches".into()));
        }
        _ => {}
    }
    match calls::try_read(file, calls::read_flag(option))? {
        libc::EOPNOTSUPP => Err(Unavailable(match option {
            "hipri" => "psync:hipri: this device has no polled queues (EOPNOTSUPP)".into(),
            _ => format!("psync:{option}: this kernel or this file system does not offer it (EOPNOTSUPP)"),
        })),
        // EAGAIN is what `nowait` is for. Other errors are the storage's, and are counted in the trial.
        _ => Ok(()),
    }
}

/// Makes a request with flags, and once more without `nowait` where that would have had to wait.
fn flagged(
    flags: i32,
    length_bytes: u32,
    waited: &mut u64,
    mut call: impl FnMut(ReadWriteFlags) -> i32,
) -> i32 {
    let flags = ReadWriteFlags::from_bits_retain(flags as u32);
    let moved = call(flags);
    // A request of which a part would have to wait comes back short; buffered writes of ext4 refuse the flag.
    let unfinished =
        moved == -libc::EAGAIN || moved == -libc::EOPNOTSUPP || (0..length_bytes as i32).contains(&moved);
    if !flags.contains(ReadWriteFlags::NOWAIT) || !unfinished {
        return moved;
    }
    *waited += 1;
    call(flags - ReadWriteFlags::NOWAIT)
}

/// An open file, and how its calls are made.
pub(crate) struct Positioned {
    file: Arc<File>,
    slots: Box<[*mut u8]>,
    sync: Sync,
    read_flags: i32,
    write_flags: i32,
    new_files: Option<Making>,
    /// Requests that `nowait` failed and that were made again.
    waited: u64,
}

/// Files that a stream creates, one for each pass over its span.
struct Making {
    folder: File,
    flags: OFlags,
    offset_bytes: u64,
    /// Closed files. A file without a name is freed with its last descriptor, which a named one is not, and freeing
    /// takes time: these stay until the trial has ended.
    closed: Vec<OwnedFd>,
}

impl Making {
    fn new(made: &NewFiles, like: &File) -> io::Result<Self> {
        let none = || io::Error::other("files without a name cannot be made on this target");
        let folder = made.folder.ok_or_else(none)?.try_clone()?;
        let flags = fcntl_getfl(like)? & OFlags::DIRECT;
        let room = (like.metadata()?.len() / made.file_bytes.max(1)) as usize + 1;
        Ok(Self { folder, flags, offset_bytes: made.offset_bytes, closed: Vec::with_capacity(room) })
    }

    /// Closes the latest file and creates the next.
    fn next(&mut self, latest: &mut Arc<File>) -> io::Result<()> {
        let file = unnamed(&self.folder)?;
        if !self.flags.is_empty() {
            fcntl_setfl(&file, fcntl_getfl(&file)? | self.flags)?;
        }
        let latest = std::mem::replace(latest, Arc::new(file));
        // Closing one of two descriptors is a close to the file system: it may write back what it holds.
        self.closed.push(latest.as_fd().try_clone_to_owned()?);
        drop(latest);
        Ok(())
    }
}

impl Positioned {
    /// Makes it ready.
    pub(crate) fn open(file: &Arc<File>, bench: &Bench) -> io::Result<Self> {
        let read_flags = calls::flags(bench.options, calls::read_flag);
        let write_flags = calls::flags(bench.options, calls::write_flag) | calls::write_flags(bench.sync);
        Ok(Self {
            file: Arc::clone(file),
            slots: (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect(),
            sync: bench.sync,
            read_flags,
            write_flags,
            new_files: bench.new_files.map(|made| Making::new(&made, file)).transpose()?,
            waited: 0,
        })
    }

    /// Makes one request and returns its result.
    #[inline]
    pub(crate) fn call(&mut self, request: &Request) -> i32 {
        let &Request { op, length_bytes, offset_bytes, .. } = request;
        if let Some(made) = self.new_files.as_mut().filter(|made| made.offset_bytes == offset_bytes)
            && op == Op::Write
            && let Err(error) = made.next(&mut self.file)
        {
            return -error.raw_os_error().unwrap_or(libc::EIO);
        }
        let (file, at) = (&self.file, offset_bytes);
        // SAFETY: the slot's buffer is at least a block long and outlives the engine; nobody else uses it.
        let block = unsafe {
            std::slice::from_raw_parts_mut(self.slots[request.slot as usize], length_bytes as usize)
        };
        match (op, self.read_flags, self.write_flags) {
            // Without flags the older calls do the same and save the kernel the copy of a vector.
            (Op::Read, 0, _) => calls::result(|| pread(file, &mut *block, at)),
            (Op::Write, _, 0) => calls::result(|| pwrite(file, &*block, at)),
            (Op::Read, flags, _) => flagged(flags, length_bytes, &mut self.waited, |flags| {
                calls::result(|| preadv2(file, &mut [IoSliceMut::new(block)], at, flags))
            }),
            (Op::Write, _, flags) => flagged(flags, length_bytes, &mut self.waited, |flags| {
                calls::result(|| pwritev2(file, &[IoSlice::new(block)], at, flags))
            }),
            (Op::Trim, ..) => calls::trim(file, offset_bytes, length_bytes),
            (Op::Flush, ..) => calls::flush(file, self.sync),
        }
    }

    /// Returns notes for the reader that are known only after the run.
    pub(crate) fn remarks(&self) -> Vec<LoopNote> {
        if self.waited > 0 { vec![LoopNote::MadeAgain { requests: self.waited }] } else { Vec::new() }
    }
}

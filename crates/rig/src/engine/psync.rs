//! One system call a request: `pread` and `pwrite`, one request at a time.
//!
//! Good for: what a simple program gets, and for the latency of a single request; it works on every kernel,
//! file system and container. A flush is `fsync` or `fdatasync`, a trim `fallocate` with PUNCH_HOLE, and
//! `--sync dsync` makes each write `pwritev2` with RWF_DSYNC.
//!
//! Cannot: keep a queue depth above 1, or a deadline, since the call returns when the storage has
//! answered. A depth above 1 is refused rather than silently measured as 1 (the trap that fio warns of in a
//! line that scripts do not read); several requests at once are several jobs.
//!
//! Traps: `nowait` fails a request that would have to wait, so each such request is made a second time
//! without it; both calls count as that request's latency, and how many there were is noted. `hipri` is a
//! hint: the kernel takes it and, since 5.19, does nothing with it in calls that wait for their answer;
//! polling is to be had from `io_uring:iopoll`. A trim of a block device asks for zeroes, with unmapping
//! where the device can: not the same command as a discard.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    sync::Arc,
};

use iosonde_model::{LoopNote, Named, Op, Sync};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, EngineOption, NewFiles, Opened, Request,
    Storage, Unavailable, calls,
};
use crate::{clock::Clock, guard::unnamed};

/// The registered engine.
pub struct Psync;

impl Named for Psync {
    fn name(&self) -> &'static str {
        "psync"
    }
}

impl EngineKind for Psync {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::File(_) => Ok(Abilities {
                blocking: true,
                depth_max: 1,
                depth_why: "its call returns when the storage has answered; io_uring and libaio keep more, \
                            and so do several --jobs",
            }),
            Storage::Simulated(_) => {
                Err(Unavailable("psync reads files; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let abilities = self.probe(bench.storage).map_err(io::Error::other)?;
        abilities.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        let read_flags = calls::flags(bench.options, calls::read_flag);
        let write_flags = calls::flags(bench.options, calls::write_flag) | calls::write_flags(bench.sync);
        let engine = Box::new(Loop {
            file: Arc::clone(file),
            slots: (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect(),
            sync: bench.sync,
            read_flags,
            write_flags,
            new_files: bench.new_files.map(|made| Making::new(&made, file)).transpose()?,
            waited: 0,
            done: None,
        });
        let notes = if bench.has("hipri") { vec![LoopNote::HipriIgnored] } else { Vec::new() };
        Ok(Opened { engine, clock: Clock::real(), notes })
    }

    fn makes_files(&self) -> bool {
        true
    }

    fn options(&self) -> &'static [EngineOption] {
        &[
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
                explain: "writes that are on storage whole or not at all (RWF_ATOMIC, Linux 6.11); direct I/O, and \
                          sizes within the limits that `iosonde doctor` shows.",
            },
        ]
    }

    fn probe_options(&self, storage: &Storage, options: &[&'static str]) -> Result<(), Unavailable> {
        let Storage::File(file) = storage else { return Ok(()) };
        options.iter().try_for_each(|option| try_option(file, option))
    }
}

/// Reads once with an option's flag. An empty file tells only whether the kernel knows the flag.
fn try_option(file: &File, option: &str) -> Result<(), Unavailable> {
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

/// # Safety
/// `length` bytes from `buffer` on must be valid, and nobody else's while the call runs.
unsafe fn vectored(op: Op, fd: i32, buffer: *mut u8, length: usize, at: libc::off_t, flags: i32) -> isize {
    let vector = libc::iovec { iov_base: buffer.cast(), iov_len: length };
    // SAFETY: one vector, which lives across the call; the caller answers for the buffer.
    unsafe {
        match op {
            Op::Write => libc::pwritev2(fd, &vector, 1, at, flags),
            _ => libc::preadv2(fd, &vector, 1, at, flags),
        }
    }
}

struct Loop {
    file: Arc<File>,
    slots: Box<[*mut u8]>,
    sync: Sync,
    read_flags: i32,
    write_flags: i32,
    new_files: Option<Making>,
    /// Requests that `nowait` failed and that were made again.
    waited: u64,
    done: Option<Completion>,
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

impl Loop {
    #[inline]
    fn call(&mut self, request: &Request) -> i32 {
        let &Request { op, length_bytes, offset_bytes, .. } = request;
        if let Some(made) = self.new_files.as_mut().filter(|made| made.offset_bytes == offset_bytes)
            && op == Op::Write
            && let Err(error) = made.next(&mut self.file)
        {
            return -error.raw_os_error().unwrap_or(libc::EIO);
        }
        let (fd, length, at) = (self.file.as_raw_fd(), length_bytes as usize, offset_bytes as libc::off_t);
        let buffer = self.slots[request.slot as usize];
        // SAFETY: the slot's buffer is at least a block long and outlives the engine; nobody else uses it.
        unsafe {
            match (op, self.read_flags, self.write_flags) {
                // Without flags the older calls do the same and save the kernel the copy of a vector.
                (Op::Read, 0, _) => calls::result(|| libc::pread64(fd, buffer.cast(), length, at)),
                (Op::Write, _, 0) => calls::result(|| libc::pwrite64(fd, buffer.cast(), length, at)),
                (Op::Read, flags, _) | (Op::Write, _, flags) => self.flagged(request, flags),
                (Op::Trim, ..) => calls::trim(&self.file, offset_bytes, length_bytes),
                (Op::Flush, ..) => calls::flush(&self.file, self.sync),
            }
        }
    }

    fn flagged(&mut self, request: &Request, flags: i32) -> i32 {
        let &Request { op, length_bytes, offset_bytes, .. } = request;
        let (fd, length, at) = (self.file.as_raw_fd(), length_bytes as usize, offset_bytes as libc::off_t);
        let buffer = self.slots[request.slot as usize];
        // SAFETY: as in `call`.
        let call = |flags| calls::result(|| unsafe { vectored(op, fd, buffer, length, at, flags) });
        let moved = call(flags);
        // A request of which a part would have to wait comes back short; buffered writes of ext4 refuse the flag.
        let unfinished =
            moved == -libc::EAGAIN || moved == -libc::EOPNOTSUPP || (0..length as i32).contains(&moved);
        if flags & libc::RWF_NOWAIT == 0 || !unfinished {
            return moved;
        }
        self.waited += 1;
        call(flags & !libc::RWF_NOWAIT)
    }
}

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let (Some(request), None) = (requests.first(), self.done) else { return Ok(0) };
        self.done = Some(Completion { slot: request.slot, result: self.call(request) });
        Ok(1)
    }

    fn reap(&mut self, _wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        done.extend(self.done.take());
        Ok(())
    }

    fn remarks(&self) -> Vec<LoopNote> {
        if self.waited > 0 { vec![LoopNote::MadeAgain { requests: self.waited }] } else { Vec::new() }
    }
}

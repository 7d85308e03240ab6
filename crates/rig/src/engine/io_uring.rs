//! Linux's asynchronous interface: many requests in flight from one thread, submitted and reaped in batches.
//!
//! Good for: everything; it is the cheapest way to keep storage busy. The file and the buffers are registered, so
//! the kernel neither looks up the file nor pins pages for each request, and one system call both submits the
//! next batch and waits for completions. Where the kernel has them, SINGLE_ISSUER and DEFER_TASKRUN let
//! completions run when we ask rather than interrupt us.
//!
//! Cannot: run where it is forbidden (seccomp in many containers, `kernel.io_uring_disabled`): iosonde then falls
//! back to psync and says so. Traps: file systems without NOWAIT (tmpfs, zram) hand every request to kernel
//! threads, whose processor time is not ours; locked memory (`ulimit -l`) may be too small to register buffers,
//! which costs a few per cent at small blocks and is noted.

use std::{fs::File, io, os::fd::AsRawFd, sync::Arc};

use io_uring::{EnterFlags, IoUring as Ring, opcode, squeue, types};
use iosonde_model::{Named, Op};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
};
use crate::{buffer::BufferPool, clock::Clock};

/// IORING_MAX_ENTRIES of the kernel.
const DEPTH_MAX: u32 = 32_768;
/// The kernel plugs a batch: none of its requests reaches the device before the last is queued (blk_start_plug(), as
/// io_submit_sqes() calls it). Handing on 32 at once left a virtual disk idle meanwhile and cost 15 % of its rate
/// against one at a time; parts of 4 cost nothing measurable and a quarter of the system calls.
const DIRECT_PART: usize = 4;
/// A registered buffer may not be longer (io_uring_register(2), IORING_REGISTER_BUFFERS).
const REGISTERED_MAX_BYTES: usize = 1 << 30;

/// The registered engine.
pub struct IoUring;

impl Named for IoUring {
    fn name(&self) -> &'static str {
        "io_uring"
    }
}

impl EngineKind for IoUring {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        let Storage::File(_) = storage else {
            return Err(Unavailable("io_uring reads files; a simulated device has its own engine".into()));
        };
        let ring = ring(8).map_err(|error| {
            let why = match error.raw_os_error() {
                Some(libc::EPERM | libc::EACCES) => {
                    "is forbidden here (a container's seccomp filter, or kernel.io_uring_disabled)"
                }
                Some(libc::ENOSYS) => "does not exist in this kernel",
                _ => "cannot be set up",
            };
            Unavailable(format!("io_uring {why}: {error}"))
        })?;
        // Waiting with a time limit came with Linux 5.11.
        if !ring.params().is_feature_ext_arg() {
            return Err(Unavailable("io_uring of this kernel cannot wait with a time limit".into()));
        }
        Ok(Abilities { blocking: false, depth_max: DEPTH_MAX })
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let ring = ring(bench.depth)?;
        let mut notes = Vec::new();
        ring.submitter().register_files(&[file.as_raw_fd()])?;
        let fixed = register(&ring, bench.buffers).map_err(|why| notes.push(why)).is_ok();
        let slots = (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect();
        let part = if bench.direct { DIRECT_PART } else { usize::MAX };
        let engine = Box::new(Loop { ring, _file: Arc::clone(file), slots, fixed, part });
        Ok(Opened { engine, clock: Clock::real(), notes })
    }
}

/// A ring for a depth, with every flag that this kernel accepts.
fn ring(depth: u32) -> io::Result<Ring> {
    // SINGLE_ISSUER came with 6.0, DEFER_TASKRUN with 6.1, COOP_TASKRUN with 5.19: older kernels say EINVAL.
    let deferred = Ring::builder().setup_single_issuer().setup_defer_taskrun().build(depth);
    match deferred {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
        ring_or_error => return ring_or_error,
    }
    match Ring::builder().setup_coop_taskrun().build(depth) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ring::new(depth),
        ring_or_error => ring_or_error,
    }
}

fn register(ring: &Ring, buffers: &BufferPool) -> Result<(), String> {
    let (start, length) = buffers.whole();
    if length > REGISTERED_MAX_BYTES {
        return Err("buffers of more than 1 GiB cannot be registered; each request pins its own pages".into());
    }
    let vector = [libc::iovec { iov_base: start.cast(), iov_len: length }];
    // SAFETY: the pool is a live mapping of this length, and outlives the ring: the driver owns both and drops the
    // engine first.
    unsafe { ring.submitter().register_buffers(&vector) }.map_err(|error| {
        format!(
            "buffers are not registered ({error}; `ulimit -l` limits it): each request pins its own pages"
        )
    })
}

#[inline]
fn entry(request: &Request, buffer: *mut u8, fixed: bool) -> squeue::Entry {
    let (file, at, length) = (types::Fixed(0), request.offset_bytes, request.length_bytes);
    let entry = match (request.op, fixed) {
        (Op::Read, true) => opcode::ReadFixed::new(file, buffer, length, 0).offset(at).build(),
        (Op::Write, true) => opcode::WriteFixed::new(file, buffer, length, 0).offset(at).build(),
        (Op::Read, false) => opcode::Read::new(file, buffer, length).offset(at).build(),
        (Op::Write, false) => opcode::Write::new(file, buffer, length).offset(at).build(),
        (Op::Trim | Op::Flush, _) => opcode::Nop::new().build(),
    };
    entry.user_data(u64::from(request.slot))
}

struct Loop {
    ring: Ring,
    /// Keeps the descriptor open: the registered file is the kernel's own reference, but its number is ours.
    _file: Arc<File>,
    slots: Box<[*mut u8]>,
    fixed: bool,
    /// Requests that one system call submits at most.
    part: usize,
}

impl Drop for Loop {
    /// Closing a ring is finished by a kernel thread some time later, and until then the registered file stays open:
    /// its lock, or an exclusively opened device, would be held although the program has ended.
    fn drop(&mut self) {
        let _ = self.ring.submitter().unregister_files();
    }
}

impl Loop {
    /// Submits what is queued and waits for `want` completions, at most `wait_ns`.
    fn enter(&mut self, want: u32, wait_ns: u64) -> io::Result<()> {
        self.ring.submission().sync();
        let queued = self.ring.submission().len() as u32;
        let mut flags = EnterFlags::GETEVENTS;
        let limit =
            types::Timespec::new().sec(wait_ns / 1_000_000_000).nsec((wait_ns % 1_000_000_000) as u32);
        let arguments = types::SubmitArgs::new().timespec(&limit);
        let timed = want > 0 && wait_ns != u64::MAX;
        // SAFETY: the entries' buffers and file are registered or live as long as the ring; `arguments` and the
        // time it points to outlive the call.
        let entered = unsafe {
            let submitter = self.ring.submitter();
            if timed {
                flags |= EnterFlags::EXT_ARG;
                submitter.enter(queued, want, flags.bits(), Some(&arguments))
            } else {
                submitter.enter::<libc::sigset_t>(queued, want, flags.bits(), None)
            }
        };
        match entered {
            Ok(_) => Ok(()),
            // ETIME: nothing came in time. EINTR: a signal, after which the driver looks at the clock and comes back.
            // EBUSY, EAGAIN: completions must be taken first. None of these loses a request.
            Err(e)
                if matches!(
                    e.raw_os_error(),
                    Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
                ) =>
            {
                Ok(())
            }
            Err(e) => Err(e),
        }
    }

    #[inline]
    fn take(&mut self, done: &mut Completions) -> usize {
        let before = done.len();
        let room = done.capacity() - before;
        let completed = self.ring.completion().take(room);
        done.extend(completed.map(|c| Completion { slot: c.user_data() as u32, result: c.result() }));
        done.len() - before
    }
}

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let mut taken = 0;
        for (number, part) in requests.chunks(self.part).enumerate() {
            // The last part goes with the wait that follows, in one system call.
            if number > 0 {
                self.enter(0, 0)?;
            }
            let Self { ring, slots, fixed, .. } = self;
            let mut queue = ring.submission();
            for request in part {
                let entry = entry(request, slots[request.slot as usize], *fixed);
                // SAFETY: see `enter`; the slot's buffer is nobody else's until its completion is reaped.
                if unsafe { queue.push(&entry) }.is_err() {
                    return Ok(taken);
                }
                taken += 1;
            }
        }
        Ok(taken)
    }

    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        let queued = !self.ring.submission().is_empty();
        if !queued && self.take(done) > 0 {
            return Ok(());
        }
        self.enter(u32::from(wait_ns > 0), wait_ns)?;
        self.take(done);
        Ok(())
    }
}

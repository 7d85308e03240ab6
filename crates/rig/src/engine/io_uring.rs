//! Linux's asynchronous interface: a deep queue from one thread, submitted and reaped in batches.
//!
//! Good for: everything; it is the cheapest way to keep storage busy. The file and the buffers are
//! registered, so the kernel neither looks up the file nor pins pages for each request, and one system call
//! both submits the next batch and waits for completions. Where the kernel has them, SINGLE_ISSUER and
//! DEFER_TASKRUN let completions run when we ask rather than interrupt us.
//!
//! A flush is an fsync of the ring, a trim its fallocate with PUNCH_HOLE, and `--sync dsync` puts RWF_DSYNC
//! on each write. Each job has a ring of its own.
//!
//! Cannot: run where it is forbidden (seccomp in many containers, `kernel.io_uring_disabled`): iosonde then
//! falls back to the next engine and says so. Keep a queue depth above 32,768 in one ring: the
//! kernel's limit.
//!
//! Traps: file systems without NOWAIT (tmpfs, zram) hand every request to kernel threads, whose processor
//! time is not ours; flushes and trims always go that way. Locked memory (`ulimit -l`) may be too small to
//! register buffers, which costs a few per cent at small blocks and is noted. `sqpoll` needs a second core
//! for its thread and loses without one; that thread's processor time is not in the job's either. `iopoll`
//! needs direct I/O and a device with polled queues (an NVMe drive with `nvme.poll_queues` set), spins for
//! the whole time of a request, and makes flushes and trims by calls that block. A trim of a block device
//! asks for zeroes, with unmapping where the device can: not the same command as a discard.

use std::{fs::File, io, os::fd::AsRawFd, sync::Arc};

use io_uring::{
    EnterFlags, IoUring as Ring, opcode, squeue,
    types::{self, FsyncFlags},
};
use iosonde_model::{LoopNote, Named, Op, Sync};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, EngineOption, Opened, Request, Storage,
    Unavailable,
};
use crate::{
    buffer::BufferPool,
    clock::{self, Clock},
    platform::calls,
};

/// IORING_MAX_ENTRIES of the kernel.
const DEPTH_MAX: u32 = 32_768;
/// A registered buffer may not be longer (io_uring_register(2), IORING_REGISTER_BUFFERS).
const REGISTERED_MAX_BYTES: usize = 1 << 30;
/// How long the thread of `sqpoll` looks for requests before it sleeps.
const SQPOLL_IDLE_MS: u32 = 100;
/// Looks at the completion queue before waiting in the kernel, with `sqpoll`: some 40 ns each, 40 µs in all, a fast
/// drive's answer.
const SQPOLL_LOOKS: u32 = 1000;

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
        let ring = ring(8, Mode::default()).map_err(refusal)?;
        // Waiting with a time limit came with Linux 5.11.
        if !ring.params().is_feature_ext_arg() {
            return Err(Unavailable("io_uring of this kernel cannot wait with a time limit".into()));
        }
        Ok(ABILITIES)
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        ABILITIES.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        // An own file was empty when its options were tried.
        self.probe_options(bench.storage, bench.options).map_err(io::Error::other)?;
        let (mode, plain) = (Mode::of(bench.options), bench.has("plain"));
        let ring = ring(bench.depth, mode).map_err(|error| io::Error::other(refusal(error)))?;
        let mut notes = Vec::new();
        let mut form = Form {
            file: types::Fd(file.as_raw_fd()),
            flags: squeue::Flags::empty(),
            fixed: false,
            read_flags: calls::flags(bench.options, calls::read_flag),
            write_flags: calls::flags(bench.options, calls::write_flag) | calls::write_flags(bench.sync),
            flush: if bench.sync.of_data_alone() { FsyncFlags::DATASYNC } else { FsyncFlags::empty() },
        };
        if !plain {
            ring.submitter().register_files(&[file.as_raw_fd()])?;
            (form.file, form.flags) = (types::Fd(0), squeue::Flags::FIXED_FILE);
            form.fixed = register(&ring, bench.buffers).map_err(|why| notes.push(why)).is_ok();
        }
        if mode.sqpoll {
            notes.push(LoopNote::KernelSubmits);
        }
        let engine = Box::new(Loop {
            ring,
            file: Arc::clone(file),
            slots: (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect(),
            form,
            mode,
            // The thread of `sqpoll` takes requests as it finds them.
            part: if bench.direct && !mode.sqpoll { calls::direct_part(bench.depth) } else { usize::MAX },
            sync: bench.sync,
            aside: Vec::with_capacity(bench.depth as usize),
        });
        Ok(Opened { engine, clock: Clock::real(), notes })
    }

    fn options(&self) -> &'static [EngineOption] {
        &[
            EngineOption {
                name: "sqpoll",
                explain: "a kernel thread looks for requests, so that submitting needs no system call.",
            },
            EngineOption {
                name: "iopoll",
                explain: "completions are polled from the device instead of interrupting; direct I/O, and a device \
                          with polled queues.",
            },
            EngineOption {
                name: "plain",
                explain: "registers neither buffers nor the file: what most programs do.",
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
            EngineOption {
                name: "no-iowait",
                explain: "waiting counts as idle time, not as iowait (IORING_ENTER_NO_IOWAIT, Linux 6.15): the \
                          processor's clock is then not raised for it.",
            },
        ]
    }

    fn probe_options(&self, storage: &Storage, options: &[&'static str]) -> Result<(), Unavailable> {
        let Storage::File(file) = storage else { return Ok(()) };
        let mode = Mode::of(options);
        let can_wait_idle =
            || ring(8, Mode::default()).is_ok_and(|ring| ring.params().is_feature_no_iowait());
        if mode.no_iowait && !can_wait_idle() {
            return Err(Unavailable(
                "io_uring:no-iowait: this kernel cannot; Linux 6.15 and later can".into(),
            ));
        }
        if mode.sqpoll {
            ring(8, Mode { sqpoll: true, ..Mode::default() }).map_err(|error| {
                Unavailable(format!("io_uring:sqpoll: this kernel starts no thread for us: {error}"))
            })?;
        }
        if mode.iopoll {
            try_polling(file)?;
        }
        if options.contains(&"dontcache") {
            calls::refuse_dontcache("io_uring", file)?;
        }
        if options.contains(&"atomic") { calls::refuse_atomic("io_uring", file) } else { Ok(()) }
    }
}

/// Why a ring cannot be had.
fn refusal(error: io::Error) -> Unavailable {
    let why = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "is forbidden here (a container's seccomp filter, or kernel.io_uring_disabled)"
        }
        Some(libc::ENOSYS) => "does not exist in this kernel",
        Some(libc::ENOMEM) => "needs more locked memory than this user may have (`ulimit -l`)",
        _ => "cannot be set up",
    };
    Unavailable(format!("io_uring {why}: {error}"))
}

const ABILITIES: Abilities = Abilities {
    blocking: false,
    depth_max: DEPTH_MAX,
    depth_why: "a ring of this kernel has no more entries; several --jobs have a ring each",
};

/// Mode of a ring.
#[derive(Debug, Clone, Copy, Default)]
struct Mode {
    sqpoll: bool,
    iopoll: bool,
    no_iowait: bool,
}

impl Mode {
    fn of(options: &[&str]) -> Self {
        let has = |option| options.contains(&option);
        Self { sqpoll: has("sqpoll"), iopoll: has("iopoll"), no_iowait: has("no-iowait") }
    }
}

/// A ring for a depth, with every flag that this kernel accepts.
fn ring(depth: u32, mode: Mode) -> io::Result<Ring> {
    let builder = || {
        let mut builder = Ring::builder();
        if mode.iopoll {
            builder.setup_iopoll();
        }
        builder
    };
    if mode.sqpoll {
        // Completions come from the kernel's thread: there is no work of ours to defer.
        return builder().setup_sqpoll(SQPOLL_IDLE_MS).build(depth);
    }
    // SINGLE_ISSUER came with 6.0, DEFER_TASKRUN with 6.1, COOP_TASKRUN with 5.19: older kernels say EINVAL.
    match builder().setup_single_issuer().setup_defer_taskrun().build(depth) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
        ring_or_error => return ring_or_error,
    }
    match builder().setup_coop_taskrun().build(depth) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => builder().build(depth),
        ring_or_error => ring_or_error,
    }
}

fn register(ring: &Ring, buffers: &BufferPool) -> Result<(), LoopNote> {
    let (start, length) = buffers.whole();
    if length > REGISTERED_MAX_BYTES {
        return Err(LoopNote::LargeBuffers);
    }
    let vector = [libc::iovec { iov_base: start.cast(), iov_len: length }];
    // SAFETY: the pool is a live mapping of this length, and outlives the ring: the driver owns both and drops the
    // engine first.
    unsafe { ring.submitter().register_buffers(&vector) }
        .map_err(|error| LoopNote::UnregisteredBuffers { error: error.to_string() })
}

/// Reads once from a polled ring. An empty file tells nothing: it has no block to ask the device for.
fn try_polling(file: &File) -> Result<(), Unavailable> {
    let refuse = |why: &str| Unavailable(format!("io_uring:iopoll: {why}"));
    if !calls::is_direct(file) {
        return Err(refuse("only direct I/O reaches the device's polled queues"));
    }
    match polled_read(file) {
        Ok(Some(result)) if result == -libc::EOPNOTSUPP => Err(refuse(
            "this device has no polled queues (EOPNOTSUPP); NVMe drives get them by the kernel parameter \
             nvme.poll_queues",
        )),
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(refuse("a first polled read did not come back within a second")),
        Err(error) => Err(refuse(&format!("a polled ring cannot be set up: {error}"))),
    }
}

/// The result of one polled read.
fn polled_read(file: &File) -> io::Result<Option<i32>> {
    // 64 KiB: a multiple of every alignment that direct I/O asks for.
    let buffers = BufferPool::new(1, 1 << 16)?;
    let mut ring = ring(8, Mode { iopoll: true, ..Mode::default() })?;
    let entry = opcode::Read::new(types::Fd(file.as_raw_fd()), buffers.slot(0), 1 << 16).build();
    // SAFETY: the pool's only slot is 64 KiB long and outlives the request: see below.
    unsafe { ring.submission().push(&entry) }.map_err(io::Error::other)?;
    for _ in 0..1000 {
        // Waiting for a request that the kernel handed to a thread of its own returns at once.
        ring.submit_and_wait(1)?;
        if let Some(completion) = ring.completion().next() {
            return Ok(Some(completion.result()));
        }
        clock::sleep_s(0.001);
    }
    // The kernel may still write into the buffer.
    std::mem::forget((buffers, ring));
    Ok(None)
}

/// Properties that all requests of a ring share.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// The descriptor, or the place among the registered files.
    file: types::Fd,
    flags: squeue::Flags,
    /// True if buffers are registered.
    fixed: bool,
    read_flags: i32,
    write_flags: i32,
    flush: FsyncFlags,
}

impl Form {
    #[inline]
    fn entry(self, request: &Request, buffer: *mut u8) -> squeue::Entry {
        let Self { file, flags, fixed, read_flags, write_flags, flush } = self;
        let (at, length) = (request.offset_bytes, request.length_bytes);
        let mut tag = u64::from(request.slot);
        let entry = match (request.op, fixed) {
            (Op::Read, true) => {
                opcode::ReadFixed::new(file, buffer, length, 0).offset(at).rw_flags(read_flags).build()
            }
            (Op::Read, false) => {
                opcode::Read::new(file, buffer, length).offset(at).rw_flags(read_flags).build()
            }
            (Op::Write, true) => {
                opcode::WriteFixed::new(file, buffer, length, 0).offset(at).rw_flags(write_flags).build()
            }
            (Op::Write, false) => {
                opcode::Write::new(file, buffer, length).offset(at).rw_flags(write_flags).build()
            }
            (Op::Flush, _) => opcode::Fsync::new(file).flags(flush).build(),
            (Op::Trim, _) => {
                // fallocate says 0 where all went well; its length comes back in the tag's upper half.
                tag |= u64::from(length) << 32;
                opcode::Fallocate::new(file, length.into()).offset(at).mode(calls::PUNCH).build()
            }
        };
        entry.flags(flags).user_data(tag)
    }
}

/// A polled ring carries reads and writes alone (the kernel says EINVAL to the rest): such a call blocks.
#[cold]
fn blocked(file: &File, sync: Sync, request: &Request) -> Completion {
    let &Request { slot, op, offset_bytes, length_bytes } = request;
    let result = match op {
        Op::Trim => calls::trim(file, offset_bytes, length_bytes),
        _ => calls::flush(file, sync),
    };
    Completion { slot, result }
}

struct Loop {
    ring: Ring,
    /// Keeps the descriptor open: a registered file is the kernel's own reference, but its number is ours.
    file: Arc<File>,
    slots: Box<[*mut u8]>,
    form: Form,
    mode: Mode,
    /// Requests that one system call submits at most.
    part: usize,
    sync: Sync,
    /// Completions that the ring does not bring: flushes and trims with `iopoll`.
    aside: Completions,
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
        if self.mode.sqpoll && self.ring.submission().need_wakeup() {
            flags |= EnterFlags::SQ_WAKEUP;
        }
        if self.mode.no_iowait {
            flags |= EnterFlags::NO_IOWAIT;
        }
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
        done.extend(completed.map(|c| {
            let (slot, trimmed) = (c.user_data() as u32, (c.user_data() >> 32) as i32);
            Completion { slot, result: if c.result() == 0 { trimmed } else { c.result() } }
        }));
        done.len() - before
    }

    /// With `sqpoll`: wakes the thread where it sleeps, and looks for completions before it waits for them.
    fn reap_beside_the_thread(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        if self.ring.submission().need_wakeup() {
            self.enter(0, 0)?;
        }
        for _ in 0..SQPOLL_LOOKS {
            if self.take(done) > 0 || wait_ns == 0 {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        self.enter(1, wait_ns)?;
        self.take(done);
        Ok(())
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
            let Self { ring, slots, form, mode, file, sync, aside, .. } = self;
            let mut queue = ring.submission();
            for request in part {
                if mode.iopoll && !matches!(request.op, Op::Read | Op::Write) {
                    aside.push(blocked(file, *sync, request));
                } else {
                    let entry = form.entry(request, slots[request.slot as usize]);
                    // SAFETY: see `enter`; the slot's buffer is nobody else's until its completion is reaped.
                    if unsafe { queue.push(&entry) }.is_err() {
                        return Ok(taken);
                    }
                }
                taken += 1;
            }
        }
        Ok(taken)
    }

    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        if !self.aside.is_empty() {
            done.append(&mut self.aside);
            return Ok(());
        }
        if self.mode.sqpoll {
            return self.reap_beside_the_thread(wait_ns, done);
        }
        let queued = !self.ring.submission().is_empty();
        if !queued && self.take(done) > 0 {
            return Ok(());
        }
        self.enter(u32::from(wait_ns > 0), wait_ns)?;
        self.take(done);
        Ok(())
    }
}

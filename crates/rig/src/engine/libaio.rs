//! Linux's older asynchronous interface: `io_submit` and `io_getevents`, a deep queue of direct requests from
//! one thread.
//!
//! Good for: comparing with programs that use it (databases, and years of fio results), and kernels or
//! containers where io_uring is missing. Completions are taken out of the ring that the kernel shares,
//! without a system call, as long as there are any.
//!
//! Cannot: keep a queue of buffered requests: they run inside `io_submit`, so the storage sees QD 1
//! at any requested depth, and no deadline can be kept. That is noted in the trial. `fsync` runs in a kernel
//! thread and does not block; a trim does, since the interface has none: it is a `fallocate` inside submit.
//!
//! Traps: even direct requests block in submit where the file system must allocate blocks, read its own
//! metadata or wait for a free request of the device. All programs of a machine share `fs.aio-max-nr`
//! requests; a depth beyond what is left of them is refused, with the remedy. "libaio" is the name of the C
//! library: iosonde makes its system calls itself.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use iosonde_model::{LoopNote, Named, Op, Sync};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
};
use crate::{clock::Clock, platform::calls};

/// Buffered requests that one system call hands on, as fio does. Each is done before the next begins, so that a batch
/// saves system calls alone; but the kernel plugs batches of more than two. On a busy machine random reads of a file
/// had 300 IOPS with 16 at once, and 10,000 at QD 1, as fio had at either depth.
const BUFFERED_PART: usize = 1;

/// The registered engine.
pub struct Libaio;

impl Named for Libaio {
    fn name(&self) -> &'static str {
        "libaio"
    }
}

impl EngineKind for Libaio {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        let Storage::File(file) = storage else {
            return Err(Unavailable("libaio reads files; a simulated device has its own engine".into()));
        };
        let context = Context::new(1).map_err(|error| Unavailable(refusal(&error, 1)))?;
        drop(context);
        // Where /proc cannot be read, io_setup itself will tell.
        let depth_max = room().map_or(65_536, |(room, _)| room).min(65_536) as u32;
        Ok(Abilities {
            blocking: !calls::is_direct(file),
            depth_max,
            depth_why: "the machine's programs share fs.aio-max-nr requests, and that is what is left; raise it with \
                        `sysctl fs.aio-max-nr=1048576`",
        })
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let context = Context::new(bench.depth)
            .map_err(|error| io::Error::new(error.kind(), refusal(&error, bench.depth)))?;
        let block = |slot| Block::new(file.as_raw_fd(), slot);
        let write_flags = calls::write_flags(bench.sync);
        let depth = bench.depth as usize;
        let engine = Loop {
            context,
            file: Arc::clone(file),
            buffers: (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect(),
            blocks: (0..bench.buffers.slots()).map(block).collect(),
            handed: Vec::with_capacity(depth),
            events: vec![Event::default(); depth].into(),
            aside: Vec::with_capacity(depth),
            sync: bench.sync,
            write_flags,
            part: if bench.direct { calls::direct_part(bench.depth) } else { BUFFERED_PART },
        };
        let mut notes = Vec::new();
        if !bench.direct && bench.depth > 1 {
            notes.push(LoopNote::OneAfterTheOther);
        }
        Ok(Opened { engine: Box::new(engine), clock: Clock::real(), notes })
    }
}

/// Why a context cannot be had, and what to do.
fn refusal(error: &io::Error, depth: u32) -> String {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => {
            let (left, max) = room().unwrap_or((0, 0));
            format!(
                "libaio: {depth} more outstanding requests than the kernel gives: {left} of fs.aio-max-nr = {max} are \
                 left to all programs. Raise it with `sysctl fs.aio-max-nr={}`, or use a lower depth",
                (max + u64::from(depth)).next_power_of_two().max(1 << 20)
            )
        }
        Some(libc::ENOSYS) => "libaio: this kernel has no asynchronous I/O (CONFIG_AIO)".into(),
        Some(libc::EPERM | libc::EACCES) => {
            format!("libaio is forbidden here (a container's seccomp filter): {error}")
        }
        _ => format!("libaio cannot be set up: {error}"),
    }
}

/// How many requests are left to this machine's programs, of how many.
fn room() -> Option<(u64, u64)> {
    let number =
        |name| std::fs::read_to_string(format!("/proc/sys/fs/{name}")).ok()?.trim().parse::<u64>().ok();
    let (taken, max) = (number("aio-nr")?, number("aio-max-nr")?);
    Some((max.saturating_sub(taken), max))
}

/// `struct iocb` of <linux/aio_abi.h>: one request.
#[repr(C)]
struct Block {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    rw_flags: i32,
    #[cfg(target_endian = "big")]
    key: u32,
    opcode: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

impl Block {
    const READ: u16 = 0;
    const WRITE: u16 = 1;
    const FSYNC: u16 = 2;
    const FDATASYNC: u16 = 3;

    fn new(file: i32, slot: u32) -> Self {
        Self {
            data: u64::from(slot),
            key: 0,
            rw_flags: 0,
            opcode: Self::READ,
            priority: 0,
            file: file as u32,
            buffer: 0,
            length: 0,
            offset: 0,
            reserved: 0,
            flags: 0,
            event_file: 0,
        }
    }
}

/// `struct io_event`: one completion.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    result2: i64,
}

impl Event {
    fn completion(&self) -> Completion {
        Completion { slot: self.data as u32, result: self.result as i32 }
    }
}

/// The head of the ring that the kernel maps into the process; the context's number is its address. Events follow.
#[repr(C)]
struct Ring {
    id: u32,
    slots: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_bytes: u32,
}

/// AIO_RING_MAGIC of the kernel's fs/aio.c.
const RING_MAGIC: u32 = 0xa10a_10a1;

/// A kernel context, destroyed when dropped (which waits for outstanding requests).
struct Context {
    number: libc::c_ulong,
    /// The shared ring, where it looks as we know it.
    ring: Option<*const Ring>,
}

impl Context {
    fn new(depth: u32) -> io::Result<Self> {
        let mut number: libc::c_ulong = 0;
        // SAFETY: the kernel writes the context's number to a place of ours that is 0, as it demands.
        let made = unsafe { libc::syscall(libc::SYS_io_setup, libc::c_ulong::from(depth), &raw mut number) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        let ring = number as *const Ring;
        // SAFETY: the kernel mapped the ring at this address, and it stays until io_destroy.
        let known = unsafe { (*ring).magic == RING_MAGIC && (*ring).incompatible == 0 };
        Ok(Self { number, ring: known.then_some(ring) })
    }

    fn submit(&self, blocks: &[*mut Block]) -> Result<usize, i32> {
        // SAFETY: the pointers lead to blocks that outlive the requests; their buffers are the slots'.
        let taken = unsafe { libc::syscall(libc::SYS_io_submit, self.number, blocks.len(), blocks.as_ptr()) };
        if taken < 0 { Err(calls::errno()) } else { Ok(taken as usize) }
    }

    /// Moves completions out of the shared ring.
    #[inline]
    fn take(&self, done: &mut Completions) -> bool {
        let Some(ring) = self.ring else { return false };
        // SAFETY: the ring is mapped as long as the context lives. The kernel alone writes events and the tail, and
        // publishes the tail after them; we alone move the head, as nobody calls io_getevents meanwhile.
        unsafe {
            let (mut head, slots) = ((*ring).head.load(Ordering::Relaxed), (*ring).slots);
            let tail = (*ring).tail.load(Ordering::Acquire);
            if head == tail {
                return false;
            }
            let events = ring.cast::<u8>().add((*ring).header_bytes as usize).cast::<Event>();
            while head != tail && done.len() < done.capacity() {
                done.push((*events.add(head as usize)).completion());
                head = if head + 1 == slots { 0 } else { head + 1 };
            }
            (*ring).head.store(head, Ordering::Release);
        }
        true
    }

    /// Waits for the first completion, at most `wait_ns`, and takes as many as `events` holds.
    fn wait(&self, wait_ns: u64, events: &mut [Event]) -> io::Result<usize> {
        let limit = libc::timespec {
            tv_sec: (wait_ns / 1_000_000_000) as _,
            tv_nsec: (wait_ns % 1_000_000_000) as _,
        };
        let limit = if wait_ns == u64::MAX { std::ptr::null() } else { &raw const limit };
        let least = libc::c_long::from(wait_ns > 0);
        // SAFETY: the kernel writes at most so many events into a place of ours, and reads a time of ours.
        let got = unsafe {
            let most = events.len() as libc::c_long;
            libc::syscall(libc::SYS_io_getevents, self.number, least, most, events.as_mut_ptr(), limit)
        };
        match (got, calls::errno) {
            (got, _) if got >= 0 => Ok(got as usize),
            (_, errno) if errno() == -libc::EINTR => Ok(0),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the number is a context of ours, and nothing uses it or its ring any more.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.number) };
    }
}

struct Loop {
    context: Context,
    file: Arc<File>,
    buffers: Box<[*mut u8]>,
    /// One a slot; the kernel reads them while they are submitted.
    blocks: Box<[Block]>,
    /// Control blocks for the next `io_submit`.
    handed: Vec<*mut Block>,
    events: Box<[Event]>,
    /// Completions that no ring will bring: requests that were refused, and trims.
    aside: Completions,
    sync: Sync,
    write_flags: i32,
    /// Requests that one system call submits at most.
    part: usize,
}

impl Loop {
    /// Writes down a request for the next call.
    #[inline]
    fn write_down(&mut self, request: &Request) {
        let &Request { slot, op, length_bytes, offset_bytes } = request;
        let block = &mut self.blocks[slot as usize];
        block.length = u64::from(length_bytes);
        block.offset = offset_bytes as i64;
        block.buffer = self.buffers[slot as usize] as u64;
        (block.opcode, block.rw_flags) = match op {
            Op::Read => (Block::READ, 0),
            Op::Write => (Block::WRITE, self.write_flags),
            Op::Flush | Op::Trim => {
                // The kernel refuses a flush with anything else in it.
                (block.length, block.offset, block.buffer) = (0, 0, 0);
                (if self.sync.of_data_alone() { Block::FDATASYNC } else { Block::FSYNC }, 0)
            }
        };
        self.handed.push(block);
    }

    /// Hands on what is written down; says how many of them were taken, and forgets the rest.
    #[inline]
    fn hand_on(&mut self) -> usize {
        let mut taken = 0;
        while taken < self.handed.len() {
            match self.context.submit(&self.handed[taken..]) {
                Ok(some) => taken += some,
                // No room: completions must be taken first.
                Err(errno) if errno == -libc::EAGAIN => break,
                Err(errno) if errno == -libc::EINTR => {}
                // The first of them was refused: that is its result.
                Err(result) => {
                    // SAFETY: the pointer leads into `blocks`, and the kernel does not hold a refused one.
                    let slot = unsafe { (*self.handed[taken]).data } as u32;
                    self.aside.push(Completion { slot, result });
                    taken += 1;
                }
            }
        }
        self.handed.clear();
        taken
    }
}

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let mut taken = 0;
        for part in requests.chunk_by(|a, b| (a.op == Op::Trim) == (b.op == Op::Trim)) {
            if let [Request { op: Op::Trim, .. }, ..] = part {
                for &Request { slot, offset_bytes, length_bytes, .. } in part {
                    let result = calls::trim(&self.file, offset_bytes, length_bytes);
                    self.aside.push(Completion { slot, result });
                }
                taken += part.len();
                continue;
            }
            for part in part.chunks(self.part) {
                part.iter().for_each(|request| self.write_down(request));
                let handed = self.hand_on();
                taken += handed;
                if handed < part.len() {
                    return Ok(taken);
                }
            }
        }
        Ok(taken)
    }

    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        let aside = !self.aside.is_empty();
        done.append(&mut self.aside);
        if self.context.take(done) || aside {
            return Ok(());
        }
        if wait_ns == 0 && self.context.ring.is_some() {
            return Ok(());
        }
        let room = done.capacity() - done.len();
        let events = &mut self.events[..room.min(self.blocks.len())];
        let got = self.context.wait(wait_ns, events)?;
        done.extend(events[..got].iter().map(Event::completion));
        Ok(())
    }
}

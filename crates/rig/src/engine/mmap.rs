//! Maps the file into memory, and reads and writes it by copying: no system call a request.
//!
//! Good for: what programs see that map their files (many databases and search engines): a page that is in
//! memory costs a copy alone, one that is not a page fault. A flush is `msync` with MS_SYNC of what was
//! written since the last one, which is `fdatasync` of that range; after `--sync fsync:N` an `fsync` follows
//! it, and `--sync dsync` makes an `msync` of each write. A trim is `fallocate` with PUNCH_HOLE. With
//! `random`, the kernel is told that accesses are random, and reads no neighbours of a missing page.
//!
//! Cannot: bypass the page cache (direct I/O is refused), keep a queue depth above 1, keep a
//! deadline, or make a file longer. It is only used when selected by name.
//!
//! Traps: figures are those of memory as soon as the file is in the page cache, and writes are in memory only
//! until they are flushed. The first touch of each page is a fault even when the page is cached. An error of
//! the storage, or a file that somebody cut shorter meanwhile, arrives as the signal SIGBUS, which ends most
//! programs: here the request is counted as an I/O error (EIO), and the run goes on.

use std::{
    fs::File,
    io, ptr,
    sync::{
        Arc, Once,
        atomic::{AtomicPtr, AtomicUsize, Ordering, compiler_fence},
    },
};

use iosonde_model::{LoopNote, Named, Op, Sync};
use rustix::{
    mm::{self, Advice, MapFlags, MsyncFlags, ProtFlags},
    param::page_size,
};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, EngineOption, Opened, Request, Storage,
    Unavailable,
};
use crate::{clock::Clock, platform::calls};

/// The registered engine.
pub struct Mmap;

impl Named for Mmap {
    fn name(&self) -> &'static str {
        "mmap"
    }
}

impl EngineKind for Mmap {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        let Storage::File(file) = storage else {
            return Err(Unavailable("mmap maps files; a simulated device has its own engine".into()));
        };
        if calls::is_direct(file) {
            return Err(Unavailable("mmap uses the page cache and cannot bypass it; add --buffered".into()));
        }
        Ok(Abilities {
            blocking: true,
            depth_max: 1,
            depth_why: "a copy ends when the page is there; several --jobs fault beside each other",
        })
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let abilities = self.probe(bench.storage).map_err(io::Error::other)?;
        abilities.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        let map = Map::new(file, bench.has("random"))?;
        signal::catch();
        let engine = Box::new(Loop {
            map,
            slots: (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect(),
            sync: bench.sync,
            written: None,
            faults: 0,
            done: None,
        });
        Ok(Opened { engine, clock: Clock::real(), notes: Vec::new() })
    }

    fn options(&self) -> &'static [EngineOption] {
        &[EngineOption {
            name: "random",
            explain: "tells the kernel that accesses are random (MADV_RANDOM): no read-ahead around a page fault.",
        }]
    }

    fn by_itself(&self) -> bool {
        false
    }
}

/// The whole target in memory.
struct Map {
    file: Arc<File>,
    start: *mut u8,
    length: usize,
    protection: ProtFlags,
    random: bool,
}

impl Map {
    fn new(file: &Arc<File>, random: bool) -> io::Result<Self> {
        let length = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))? as usize;
        let writable = rustix::fs::fcntl_getfl(file)?.contains(rustix::fs::OFlags::RDWR);
        let protection = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        if length == 0 {
            return Err(io::Error::other("mmap maps what is there, and this file is empty"));
        }
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { mm::mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, file, 0)? };
        let map = Self { file: Arc::clone(file), start: start.cast(), length, protection, random };
        map.advise(map.start, length)?;
        Ok(map)
    }

    fn advise(&self, start: *mut u8, length: usize) -> io::Result<()> {
        let advice = if self.random { Advice::Random } else { Advice::Normal };
        // SAFETY: advice about a mapping of ours changes none of its bytes.
        unsafe { mm::madvise(start.cast(), length, advice)? };
        Ok(())
    }

    /// The whole pages around a range of the file.
    fn pages(&self, from: usize, to: usize) -> (*mut u8, usize) {
        let from = from / page_size() * page_size();
        (self.start.wrapping_add(from), to.min(self.length) - from)
    }

    /// Waits until what is dirty in a range is on the storage.
    fn flush(&self, (from, to): (usize, usize)) -> i32 {
        let (start, length) = self.pages(from, to);
        // SAFETY: the range lies in the mapping; no byte changes.
        let flushed = unsafe { mm::msync(start.cast(), length, MsyncFlags::SYNC) };
        flushed.map_or_else(|errno| -errno.raw_os_error(), |()| 0)
    }

    /// Puts the file back where the handler put empty pages, so that the next access fails again or finds the data.
    #[cold]
    fn mend(&self, from: usize, to: usize) -> io::Result<()> {
        let (start, length) = self.pages(from, to);
        let at = start as u64 - self.start as u64;
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        // SAFETY: the range lies in our mapping, which nobody refers to between two requests.
        unsafe { mm::mmap(start.cast(), length, self.protection, flags, &self.file, at)? };
        self.advise(start, length)
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more.
        let _ = unsafe { mm::munmap(self.start.cast(), self.length) };
    }
}

struct Loop {
    map: Map,
    slots: Box<[*mut u8]>,
    sync: Sync,
    /// From where to where was written since the last flush.
    written: Option<(usize, usize)>,
    /// Requests that ended in SIGBUS.
    faults: u64,
    done: Option<Completion>,
}

impl Loop {
    #[inline]
    fn copy(&mut self, request: &Request) -> i32 {
        let Map { start, length, protection, .. } = self.map;
        let at = (request.offset_bytes as usize).min(length);
        let bytes = (request.length_bytes as usize).min(length - at);
        let mapped = start.wrapping_add(at);
        if request.op == Op::Write && !protection.contains(ProtFlags::WRITE) {
            // As a write to a descriptor that is open for reading.
            return -libc::EBADF;
        }
        let buffer = self.slots[request.slot as usize];
        let failed = signal::guarded(mapped, bytes, || {
            // SAFETY: `bytes` lie within the mapping from `mapped` on and within the slot's buffer; the two do not
            // overlap. Others may change the file meanwhile: the bytes then are theirs or ours, and nobody looks.
            unsafe {
                match request.op {
                    Op::Write => ptr::copy_nonoverlapping(buffer, mapped, bytes),
                    _ => ptr::copy_nonoverlapping(mapped, buffer, bytes),
                }
            }
            // The copy is the request: it must not be optimised away.
            std::hint::black_box(buffer);
        });
        if failed {
            self.faults += 1;
            return self.map.mend(at, at + bytes).map_or(-libc::ENOMEM, |()| -libc::EIO);
        }
        if request.op == Op::Write {
            return self.wrote(at, at + bytes);
        }
        bytes as i32
    }

    #[inline]
    fn wrote(&mut self, from: usize, to: usize) -> i32 {
        let bytes = (to - from) as i32;
        match self.sync {
            // Past the end there is nothing to write to; msync refuses an empty range.
            _ if bytes == 0 => -libc::ENOSPC,
            Sync::None => bytes,
            Sync::Dsync | Sync::Osync => match self.map.flush((from, to)) {
                0 => bytes,
                errno => errno,
            },
            _ => {
                let before = self.written.unwrap_or((from, to));
                self.written = Some((before.0.min(from), before.1.max(to)));
                bytes
            }
        }
    }

    fn flush(&mut self) -> i32 {
        let flushed = self.written.take().map_or(0, |range| self.map.flush(range));
        if flushed < 0 || self.sync.of_data_alone() {
            return flushed;
        }
        calls::flush(&self.map.file, self.sync)
    }
}

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let (Some(request), None) = (requests.first(), self.done) else { return Ok(0) };
        let result = match request.op {
            Op::Read | Op::Write => self.copy(request),
            Op::Flush => self.flush(),
            Op::Trim => calls::trim(&self.map.file, request.offset_bytes, request.length_bytes),
        };
        self.done = Some(Completion { slot: request.slot, result });
        Ok(1)
    }

    fn reap(&mut self, _wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        done.extend(self.done.take());
        Ok(())
    }

    fn remarks(&self) -> Vec<LoopNote> {
        if self.faults > 0 { vec![LoopNote::BusErrors { requests: self.faults }] } else { Vec::new() }
    }
}

/// Handler of SIGBUS: a page that cannot be read would otherwise end the process.
mod signal {
    use super::*;

    thread_local! {
        /// The bytes that this thread is copying to or from, and a page of which was missing. Constants without
        /// destructors: a handler may use them.
        static START: AtomicUsize = const { AtomicUsize::new(0) };
        static END: AtomicUsize = const { AtomicUsize::new(0) };
        static FAILED: AtomicUsize = const { AtomicUsize::new(0) };
    }

    /// Handler that was installed before.
    static PREVIOUS: AtomicPtr<libc::sigaction> = AtomicPtr::new(ptr::null_mut());

    /// Runs a copy from or to mapped bytes; whether a page of them could not be had.
    #[inline]
    pub fn guarded(mapped: *mut u8, bytes: usize, copy: impl FnOnce()) -> bool {
        START.with(|start| start.store(mapped as usize, Ordering::Relaxed));
        END.with(|end| end.store(mapped as usize + bytes, Ordering::Relaxed));
        // The handler runs on this thread: only the compiler could move the copy out from between.
        compiler_fence(Ordering::SeqCst);
        copy();
        compiler_fence(Ordering::SeqCst);
        END.with(|end| end.store(0, Ordering::Relaxed));
        FAILED.with(|failed| failed.load(Ordering::Relaxed) != 0 && failed.swap(0, Ordering::Relaxed) != 0)
    }

    /// Installs the handler, once a process.
    pub fn catch() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: all-zero is a valid sigaction; the kernel fills one and reads the other.
            unsafe {
                let previous: &mut libc::sigaction = Box::leak(Box::new(std::mem::zeroed()));
                libc::sigaction(libc::SIGBUS, ptr::null(), previous);
                PREVIOUS.store(previous, Ordering::SeqCst);
                let mut ours: libc::sigaction = std::mem::zeroed();
                ours.sa_sigaction = on_bus_error as *const () as usize;
                // On the stack that Rust keeps for signals: what we pass on may be a stack overflow.
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(libc::SIGBUS, &ours, ptr::null_mut());
            }
        });
    }

    /// Puts an empty page where one of ours is missing, so that the copy goes on, and remembers it. Everything in
    /// here may be called from a signal handler: system calls without a library around them (rustix), and atomics.
    extern "C" fn on_bus_error(number: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel hands a valid siginfo_t to a handler with SA_SIGINFO; SIGBUS of a fault has an address.
        let (address, code) = unsafe { ((*info).si_addr() as usize, (*info).si_code) };
        let from = START.with(|start| start.load(Ordering::Relaxed));
        let to = END.with(|end| end.load(Ordering::Relaxed));
        let page = address / page_size() * page_size();
        // Positive codes are the kernel's own, of a fault; others were sent by somebody.
        if code > 0 && (from..to).contains(&address) && patch(page) {
            FAILED.with(|failed| failed.store(1, Ordering::Relaxed));
            return;
        }
        pass_on(number, info, context);
    }

    fn patch(page: usize) -> bool {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the page lies in the mapping that this thread is copying from or to, and holds nothing.
        unsafe { mm::mmap_anonymous(page as *mut libc::c_void, page_size(), protection, flags) }.is_ok()
    }

    /// Does what would have happened without us.
    fn pass_on(number: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let previous = PREVIOUS.load(Ordering::SeqCst);
        // SAFETY: the pointer is null or leads to what the kernel filled in, which is never freed. A handler that
        // was installed with SA_SIGINFO takes these three arguments, one without it the first.
        unsafe {
            let handler = if previous.is_null() { libc::SIG_DFL } else { (*previous).sa_sigaction };
            match handler {
                // The fault happens again when we return, and then there is no handler.
                libc::SIG_DFL | libc::SIG_IGN => {
                    libc::signal(number, libc::SIG_DFL);
                }
                _ if (*previous).sa_flags & libc::SA_SIGINFO != 0 => {
                    let call: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void) =
                        std::mem::transmute(handler);
                    call(number, info, context);
                }
                _ => {
                    let call: extern "C" fn(i32) = std::mem::transmute(handler);
                    call(number);
                }
            }
        }
    }
}

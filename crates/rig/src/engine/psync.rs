//! One system call a request: `pread` and `pwrite`, one request at a time.
//!
//! Good for: what a simple program gets, and for the latency of a single request; it works on every kernel, file
//! system and container. Cannot: keep more than one request in flight, or a deadline, since the call returns when
//! the storage has answered. A depth above 1 is refused rather than silently measured as 1 (the trap that fio warns
//! of in a line that scripts do not read).

use std::{fs::File, io, os::fd::AsRawFd, sync::Arc};

use iosonde_model::{Named, Op};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
};
use crate::clock::Clock;

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
            Storage::File(_) => Ok(Abilities { blocking: true, depth_max: 1 }),
            Storage::Simulated(_) => {
                Err(Unavailable("psync reads files; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let slots = (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect();
        let engine = Box::new(Loop { file: Arc::clone(file), slots, done: None });
        Ok(Opened { engine, clock: Clock::real(), notes: Vec::new() })
    }
}

struct Loop {
    file: Arc<File>,
    slots: Box<[*mut u8]>,
    done: Option<Completion>,
}

impl Loop {
    fn call(&self, request: &Request) -> i32 {
        let (fd, length, at) =
            (self.file.as_raw_fd(), request.length_bytes as usize, request.offset_bytes as libc::off_t);
        let buffer = self.slots[request.slot as usize].cast();
        loop {
            // SAFETY: the slot's buffer is at least a block long and outlives the engine; nobody else uses it.
            let moved = unsafe {
                match request.op {
                    Op::Read => libc::pread(fd, buffer, length, at),
                    Op::Write => libc::pwrite(fd, buffer, length, at),
                    Op::Trim | Op::Flush => return -libc::EOPNOTSUPP,
                }
            };
            if moved >= 0 {
                return moved as i32;
            }
            let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            if errno != libc::EINTR {
                return -errno;
            }
        }
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
}

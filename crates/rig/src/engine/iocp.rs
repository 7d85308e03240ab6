//! Overlapped requests through a completion port: what databases and servers on Windows use. The best general choice
//! there.
//!
//! Good for: many requests outstanding from one thread. Completions are taken in batches
//! (`GetQueuedCompletionStatusEx`). The file is opened again for the engine: with FILE_FLAG_NO_BUFFERING for direct
//! I/O, and with FILE_FLAG_WRITE_THROUGH where each write must be durable. A flush is `FlushFileBuffers`.
//!
//! Cannot: flush without waiting (the call returns when the device has answered), or trim a part of a file.
//!
//! Traps: a request that the cache can answer ends within its call, so buffered I/O is in truth one request at a
//! time. A write that makes a file longer, or goes beyond what was ever written to it, waits as well; so files are
//! filled first. Waits end in steps of a millisecond: an open loop looks again and again instead.

use std::io;

use iosonde_model::Named;

use super::{Abilities, Bench, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable};
use crate::{clock::Clock, platform::overlapped::Port};

/// The registered engine.
pub struct Iocp;

/// No limit of the system: as much as one thread can look after.
const DEPTH_MAX: u32 = 4096;

impl Named for Iocp {
    fn name(&self) -> &'static str {
        "iocp"
    }
}

impl EngineKind for Iocp {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::File(_) => Ok(Abilities {
                blocking: false,
                depth_max: DEPTH_MAX,
                depth_why: "one thread cannot look after more; use several --jobs",
            }),
            Storage::Simulated(_) => {
                Err(Unavailable("iocp reads files; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let abilities = self.probe(bench.storage).map_err(io::Error::other)?;
        abilities.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        let engine = Box::new(Loop(Port::open(file, bench)?));
        Ok(Opened { engine, clock: Clock::real(), notes: Vec::new() })
    }
}

struct Loop(Port);

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        self.0.start(requests);
        Ok(requests.len())
    }

    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        self.0.reap(wait_ns, done)
    }
}

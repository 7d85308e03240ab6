//! Windows' rings: many requests handed on by one system call. For comparing with `iocp`; it is used only
//! when selected by name.
//!
//! Good for: what programs get that use the rings of Windows 11 (22H2 and newer; Windows Server 2025). A batch of
//! requests costs one system call, and a flush (`BuildIoRingFlushFile`) does not hold up the loop. The file is opened
//! again as `iocp` opens it.
//!
//! Cannot: trim a part of a file. Older Windows has no rings, or rings that only read: these are refused, with the
//! reason.
//!
//! Traps: completions are told when they are looked for. Waits end in steps of a millisecond, as with `iocp`. It was
//! never run on Windows: the test under Wine runs it on a stand-in for the functions that Wine lacks
//! (docs/platforms.md).

use std::io;

use iosonde_model::Named;

use super::{Abilities, Bench, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable};
use crate::{
    clock::Clock,
    platform::ring::{Ring, depth_max},
};

/// The registered engine.
pub struct IoRing;

impl Named for IoRing {
    fn name(&self) -> &'static str {
        "ioring"
    }
}

impl EngineKind for IoRing {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::File(_) => Ok(Abilities {
                blocking: false,
                depth_max: depth_max()?,
                depth_why: "a ring of this Windows holds no more; use several --jobs",
            }),
            Storage::Simulated(_) => {
                Err(Unavailable("ioring reads files; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let abilities = self.probe(bench.storage).map_err(io::Error::other)?;
        abilities.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        let engine = Box::new(Loop(Ring::open(file, bench)?));
        Ok(Opened { engine, clock: Clock::real(), notes: Vec::new() })
    }

    fn by_itself(&self) -> bool {
        false
    }
}

struct Loop(Ring);

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        self.0.start(requests)
    }

    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        self.0.reap(wait_ns, done)
    }
}

//! Completes every request at once and moves nothing: what the measuring itself costs.
//!
//! Good for: finding out what iosonde could generate at most on this machine, with everything that it does
//! for each request (offsets, two time stamps, histogram, windows) and no system call at all. Storage that
//! comes near this rate cannot be measured by one worker.
//!
//! Cannot: measure storage. It is only used when selected by name, fills nothing
//! (psync does that in its place), and notes in each trial what its figures are. Traps: a read moves no byte
//! into the buffer, so that verifying reads fails; the same rate with another engine
//! means that the engine and the kernel cost nothing, which they never do.

use std::io;

use iosonde_model::{LoopNote, Named};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
};
use crate::clock::Clock;

/// The registered engine.
pub struct Null;

impl Named for Null {
    fn name(&self) -> &'static str {
        "null"
    }
}

impl EngineKind for Null {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::File(_) => Ok(Abilities {
                blocking: false,
                depth_max: 65_536,
                depth_why: "no storage takes more, and each costs memory",
            }),
            Storage::Simulated(_) => {
                Err(Unavailable("null runs on the real clock; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let engine = Box::new(Loop { ready: Vec::with_capacity(bench.depth as usize) });
        Ok(Opened { engine, clock: Clock::real(), notes: vec![LoopNote::NothingMoved] })
    }

    fn by_itself(&self) -> bool {
        false
    }
}

struct Loop {
    ready: Completions,
}

impl Engine for Loop {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let complete =
            |request: &Request| Completion { slot: request.slot, result: request.length_bytes as i32 };
        self.ready.extend(requests.iter().map(complete));
        Ok(requests.len())
    }

    fn reap(&mut self, _wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        done.append(&mut self.ready);
        Ok(())
    }
}

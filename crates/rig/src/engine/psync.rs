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

use std::io;

use iosonde_model::{LoopNote, Named};

use super::{Abilities, Bench, EngineKind, EngineOption, Opened, Storage, Unavailable, waiting::Waiting};
use crate::{
    clock::Clock,
    platform::positioned::{self, Positioned},
};

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
                depth_why: "its call returns when the storage has answered; io_uring, libaio and threads keep \
                            more, and so do several --jobs",
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
        let engine = Box::new(Waiting::new(Positioned::open(file, bench)?));
        let notes = if bench.has("hipri") { vec![LoopNote::HipriIgnored] } else { Vec::new() };
        Ok(Opened { engine, clock: Clock::real(), notes })
    }

    fn makes_files(&self) -> bool {
        positioned::MAKES_FILES
    }

    fn options(&self) -> &'static [EngineOption] {
        positioned::OPTIONS
    }

    fn probe_options(&self, storage: &Storage, options: &[&'static str]) -> Result<(), Unavailable> {
        let Storage::File(file) = storage else { return Ok(()) };
        options.iter().try_for_each(|option| positioned::try_option(file, option))
    }
}

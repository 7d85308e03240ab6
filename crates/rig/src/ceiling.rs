//! Generator limit: the same loop, engine and block size without storage behind them.
//!
//! Two figures, because they say different things. Against nothing (the engine `null`) the loop's own cost remains:
//! offsets, time stamps, histogram, windows. Against a file that lies in the page cache the kernel's cost of a request
//! is added, and copying. Storage that comes near the second cannot be measured by one worker of this machine.

use std::{
    fs::File,
    io::{self, Write},
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use iosonde_model::{Ceiling, Phase, Rw, Trial, TrialSpec};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    clock::Clock,
    drive::Limits,
    engine::{self, Storage},
    placement::Place,
    platform::files,
    trial::{Bed, Order},
};

/// As deep as any knee that `quick` looks at; engines whose calls block have one.
const DEPTH: u32 = 128;
/// Long enough for ten windows' worth of turns on the slowest machine, short enough to be done at every run.
const TRIAL_NS: u64 = 200_000_000;
/// 4 MiB of small blocks stay in the processor's caches as far as they can.
const CACHED_BLOCKS: u64 = 64;
const CACHED_LEAST_BYTES: u64 = 4 << 20;
/// Largest size of the buffers and of the cached file: the cross-check must not be larger than a small run.
const MOST_BYTES: u64 = 64 << 20;
/// The cached file takes at most one part in this many of the free space, though it is removed at once.
const ROOM_SHARE: u64 = 64;

/// Measures both. `folder` is where a file without a name can lie; without one, or where its file system gives none,
/// the second figure is absent.
pub fn measure(engine: &str, block_size_bytes: u64, folder: Option<&Path>) -> io::Result<Ceiling> {
    let nothing = Arc::new(files::nothing()?);
    let depth = DEPTH.min((MOST_BYTES / block_size_bytes.max(1)) as u32);
    if depth == 0 {
        return Err(io::Error::other("a block is larger than what the cross-check may take of memory"));
    }
    let null = run("null", depth, block_size_bytes, 1 << 30, nothing)?;
    let null_iops = null.iops();
    let user_ns = null.cpu_user_s.map(|user_s| user_s * 1e9 / null.witnesses.issued_ios.max(1) as f64);
    let cached_iops = folder.and_then(|folder| cached(engine, depth, block_size_bytes, folder).ok());
    Ok(Ceiling {
        engine: engine.to_owned(),
        block_size_bytes,
        null_iops,
        cached_iops,
        user_ns_per_io: user_ns,
    })
}

fn cached(engine: &str, depth: u32, block_size_bytes: u64, folder: &Path) -> io::Result<f64> {
    let blocks = CACHED_BLOCKS.min(MOST_BYTES / block_size_bytes);
    let bytes = (block_size_bytes * blocks).max(CACHED_LEAST_BYTES);
    if files::available_bytes(folder)? / ROOM_SHARE < bytes {
        return Err(io::ErrorKind::StorageFull.into());
    }
    let mut file = files::temporary(folder)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut block = vec![0u8; 1 << 20];
    for _ in 0..bytes.div_ceil(1 << 20) {
        random.fill_bytes(&mut block);
        file.write_all(&block)?;
    }
    let file = Arc::new(file);
    let storage = Storage::File(Arc::clone(&file));
    let chosen = engine::choose(&storage, Some(engine)).map_err(io::Error::other)?;
    Ok(run(engine, depth.min(chosen.abilities.depth_max), block_size_bytes, bytes, file)?.iops())
}

fn run(
    engine: &str,
    depth: u32,
    block_size_bytes: u64,
    span_bytes: u64,
    file: Arc<File>,
) -> io::Result<Trial> {
    let spec = TrialSpec {
        rw: Rw::RandRead,
        block_size_bytes,
        queue_depth: depth,
        span_bytes: span_bytes.max(block_size_bytes),
        engine: engine.to_owned(),
        direct: false,
        ..TrialSpec::default()
    };
    let mut bed = Bed {
        storage: Storage::File(file),
        watch: None,
        clock: Clock::real(),
        folder: None,
        place: Place::default(),
    };
    let order = Order { spec: &spec, limits: Limits::time(TRIAL_NS), phase: Phase::Measure, seed: 1 };
    Ok(bed.run(&order, &AtomicBool::new(false))?.trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_are_measured_and_nothing_is_faster_than_something() {
        let folder = tempfile::tempdir().unwrap();
        let ceiling = measure("psync", 4096, Some(folder.path())).unwrap();
        assert!(ceiling.null_iops > ceiling.cached_iops.unwrap(), "{ceiling:?}");
        assert!(ceiling.user_ns_per_io.unwrap() > 0.0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn huge_blocks_take_no_huge_memory() {
        let folder = tempfile::tempdir().unwrap();
        let ceiling = measure("psync", 32 << 20, Some(folder.path())).unwrap();
        assert!(ceiling.null_iops > 0.0 && ceiling.cached_iops.is_some());
        assert!(measure("psync", 1 << 30, Some(folder.path())).is_err());
    }

    #[test]
    fn without_a_folder_there_is_one_figure() {
        assert_eq!(measure("io_uring", 4096, None).unwrap().cached_iops, None);
    }
}

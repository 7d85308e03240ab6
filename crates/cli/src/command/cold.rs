//! `iosonde cold`: is the first read of a place slower than the second one?

use std::{io, path::Path};

use iosonde_infer::cold;
use iosonde_model::{Cold, ColdRound, ColdVerdict, Histogram, Medium, units};
use iosonde_rig::{
    cold::{AREA_BYTES, BLOCK_BYTES, ColdReads, DEPTH, Reader, SIZE_MIN_BYTES, holes_bytes},
    guard::Writes,
    interrupt,
};

use crate::{
    args::ColdArgs,
    failure::{DOUBT, Failure, INCONCLUSIVE, INTERRUPTED, in_words},
    measure::{info, power, stall},
    notebook,
    options::Options,
    progress::TransferProgress,
    screen::Screen,
    session::{self, Asked, Session},
};

/// Holes of a file are not on the storage; so many of them change no figure.
const HOLES_SHARE_MAX: f64 = 0.02;

/// Reads a target for the first time and again.
pub fn run(args: &ColdArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let target = &args.target;
    if !target.starts_with("sim:") && !Path::new(target).exists() {
        return Err(Failure::usage(format!(
            "{target} does not exist; name a device, or a file that nobody has read for a while"
        )));
    }
    if Path::new(target).is_dir() {
        return Err(Failure::usage(format!(
            "{target} is a directory; `cold` writes nothing and reads what is there: name a file in it that nobody has \
             read for a while, or the device"
        )));
    }
    args.answer.check(target, screen)?;
    let seed = args.seed.unwrap_or_else(|| rand::random::<u64>() >> 11);
    let options = Options {
        size_bytes: args.size,
        engine: args.engine.clone(),
        read_only: true,
        exact_size: true,
        ..Options::usual(0, 1.0, seed)
    };
    let book = notebook::open(store, &screen)?;
    let apart: Vec<_> = notebook::files(book.path()).into_iter().chain(args.answer.protected()).collect();
    let asked =
        Asked { command: "iosonde cold", writes: Writes::None, apart: &apart, workers: 1, place: None };
    let session = session::open_here(&args.target, &options, asked, &mut notebook::Unwritten)?;
    let size_bytes = check(args, &session)?;
    let places = power::places(book.path(), std::iter::once(&session));
    let read = || read(args, &session, size_bytes, seed, screen);
    power::least(Some(&places), read, |cold| show(&cold?, args, screen))
}

/// Refuses what first and second reads cannot be compared on; returns the bytes to look at.
fn check(args: &ColdArgs, session: &Session) -> Result<u64, Failure> {
    let target = &args.target;
    let size_bytes = args.size.unwrap_or(u64::MAX).min(session.room_bytes);
    if session.device.medium == Medium::Memory {
        return Err(Failure::usage(format!("{target} lies in memory: nothing in it is cold")));
    }
    if !session.device.direct {
        return Err(Failure::usage(format!(
            "{target}: direct I/O does not work here, and the page cache would answer the second reads"
        )));
    }
    if size_bytes < SIZE_MIN_BYTES {
        return Err(Failure::usage(format!(
            "{target}: {} are too little; ten rounds of reads, each of fresh places, need {}",
            units::size(size_bytes),
            units::size(SIZE_MIN_BYTES)
        )));
    }
    let holes = holes_bytes(&session.bed.storage, size_bytes);
    if holes as f64 > HOLES_SHARE_MAX * size_bytes as f64 {
        return Err(Failure::usage(format!(
            "{target}: {} of {} are holes, which are not on the storage; name the device, or a file without holes",
            units::size(holes),
            units::size(size_bytes)
        )));
    }
    Ok(size_bytes)
}

fn read(
    args: &ColdArgs,
    session: &Session,
    size_bytes: u64,
    seed: u64,
    screen: Screen,
) -> Result<Cold, Failure> {
    let target = &args.target;
    let stop = interrupt::catch();
    let clock = &session.bed.clock;
    let (began_ns, started_at) = (clock.now_ns(), clock.utc());
    let is_real = session.device.medium != Medium::Simulated;
    let _watch = is_real.then(|| stall::watch(stall::STALLED_FILLING_AFTER, target.clone(), String::new()));
    let failed = |error: io::Error| {
        if error.kind() == io::ErrorKind::Interrupted {
            return Failure { code: INTERRUPTED, text: "interrupted; nothing is concluded".to_owned() };
        }
        Failure::failed(format!("{target}: a read failed: {}", in_words(&error)))
    };
    screen.say(&format!("testing       {target}: reading places for the first time, and again"));
    let mut progress = TransferProgress::of_rounds(&screen);
    let mut told = |done: usize, all: usize| progress.show("rounds", done as u64, all as u64);
    // The first direct read of a place writes out what the page cache still holds of it: six times as slow. A file
    // system that cannot do it for one who only reads has nothing to write out.
    let _ = session.bed.settle();
    let mut reader = Reader::open(&session.bed, &session.device.engine, seed, stop).map_err(failed)?;
    let ColdReads { rounds, read_bytes, distance_bytes } =
        reader.read(size_bytes, &mut told).map_err(failed)?;
    progress.end();
    let elapsed_s = (clock.now_ns() - began_ns) as f64 / 1e9;
    let Some(found) = cold::estimates(&rounds) else {
        return Err(Failure::failed(format!("{target}: a round of reads came to nothing")));
    };
    Ok(Cold {
        target: target.clone(),
        size_bytes,
        latency_ns: found.latency_ns,
        bytes_per_s: found.bytes_per_s,
        slow_share: found.slow_share,
        read_all_s: cold::time_s(size_bytes, &found.bytes_per_s.first),
        single_reads: rounds.iter().map(|round| round.single_ns[0].len() as u64).sum(),
        read_bytes,
        distance_bytes,
        block_bytes: u64::from(BLOCK_BYTES),
        area_bytes: AREA_BYTES,
        depth: DEPTH,
        single_ns: [0, 1].map(|time| all_times(&rounds, time)),
        elapsed_s,
        verdict: found.verdict,
        circumstances: info::circumstances(session, size_bytes, started_at),
    })
}

/// Times of single reads of all rounds: the first ones (0), or the second ones (1).
fn all_times(rounds: &[ColdRound], time: usize) -> Histogram {
    let mut times = Histogram::new();
    rounds.iter().flat_map(|round| &round.single_ns[time]).for_each(|&ns| times.record(ns));
    times
}

fn show(cold: &Cold, args: &ColdArgs, screen: Screen) -> Result<(), Failure> {
    args.answer.show(cold, screen)?;
    match cold.verdict {
        ColdVerdict::Warm => Ok(()),
        ColdVerdict::Cold => Err(Failure { code: DOUBT, text: String::new() }),
        ColdVerdict::Inconclusive => Err(Failure { code: INCONCLUSIVE, text: String::new() }),
    }
}

//! Is the first read of a place slower than the second one? Volumes made from snapshots, tiered disks and thin volumes
//! fetch data when they are first touched.
//!
//! The storage is divided into areas, each touched by one kind of read only. In each round, areas that nobody has read
//! are read: single blocks at QD 1, and whole areas, several requests at a time. The same reads are made again
//! two rounds later. Reads for the first and the second time therefore alternate, so that drift does not pass for a
//! difference, and a small cache has forgotten what it read by then.

use std::{
    cell::Cell,
    collections::VecDeque,
    fs::File,
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::{ColdRound, Op, Streamed};
use rand::{Rng, SeedableRng, seq::index::sample};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    clock::Clock,
    engine::{Request, Storage},
    platform::unmapped_bytes,
    trial::Bed,
    verify::{Transfer, Way},
};

/// Larger than what is fetched at once: 512 KiB of the volumes of one cloud, up to 4 MiB of thin pools.
pub const AREA_BYTES: u64 = 4 << 20;
/// Length of single reads: a page of a database.
pub const BLOCK_BYTES: u32 = 4096;
/// Length of the requests that read a whole area.
const PIECE_BYTES: u32 = 1 << 20;
/// Requests at a time, as vendors advise for warming.
pub const DEPTH: u32 = 32;
/// Rounds: nine degrees of freedom, with which an interval is 15 % wider than with many.
pub const ROUNDS: usize = 10;
/// Rounds between the first and the second reading.
const LAG: usize = 2;
/// Each part of a round ends after this long, or with the last of its areas.
const PART_NS: u64 = 2_500_000_000;
/// Most single reads in a part: more would make the interval no narrower, and use up areas.
const SINGLE_MAX: usize = 2000;
/// Least areas in each of the two parts of a round.
const AREAS_MIN: usize = 4;
/// Smallest storage with enough areas.
pub const SIZE_MIN_BYTES: u64 = (2 * ROUNDS * AREAS_MIN) as u64 * AREA_BYTES;

/// What is read in a round.
#[derive(Debug, Default)]
struct Places {
    /// Offsets of single blocks.
    single: Vec<u64>,
    /// Offsets of areas.
    areas: Vec<u64>,
}

/// How the reading goes on: rounds that are done, and all.
pub type OnProgress<'a> = &'a mut dyn FnMut(usize, usize);

/// What was read.
#[derive(Debug)]
pub struct ColdReads {
    /// Reads for the first time and again.
    pub rounds: Vec<ColdRound>,
    /// Bytes read in all.
    pub read_bytes: u64,
    /// Least bytes read between the first and the second read of a place.
    pub distance_bytes: u64,
}

/// Reads a storage for the first time and again.
pub struct Reader<'a> {
    clock: Clock,
    transfer: Transfer,
    random: Xoshiro256PlusPlus,
    stop: &'a AtomicBool,
    read_bytes: u64,
}

impl<'a> Reader<'a> {
    /// Opens the engine.
    pub fn open(bed: &Bed, engine: &str, seed: u64, stop: &'a AtomicBool) -> io::Result<Self> {
        let (storage, largest_bytes) = (&bed.storage, u64::from(PIECE_BYTES));
        let way = Way { storage, engine, direct: true, job: 0, depth: DEPTH, largest_bytes };
        let (transfer, random) = (Transfer::open(way)?, Xoshiro256PlusPlus::seed_from_u64(seed));
        Ok(Self { clock: bed.clock.clone(), transfer, random, stop, read_bytes: 0 })
    }

    /// Reads for the first time and again. `size_bytes` is at least [`SIZE_MIN_BYTES`].
    pub fn read(&mut self, size_bytes: u64, on_progress: OnProgress) -> io::Result<ColdReads> {
        let areas = (size_bytes / AREA_BYTES) as usize;
        let in_a_part = areas / (2 * ROUNDS);
        let order = sample(&mut self.random, areas, 2 * ROUNDS * in_a_part).into_vec();
        let mut todo: VecDeque<Places> =
            order.chunks_exact(2 * in_a_part).map(|areas| self.places(areas)).collect();
        let mut rounds: Vec<ColdRound> = Vec::with_capacity(ROUNDS);
        let mut waiting = VecDeque::with_capacity(LAG + 1);
        let mut distance_bytes = u64::MAX;
        while rounds.len() < ROUNDS {
            if let Some(places) = todo.pop_front() {
                let read = self.for_the_first_time(places)?;
                waiting.push_back((read, self.read_bytes));
            }
            if waiting.len() > LAG || todo.is_empty() {
                let Some(((places, single_ns, streamed), read_before)) = waiting.pop_front() else { break };
                distance_bytes = distance_bytes.min(self.read_bytes - read_before);
                let again_single_ns = self.single(&places.single, u64::MAX)?;
                let again_streamed = self.stream(&places.areas, u64::MAX)?.0;
                rounds.push(ColdRound {
                    single_ns: [single_ns, again_single_ns],
                    streamed: [streamed, again_streamed],
                });
                on_progress(rounds.len(), ROUNDS);
            }
        }
        Ok(ColdReads { rounds, read_bytes: self.read_bytes, distance_bytes })
    }

    /// One half of the areas for single blocks, each at random within its area.
    fn places(&mut self, areas: &[usize]) -> Places {
        let (single, whole) = areas.split_at(areas.len() / 2);
        let at = |area: &usize| *area as u64 * AREA_BYTES;
        let blocks = AREA_BYTES / u64::from(BLOCK_BYTES);
        let single = single.iter().take(SINGLE_MAX);
        let single =
            single.map(|area| at(area) + self.random.next_u64() % blocks * u64::from(BLOCK_BYTES)).collect();
        Places { single, areas: whole.iter().map(at).collect() }
    }

    /// Reads as many of the places as the time allows, and returns those.
    fn for_the_first_time(&mut self, mut places: Places) -> io::Result<(Places, Vec<u64>, Streamed)> {
        let single_ns = self.single(&places.single, PART_NS)?;
        places.single.truncate(single_ns.len());
        let (streamed, areas) = self.stream(&places.areas, PART_NS)?;
        places.areas.truncate(areas);
        Ok((places, single_ns, streamed))
    }

    /// Reads blocks at QD 1, for so long at most; returns the time of each.
    fn single(&mut self, places: &[u64], most_ns: u64) -> io::Result<Vec<u64>> {
        let clock = self.clock.clone();
        let (began_ns, sent_ns) = (clock.now_ns(), Cell::new(None::<u64>));
        let mut times_ns = Vec::with_capacity(places.len());
        let mut left = places.iter();
        let next = |slot, _: &mut [u8]| {
            let now_ns = clock.now_ns();
            if sent_ns.get().is_some() || now_ns - began_ns >= most_ns {
                return None;
            }
            let offset_bytes = *left.next()?;
            sent_ns.set(Some(now_ns));
            Some(Request { slot, op: Op::Read, length_bytes: BLOCK_BYTES, offset_bytes })
        };
        let mut failed = None;
        let done = |request: Request, result: i32, _: &[u8]| {
            failed = failed.take().or_else(|| failure(request, result));
            times_ns.extend(sent_ns.take().map(|sent_ns| clock.now_ns() - sent_ns));
        };
        let hung = self.transfer.run(next, done, self.stop)?;
        self.ended(&hung, failed)?;
        self.read_bytes += u64::from(BLOCK_BYTES) * times_ns.len() as u64;
        Ok(times_ns)
    }

    /// Reads whole areas, for so long at most; returns what was read and how many of them.
    fn stream(&mut self, areas: &[u64], most_ns: u64) -> io::Result<(Streamed, usize)> {
        let clock = self.clock.clone();
        let began_ns = clock.now_ns();
        let (begun, mut bytes, mut end_ns) = (Cell::new(0), 0, began_ns);
        let mut left = areas.iter();
        let mut pieces = (0..0_u64).step_by(PIECE_BYTES as usize);
        let next = |slot, _: &mut [u8]| {
            let offset_bytes = match pieces.next() {
                Some(offset_bytes) => offset_bytes,
                None if clock.now_ns() - began_ns < most_ns => {
                    let area = *left.next()?;
                    begun.set(begun.get() + 1);
                    pieces = (area..area + AREA_BYTES).step_by(PIECE_BYTES as usize);
                    pieces.next()?
                }
                None => return None,
            };
            Some(Request { slot, op: Op::Read, length_bytes: PIECE_BYTES, offset_bytes })
        };
        let mut failed = None;
        let done = |request: Request, result: i32, _: &[u8]| {
            failed = failed.take().or_else(|| failure(request, result));
            (bytes, end_ns) = (bytes + u64::from(request.length_bytes), clock.now_ns());
        };
        let hung = self.transfer.run(next, done, self.stop)?;
        self.ended(&hung, failed)?;
        self.read_bytes += bytes;
        Ok((Streamed { bytes, elapsed_ns: end_ns - began_ns }, begun.get()))
    }

    fn ended(&self, hung: &[Request], failed: Option<io::Error>) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if !hung.is_empty() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "a read never came back"));
        }
        failed.map_or(Ok(()), Err)
    }
}

fn failure(request: Request, result: i32) -> Option<io::Error> {
    match u32::try_from(result) {
        Err(_) => Some(io::Error::from_raw_os_error(-result)),
        Ok(bytes) if bytes < request.length_bytes => Some(io::ErrorKind::UnexpectedEof.into()),
        Ok(_) => None,
    }
}

/// Bytes of a file that are no data and are not read from storage.
pub fn holes_bytes(storage: &Storage, size_bytes: u64) -> u64 {
    let file: Option<&File> = match storage {
        Storage::File(file) => Some(file),
        _ => None,
    };
    file.and_then(|file| unmapped_bytes(file, 0..size_bytes)).unwrap_or(0)
}

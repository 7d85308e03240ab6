//! Does storage hold as much as it claims? Marked blocks are written over all of its addresses, and read back.
//!
//! The sparse layout finds a wrong capacity without writing all of it:
//!
//! * a *window* at the beginning and one at the end are written whole;
//! * between them lie single blocks, one window's length apart. Where addresses begin again after any number of bytes,
//!   one of these blocks therefore falls into the first window, and tells by its mark how far it came;
//! * and one block at random between each two of them, for damage that keeps no distance.
//!
//! The window at the end is written last: more than fits a cache that only keeps the latest writes.

use std::{
    io,
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::{BlockRun, BlockState, CapacityProbe, Op};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{
    engine::{Request, Storage},
    platform::files,
    prepare,
    trial::Bed,
    verify::{BlockMark, SECTOR_BYTES, Transfer, Way, WriterId},
};

/// A block: what file systems and flash write as one at least.
pub const BLOCK_BYTES: u64 = 4096;
/// Length of the requests where everything is written.
const PIECE_BYTES: u64 = 1 << 20;
/// Requests at a time. Sticks and cards take one; more help discs and networks, and harm nobody.
const DEPTH: u32 = 8;
/// What is written first, to see how fast the storage is.
const TRIED_BYTES: u64 = 32 << 20;
/// A window takes so long to write: it is written twice and read twice.
const WINDOW_S: f64 = 8.0;
/// Larger than the memory of sticks, cards and their readers; windows are no smaller where there is room for two.
const WINDOW_MIN_BYTES: u64 = 64 << 20;
/// Larger windows would only take longer: no controller of flash has so much memory for writes.
const WINDOW_MAX_BYTES: u64 = 1 << 30;
/// Most windows' lengths in the storage: each costs a block written between, of 10 to 30 ms on a cheap stick.
const WINDOWS_MAX: u64 = 2048;

/// Blocks that narrow down where the real capacity ends, each time.
const NARROWING_BLOCKS: u64 = 64;

/// What is written and read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Size of the storage, in whole blocks.
    size_bytes: u64,
    /// Largest distance between neighbouring places.
    step_bytes: u64,
    /// Ranges in the order in which they are written.
    writes: Vec<Range<u64>>,
}

impl Layout {
    /// Everything.
    pub fn whole(size_bytes: u64) -> Self {
        let size_bytes = whole_blocks(size_bytes);
        let everything = 0..size_bytes;
        Self { size_bytes, step_bytes: BLOCK_BYTES, writes: vec![everything] }
    }

    /// Two windows, and single blocks between them. Storage of a few windows is written whole.
    pub fn sparse(size_bytes: u64, window_bytes: u64, seed: u64) -> Self {
        let size_bytes = whole_blocks(size_bytes);
        let least_bytes = size_bytes.div_ceil(WINDOWS_MAX);
        let step_bytes = window_bytes.max(least_bytes).next_multiple_of(PIECE_BYTES);
        if size_bytes <= 4 * step_bytes {
            return Self::whole(size_bytes);
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let blocks = step_bytes / BLOCK_BYTES;
        // The same place in each step: two neighbours are exactly one window apart.
        let phase = random.random_range(0..blocks) * BLOCK_BYTES;
        let last = size_bytes - step_bytes;
        let first = 0..step_bytes;
        let mut writes = vec![first];
        for step in (step_bytes..last).step_by(step_bytes as usize) {
            let at_random = random.random_range(0..blocks) * BLOCK_BYTES;
            let mut places = [step + phase, step + at_random];
            places.sort_unstable();
            let between = places.into_iter().filter(|place| place + BLOCK_BYTES <= last);
            writes.extend(between.map(|place| place..place + BLOCK_BYTES));
        }
        writes.dedup();
        writes.push(last..size_bytes);
        Self { size_bytes, step_bytes, writes }
    }

    /// Single blocks within a range, at equal distances.
    fn blocks_within(&self, range: &Range<u64>) -> Self {
        let blocks = (range.end - range.start) / BLOCK_BYTES;
        let places = NARROWING_BLOCKS.min(blocks);
        let place = |number: u64| range.start + (blocks * number / places) * BLOCK_BYTES;
        let writes = (0..places).map(place).map(|at| at..at + BLOCK_BYTES).collect();
        Self { size_bytes: self.size_bytes, step_bytes: self.step_bytes, writes }
    }

    /// Bytes that are written; as many are read.
    pub fn written_bytes(&self) -> u64 {
        self.writes.iter().map(|write| write.end - write.start).sum()
    }

    /// Returns true if every block is written.
    pub fn is_whole(&self) -> bool {
        self.step_bytes == BLOCK_BYTES
    }
}

/// Requests that cover ranges in their order.
fn pieces(ranges: &[Range<u64>]) -> impl Iterator<Item = (u64, u32)> {
    ranges.iter().flat_map(|range| {
        let piece = |at: u64| (at, PIECE_BYTES.min(range.end - at) as u32);
        (range.start..range.end).step_by(PIECE_BYTES as usize).map(piece)
    })
}

fn whole_blocks(bytes: u64) -> u64 {
    bytes / BLOCK_BYTES * BLOCK_BYTES
}

/// What a probe is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Writing marked blocks.
    Writing,
    /// Reading them back.
    Reading,
}

/// How a probe goes on: its stage, and the bytes of it that are done and that there are.
pub type OnProgress<'a> = &'a mut dyn FnMut(Stage, u64, u64);

/// A probe of one storage.
pub struct Prober<'a> {
    bed: &'a Bed,
    direct: bool,
    transfer: Transfer,
    writer: WriterId,
    stop: &'a AtomicBool,
}

impl<'a> Prober<'a> {
    /// Opens the engine.
    pub fn open(
        bed: &'a Bed,
        (engine, direct): (&str, bool),
        seed: u64,
        stop: &'a AtomicBool,
    ) -> io::Result<Self> {
        let storage = &bed.storage;
        let way = Way { storage, engine, direct, job: 0, depth: DEPTH, largest_bytes: PIECE_BYTES };
        let mut transfer = Transfer::open(way)?;
        // A simulated device keeps marks alone. Others get bytes that cannot be compressed.
        if matches!(storage, Storage::File(_)) {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            transfer.each_buffer(|buffer| random.fill_bytes(buffer));
        }
        let writer = WriterId::new(seed, transfer.clock());
        Ok(Self { bed, direct, transfer, writer, stop })
    }

    /// Length of a window: what is written in eight seconds. The first blocks are written for that.
    pub fn window_bytes(&mut self, size_bytes: u64) -> io::Result<u64> {
        let began_ns = self.transfer.clock().now_ns();
        let tried = Layout::whole(TRIED_BYTES.min(size_bytes));
        self.write(&tried, &mut |_, _, _| {})?;
        let seconds = (self.transfer.clock().now_ns() - began_ns) as f64 / 1e9;
        // What follows is told from it.
        self.writer = WriterId::new(self.writer.seed, self.transfer.clock());
        let rate = tried.written_bytes() as f64 / seconds.max(1e-9);
        Ok(((rate * WINDOW_S) as u64).clamp(WINDOW_MIN_BYTES, WINDOW_MAX_BYTES))
    }

    /// Takes up the marks of an earlier probe of everything that did not come to its end; returns the bytes that it had
    /// written, or `None` where there is none.
    pub fn take_up(&mut self, layout: &Layout) -> io::Result<Option<u64>> {
        let Some((writer, _)) = self.mark_at(0)? else { return Ok(None) };
        self.writer = writer;
        // What is written from the beginning on holds marks up to one offset: found by halving.
        let (mut marked, mut unmarked) = (0, layout.size_bytes / BLOCK_BYTES);
        while unmarked - marked > 1 {
            let middle = marked.midpoint(unmarked);
            // Another place's data say that addresses begin again, and not how far it came.
            match self.mark_at(middle * BLOCK_BYTES)? {
                Some(found) if found == (writer, middle * BLOCK_BYTES) => marked = middle,
                _ => unmarked = middle,
            }
        }
        Ok(Some((marked + 1) * BLOCK_BYTES / PIECE_BYTES * PIECE_BYTES))
    }

    /// Who wrote the block at an offset, and for which offset.
    fn mark_at(&mut self, offset_bytes: u64) -> io::Result<Option<(WriterId, u64)>> {
        let (mut asked, mut found) = (false, None);
        let length_bytes = BLOCK_BYTES as u32;
        let next = |slot, _: &mut [u8]| {
            let first = !std::mem::replace(&mut asked, true);
            first.then_some(Request { slot, op: Op::Read, length_bytes, offset_bytes })
        };
        let done = |_: Request, _: i32, bytes: &[u8]| {
            let mark = BlockMark::of_block(bytes);
            found = WriterId::of_block(bytes).zip(mark.map(|mark| mark.offset_bytes));
        };
        if !self.transfer.run(next, done, self.stop)?.is_empty() {
            return Err(hung("a read"));
        }
        Ok(found)
    }

    /// Writes a layout from its beginning, and returns the ranges that could not be written, by offset.
    pub fn write(&mut self, layout: &Layout, on_progress: OnProgress) -> io::Result<Vec<Range<u64>>> {
        self.write_from(layout, 0, on_progress)
    }

    /// Writes a layout from an offset on, and flushes it.
    pub fn write_from(
        &mut self,
        layout: &Layout,
        from_bytes: u64,
        on_progress: OnProgress,
    ) -> io::Result<Vec<Range<u64>>> {
        let total = layout.written_bytes();
        let (mut done_bytes, mut failed) = (from_bytes, Vec::new());
        let writer = self.writer;
        // The last range waits until all others have come back: a disk that serves the nearest request first would
        // leave single blocks until behind it.
        let (others, last) = layout.writes.split_at(layout.writes.len().saturating_sub(1));
        for ranges in [others, last] {
            let mut pieces = pieces(ranges).skip_while(|(at, _)| *at < from_bytes);
            let next = |slot, buffer: &mut [u8]| {
                let (offset_bytes, length_bytes) = pieces.next()?;
                let blocks = buffer[..length_bytes as usize].chunks_exact_mut(BLOCK_BYTES as usize);
                for (block, at) in blocks.zip((offset_bytes..).step_by(BLOCK_BYTES as usize)) {
                    writer.write(block, at, 1);
                }
                Some(Request { slot, op: Op::Write, length_bytes, offset_bytes })
            };
            let done = |request: Request, result: i32, _: &[u8]| {
                done_bytes += u64::from(request.length_bytes);
                if result != request.length_bytes as i32 {
                    failed.push(request.offset_bytes..request.offset_bytes + u64::from(request.length_bytes));
                }
                on_progress(Stage::Writing, done_bytes, total);
            };
            if !self.transfer.run(next, done, self.stop)?.is_empty() {
                return Err(hung("a write"));
            }
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // A flush that fails leaves nothing to rely on: what it lost shows when it is read.
        let _ = self.bed.settle();
        failed.sort_unstable_by_key(|range| range.start);
        Ok(failed)
    }

    /// Tests blocks within the range in which the real capacity ends. The window at the end is written behind them: a
    /// cache shall not keep them.
    pub fn narrow(&mut self, layout: &Layout, ends_within: &Range<u64>) -> io::Result<CapacityProbe> {
        let blocks = layout.blocks_within(ends_within);
        let mut with_window = blocks.clone();
        with_window.writes.extend(layout.writes.last().cloned());
        self.writer = WriterId::new(self.writer.seed, self.transfer.clock());
        let failed = self.write(&with_window, &mut |_, _, _| {})?;
        self.read(&blocks, &failed, &mut |_, _, _| {})
    }

    /// Gives a file its blocks, so that what is written to it has a fixed place; returns false where the file system
    /// reserves none.
    pub fn reserve(&self, bytes: u64) -> io::Result<bool> {
        let Storage::File(file) = &self.bed.storage else { return Ok(true) };
        Ok(files::allocate(file, bytes)?.is_some_and(|reserved_bytes| reserved_bytes >= bytes))
    }

    /// Reads a layout back; `failed` are ranges that could not be written, by offset.
    pub fn read(
        &mut self,
        layout: &Layout,
        failed: &[Range<u64>],
        on_progress: OnProgress,
    ) -> io::Result<CapacityProbe> {
        if let (Storage::File(file), false) = (&self.bed.storage, self.direct) {
            prepare::drop_pages(file, 0..layout.size_bytes);
        }
        let total = layout.written_bytes();
        let (mut done_bytes, mut states) = (0, Runs::default());
        let writer = self.writer;
        // Reading needs no order of writing; neighbours one after the other are kind to discs.
        let mut pieces = pieces(&layout.writes);
        let next = |slot, _: &mut [u8]| {
            let (offset_bytes, length_bytes) = pieces.next()?;
            Some(Request { slot, op: Op::Read, length_bytes, offset_bytes })
        };
        let mut again = Vec::new();
        let done = |request: Request, _: i32, bytes: &[u8]| {
            done_bytes += u64::from(request.length_bytes);
            on_progress(Stage::Reading, done_bytes, total);
            let mut arrived = bytes.chunks_exact(BLOCK_BYTES as usize);
            let end_bytes = request.offset_bytes + u64::from(request.length_bytes);
            for at in (request.offset_bytes..end_bytes).step_by(BLOCK_BYTES as usize) {
                match arrived.next() {
                    Some(block) => states.add(at, state(block, at, writer, failed)),
                    None => again.push(at),
                }
            }
        };
        if !self.transfer.run(next, done, self.stop)?.is_empty() {
            return Err(hung("a read"));
        }
        // One bad block shall not hide its neighbours.
        let mut places = again.into_iter();
        let next = |slot, _: &mut [u8]| {
            let offset_bytes = places.next()?;
            Some(Request { slot, op: Op::Read, length_bytes: BLOCK_BYTES as u32, offset_bytes })
        };
        let done = |request: Request, _: i32, block: &[u8]| {
            let whole = block.len() as u64 == BLOCK_BYTES;
            let at = request.offset_bytes;
            states.add(at, if whole { state(block, at, writer, failed) } else { BlockState::Unreadable });
        };
        if !self.transfer.run(next, done, self.stop)?.is_empty() {
            return Err(hung("a read"));
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(CapacityProbe {
            claimed_bytes: layout.size_bytes,
            block_bytes: BLOCK_BYTES,
            step_bytes: layout.step_bytes,
            writes: layout.writes.clone(),
            runs: states.in_order(),
        })
    }
}

fn hung(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{what} never came back"))
}

/// What a block holds.
fn state(block: &[u8], at_bytes: u64, writer: WriterId, failed: &[Range<u64>]) -> BlockState {
    let begun = failed.partition_point(|range| range.start <= at_bytes);
    if failed[..begun].last().is_some_and(|range| range.contains(&at_bytes)) {
        return BlockState::Unwritable;
    }
    match BlockMark::of_block(block).filter(|mark| mark.trial == writer.trial) {
        None => BlockState::Lost,
        Some(mark) if mark.offset_bytes == at_bytes => BlockState::Kept,
        Some(mark) => {
            BlockState::Shifted { by_bytes: mark.offset_bytes.cast_signed() - at_bytes.cast_signed() }
        }
    }
}

/// States of blocks that come in any order.
#[derive(Debug, Default)]
struct Runs(Vec<BlockRun>);

impl Runs {
    fn add(&mut self, at_bytes: u64, state: BlockState) {
        match self.0.last_mut().filter(|run| run.state == state && run.end_bytes() == at_bytes) {
            Some(run) => run.length_bytes += BLOCK_BYTES,
            None => self.0.push(BlockRun { from_bytes: at_bytes, length_bytes: BLOCK_BYTES, state }),
        }
    }

    /// By offset, neighbours of one state together.
    fn in_order(mut self) -> Vec<BlockRun> {
        self.0.sort_unstable_by_key(|run| run.from_bytes);
        let mut runs: Vec<BlockRun> = Vec::new();
        for run in self.0 {
            match runs.last_mut().filter(|last| last.state == run.state && last.end_bytes() == run.from_bytes)
            {
                Some(last) => last.length_bytes += run.length_bytes,
                None => runs.push(run),
            }
        }
        runs
    }
}

const _: () = assert!((BLOCK_BYTES as usize).is_multiple_of(SECTOR_BYTES));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wherever_addresses_begin_again_one_place_falls_into_the_first_window() {
        let (size, window) = (10_000 << 20, 64 << 20);
        let layout = Layout::sparse(size, window, 7);
        assert_eq!(layout.writes[0], 0..window);
        // Real capacities in steps of 1 MiB, and one block beside each.
        for real in (window..size - 2 * window).step_by(1 << 20).flat_map(|real| [real, real + BLOCK_BYTES]) {
            let falls = |write: &Range<u64>| write.start >= real && write.start - real < window;
            assert!(layout.writes.iter().any(falls), "{real}");
        }
        // No place is written twice, so that each says what came last.
        let mut places = layout.writes.clone();
        places.sort_unstable_by_key(|write| write.start);
        assert!(places.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert_eq!(places.last().unwrap().end, size);
    }

    #[test]
    fn a_small_storage_is_written_whole_and_a_large_one_costs_no_more_places() {
        assert!(Layout::sparse(200 << 20, 64 << 20, 1).is_whole());
        let large = Layout::sparse(20_000_000_000_000, 1 << 30, 1);
        assert!(large.writes.len() as u64 <= 2 * WINDOWS_MAX);
        assert!(large.written_bytes() < 20_000_000_000_000 / 900);
    }
}

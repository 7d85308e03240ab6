//! Data to write: random bytes, zeros, or bytes of which a known share can be compressed or deduplicated.
//!
//! Random bytes are drawn once, before the trial. What makes a block unlike all others is then a number in its first
//! eight bytes, which costs one cache line in each 4 KiB; drawing 128 KiB of fresh random bytes for each write would
//! take 20 µs or more, longer than a fast drive needs to store them.
//!
//! **compress:P%**: the last P % of every 4 KiB are zeros. **dedupe:P%**: P % of the 4 KiB blocks are written from
//! their buffer a second time, unchanged. Storage compares blocks of 4 KiB or more when it deduplicates; where
//! requests are no multiples of that, 512 B take its place, and below that the request.

use iosonde_model::{Payload, TrialSpec};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{buffer::BufferPool, slots};

/// Bytes of the number that makes a block unlike every other.
const STAMP_BYTES: usize = 8;

/// The block in which shares are kept.
fn chunk_bytes(spec: &TrialSpec) -> usize {
    let smallest_bytes = spec.smallest_block_bytes().max(1);
    let divides = |chunk: u64| {
        spec.block_size_bytes.is_multiple_of(chunk)
            && spec.block_sizes.iter().all(|size| size.bytes.is_multiple_of(chunk))
    };
    [4096, 512].into_iter().find(|&chunk| divides(chunk)).unwrap_or(smallest_bytes) as usize
}

/// Fills all buffers, before any request is submitted.
pub fn fill(buffers: &mut BufferPool, spec: &TrialSpec, seed: u64) {
    // A fresh mapping is zeros.
    if spec.payload == Payload::Zero {
        return;
    }
    let zero_share = spec.payload.zero_share();
    let chunk_bytes = chunk_bytes(spec);
    // The stamp stays even where all is to be zeros: such blocks compress, but they are not equal.
    let random_bytes = (((1.0 - zero_share) * chunk_bytes as f64).round() as usize).max(STAMP_BYTES);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for slot in 0..slots::write_slots(spec) {
        // SAFETY: `&mut` says that nobody else has these buffers, and nothing is outstanding before the trial.
        let slot = unsafe { buffers.bytes(slot, buffers.slot_bytes()) };
        for chunk in slot.chunks_mut(chunk_bytes) {
            let end = random_bytes.min(chunk.len());
            random.fill(&mut chunk[..end]);
        }
    }
}

/// Where a job begins to number its blocks: where nothing but the number tells blocks apart, two jobs or two trials
/// that both began at 1 would write the same ones. 2^64 places hold 10^13 jobs of a million blocks apart.
fn first_number(seed: u64) -> u64 {
    Xoshiro256PlusPlus::seed_from_u64(!seed).random()
}

/// Makes each write of one job what it shall be.
#[derive(Debug)]
pub struct Maker {
    kind: Kind,
    chunk_bytes: usize,
    /// Number of the last block.
    number: u64,
}

#[derive(Debug)]
enum Kind {
    /// Zeros: nothing to be made.
    Constant,
    /// Each block unlike every other.
    Unique,
    /// A share of the blocks equal to one before.
    Repeating(Repeats),
}

#[derive(Debug)]
struct Repeats {
    share: f64,
    /// Repetitions that are due; never drifts from the share by more than the blocks that had nothing to repeat.
    owed: f64,
    /// For each slot, how much of its buffer has been written whole before.
    written_bytes: Box<[usize]>,
}

impl Maker {
    /// Makes the payload for the writes of a job whose buffers are filled.
    pub fn new(spec: &TrialSpec, seed: u64) -> Self {
        let kind = match (spec.payload, spec.payload.repeated_share()) {
            (Payload::Zero, _) => Kind::Constant,
            (_, None) => Kind::Unique,
            (_, Some(share)) => Kind::Repeating(Repeats {
                share,
                owed: 0.0,
                written_bytes: vec![0; slots::write_slots(spec) as usize].into(),
            }),
        };
        Self { kind, chunk_bytes: chunk_bytes(spec), number: first_number(seed) }
    }

    /// Prepares the slot's next write. No request of the slot may be outstanding.
    #[inline]
    pub fn make(&mut self, buffers: &BufferPool, slot: u32, length_bytes: u32) {
        if matches!(self.kind, Kind::Constant) {
            return;
        }
        // SAFETY: the slot is free, so neither the kernel nor anybody here looks at it.
        let bytes = unsafe { buffers.bytes(slot, length_bytes as usize) };
        for (at, chunk) in (0..).step_by(self.chunk_bytes).zip(bytes.chunks_mut(self.chunk_bytes)) {
            if let Kind::Repeating(repeats) = &mut self.kind
                && repeats.repeat(slot, at, chunk.len(), self.chunk_bytes)
            {
                continue;
            }
            self.number = self.number.wrapping_add(1);
            let stamp = self.number.to_le_bytes();
            if let Some(start) = chunk.first_chunk_mut() {
                *start = stamp;
            } else {
                chunk.copy_from_slice(&stamp[..chunk.len()]);
            }
        }
    }
}

impl Repeats {
    /// Returns true if a block stays what it was; `at` says where in the slot's buffer it lies.
    #[inline]
    fn repeat(&mut self, slot: u32, at: usize, length_bytes: usize, chunk_bytes: usize) -> bool {
        self.owed += self.share;
        let written_bytes = &mut self.written_bytes[slot as usize];
        let end = at + length_bytes;
        if self.owed >= 1.0 && end <= *written_bytes {
            self.owed -= 1.0;
            return true;
        }
        // A block that is cut short changes its beginning alone, so the whole was not written in this form.
        *written_bytes = if length_bytes == chunk_bytes { end.max(*written_bytes) } else { at };
        false
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use iosonde_model::Rw;

    fn spec(payload: &str, block_size_bytes: u64, queue_depth: u32) -> TrialSpec {
        let payload = payload.parse().unwrap();
        TrialSpec { rw: Rw::RandWrite, payload, block_size_bytes, queue_depth, ..TrialSpec::default() }
    }

    /// Bytes that a job writes with these lengths, one slot after another.
    fn written(spec: &TrialSpec, lengths: impl Iterator<Item = u32>) -> Vec<u8> {
        let slots = slots::slots(spec);
        let mut buffers = BufferPool::new(slots, spec.block_size_bytes).unwrap();
        fill(&mut buffers, spec, 7);
        let mut maker = Maker::new(spec, 1);
        let mut out = Vec::new();
        for (length_bytes, slot) in lengths.zip((0..slots).cycle()) {
            maker.make(&buffers, slot, length_bytes);
            // SAFETY: nothing is outstanding in a test without an engine.
            out.extend_from_slice(unsafe { buffers.bytes(slot, length_bytes as usize) });
        }
        out
    }

    fn same_size(spec: &TrialSpec, writes: usize) -> Vec<u8> {
        written(spec, std::iter::repeat_n(spec.block_size_bytes as u32, writes))
    }

    fn saving(data: &[u8]) -> f64 {
        1.0 - lz4_flex::block::compress(data).len() as f64 / data.len() as f64
    }

    #[test]
    fn no_two_random_blocks_are_equal() {
        for (block_size_bytes, chunk) in [(512, 512), (4096, 4096), (12_288, 4096), (6144, 512)] {
            let data = same_size(&spec("random", block_size_bytes, 3), 300);
            let distinct: HashSet<&[u8]> = data.chunks(chunk).collect();
            assert_eq!(distinct.len(), data.len() / chunk, "{block_size_bytes}");
        }
    }

    #[test]
    fn random_bytes_use_all_values_evenly_and_do_not_compress() {
        let data = same_size(&spec("random", 4096, 16), 16);
        let mut counts = [0u32; 256];
        data.iter().for_each(|&b| counts[b as usize] += 1);
        // 65,536 bytes: 256 of each value expected, standard deviation 16; 6 sigma. The stamps repeat 7 bytes 16 times.
        assert!(counts.iter().all(|&n| (160..352).contains(&n)), "{counts:?}");
        assert!(saving(&data) < 0.0, "{}", saving(&data));
    }

    #[test]
    fn what_only_its_number_tells_apart_is_another_in_each_job_and_trial() {
        let spec = spec("compress:100%", 4096, 2);
        let blocks = |seed: u64| {
            let mut buffers = BufferPool::new(slots::slots(&spec), 4096).unwrap();
            fill(&mut buffers, &spec, seed);
            let mut maker = Maker::new(&spec, seed);
            let block = |_| {
                maker.make(&buffers, 0, 4096);
                // SAFETY: nothing is outstanding in a test without an engine.
                unsafe { buffers.bytes(0, 4096) }.to_vec()
            };
            (0..100).map(block).collect::<HashSet<Vec<u8>>>()
        };
        assert!(blocks(1).is_disjoint(&blocks(2)) && blocks(1).len() == 100);
    }

    #[test]
    fn zeros_are_zeros() {
        assert!(same_size(&spec("zero", 8192, 2), 10).iter().all(|&b| b == 0));
    }

    #[test]
    fn a_compressor_saves_the_share_in_every_block_and_over_many() {
        for percent in [0, 10, 25, 50, 75, 90, 100] {
            for block_size_bytes in [512, 4096, 131_072] {
                let data = same_size(&spec(&format!("compress:{percent}%"), block_size_bytes, 4), 64);
                let chunk = 4096.min(block_size_bytes as usize);
                // lz4 spends about 20 B on a run of zeros and its ends: 4 % of 512 B, 0.5 % of 4 KiB.
                let within = if chunk == 512 { 0.05 } else { 0.015 };
                let share = f64::from(percent) / 100.0;
                let blocks = data.chunks(chunk).map(saving);
                let worst = blocks.map(|saving| (saving - share).abs()).fold(0.0, f64::max);
                assert!(worst < within, "{percent} % of {block_size_bytes} B: {worst} off");
                let all = saving(&data);
                assert!((all - share).abs() < within, "{percent} % of {block_size_bytes} B in a row: {all}");
                let distinct: HashSet<&[u8]> = data.chunks(chunk).collect();
                assert_eq!(distinct.len(), data.len() / chunk, "{percent} %");
            }
        }
    }

    #[test]
    fn the_share_of_duplicates_is_exact() {
        for (percent, block_size_bytes, depth) in
            [(0, 4096, 1), (30, 4096, 32), (50, 131_072, 8), (90, 512, 4)]
        {
            let spec = spec(&format!("dedupe:{percent}%"), block_size_bytes, depth);
            let chunk = 4096.min(block_size_bytes as usize);
            let data = same_size(&spec, 20_000 * chunk / block_size_bytes as usize + 1);
            let blocks = data.len() / chunk;
            let distinct = data.chunks(chunk).collect::<HashSet<_>>().len();
            let share = f64::from(percent) / 100.0;
            // At most one repetition is still owed.
            let repeated = (blocks - distinct) as f64;
            assert!((repeated - share * blocks as f64).abs() <= 1.0, "{percent} %: {repeated} of {blocks}");
        }
    }

    #[test]
    fn blocks_may_be_compressible_and_repeated() {
        let data = same_size(&spec("compress:50%+dedupe:30%", 4096, 16), 10_000);
        let worst = data.chunks(4096).map(|block| (saving(block) - 0.5).abs()).fold(0.0, f64::max);
        assert!(worst < 0.015, "{worst} off");
        let distinct = data.chunks(4096).collect::<HashSet<_>>().len();
        assert!((10_000.0 - distinct as f64 - 3000.0).abs() <= 1.0, "{distinct} of 10,000");
    }

    #[test]
    fn duplicates_are_whole_blocks_written_before_whatever_the_lengths() {
        let sizes = "4k:50,64k:50".parse().unwrap();
        let spec = TrialSpec { block_sizes: sizes, ..spec("dedupe:40%", 65_536, 5) };
        let lengths = (0..4000).map(|i| if i % 3 == 0 { 65_536 } else { 4096 });
        let data = written(&spec, lengths);
        let (blocks, distinct) = (data.len() / 4096, data.chunks(4096).collect::<HashSet<_>>().len());
        assert!(((blocks - distinct) as f64 - 0.4 * blocks as f64).abs() <= 1.0, "{distinct} of {blocks}");
    }

    #[test]
    fn tiny_and_odd_blocks_stay_within_their_buffers() {
        for block_size_bytes in [1, 7, 100, 513, 4097, 6000] {
            for payload in ["random", "compress:50%", "dedupe:50%"] {
                let data = same_size(&spec(payload, block_size_bytes, 2), 9);
                assert_eq!(data.len() as u64, 9 * block_size_bytes);
            }
        }
    }
}

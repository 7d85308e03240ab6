//! What a verified block says of itself.
//!
//! Each of its 512 B sectors begins with the same 32 bytes but for the last number:
//!
//! ```text
//!  0  magic u32 · generation u32     8  offset of the block u64     16  trial u64
//! 24  sectors of the block u32 · number of this sector u32
//! ```
//!
//! and the first one goes on with the seed (u64, at 32) and a checksum (XXH3, at 40) over all bytes of the
//! block but its own. Little endian. The *trial* is made of seed, date and process, so that a trial repeated
//! with the same seed does not take for its own what an earlier one wrote.

use std::sync::atomic::{AtomicU64, Ordering};

use twox_hash::XxHash3_64;

use crate::clock::Clock;

/// Smallest unit that storage writes as a whole.
pub const SECTOR_BYTES: usize = 512;

/// `iosV`.
const MAGIC: u32 = u32::from_le_bytes(*b"iosV");
/// Offset of the checksum; the seed is before it.
const CHECKSUM_AT: usize = 40;

/// Identity of the trial that writes blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriterId {
    /// Number that differs from that of any other trial.
    pub trial: u64,
    /// Seed of the trial.
    pub seed: u64,
}

impl WriterId {
    /// Makes the identity of a trial that begins now.
    pub fn new(seed: u64, clock: &Clock) -> Self {
        // The date has milliseconds, and two trials may begin within one.
        static TRIALS: AtomicU64 = AtomicU64::new(0);
        let number = TRIALS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{} {} {number}", clock.utc(), std::process::id());
        Self { trial: XxHash3_64::oneshot_with_seed(seed, name.as_bytes()), seed }
    }

    /// The writer of a whole block; `None` where none says so.
    pub fn of_block(block: &[u8]) -> Option<Self> {
        BlockMark::of_block(block).map(|mark| Self { trial: mark.trial, seed: long(block, 32) })
    }

    /// Writes the mark into every sector of a block.
    #[inline]
    pub fn write(self, block: &mut [u8], offset_bytes: u64, generation: u32) {
        let sectors = (block.len() / SECTOR_BYTES) as u32;
        let mark = BlockMark { trial: self.trial, offset_bytes, generation, sectors };
        for (sector, number) in block.chunks_exact_mut(SECTOR_BYTES).zip(0..) {
            mark.put(sector, number);
        }
        block[32..40].copy_from_slice(&self.seed.to_le_bytes());
        let checksum = checksum(block).to_le_bytes();
        block[CHECKSUM_AT..][..8].copy_from_slice(&checksum);
    }
}

/// Mark that all sectors of a block carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockMark {
    /// Trial that wrote the block.
    pub trial: u64,
    /// Offset at which the block was to be written.
    pub offset_bytes: u64,
    /// Number of the trial's write to this block, from 1.
    pub generation: u32,
    /// Length of the block in sectors of 512 bytes.
    pub sectors: u32,
}

impl BlockMark {
    #[inline]
    fn put(self, sector: &mut [u8], number: u32) {
        let mut bytes = [0; 32];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.generation.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset_bytes.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.trial.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.sectors.to_le_bytes());
        bytes[28..32].copy_from_slice(&number.to_le_bytes());
        sector[..32].copy_from_slice(&bytes);
    }

    /// Reads a sector's mark and its number in the block, whatever the magic number.
    fn get(sector: &[u8]) -> (Self, u32) {
        let mark = Self {
            generation: number(sector, 4),
            offset_bytes: long(sector, 8),
            trial: long(sector, 16),
            sectors: number(sector, 24),
        };
        (mark, number(sector, 28))
    }

    /// Reads the mark of a sector and its number in the block; `None` if the sector is not marked.
    pub fn of_sector(sector: &[u8]) -> Option<(Self, u32)> {
        (number(sector, 0) == MAGIC).then(|| Self::get(sector))
    }

    /// Reads the mark of a whole block; `None` unless all sectors agree and the checksum is right.
    pub fn of_block(block: &[u8]) -> Option<Self> {
        let (mark, _) = Self::of_sector(block)?;
        let agree = |(sector, number)| Self::of_sector(sector) == Some((mark, number));
        let whole = mark.sectors as usize * SECTOR_BYTES == block.len()
            && block.chunks_exact(SECTOR_BYTES).zip(0..).all(agree);
        (whole && long(block, CHECKSUM_AT) == checksum(block)).then_some(mark)
    }
}

/// Returns true if any sector of a damaged block was written by this trial.
pub fn is_of(writer: WriterId, block: &[u8], offset_bytes: u64) -> bool {
    let trial = |sector| BlockMark::get(sector).0.trial == writer.trial;
    // Where the number of the trial itself was damaged and there is but one sector, its seed and place still tell.
    let first = BlockMark::of_sector(block).is_some_and(|(mark, _)| mark.offset_bytes == offset_bytes)
        && long(block, 32) == writer.seed;
    first || block.chunks_exact(SECTOR_BYTES).any(trial)
}

/// Over all of a block but the checksum itself.
fn checksum(block: &[u8]) -> u64 {
    let before = XxHash3_64::oneshot(&block[..CHECKSUM_AT]);
    XxHash3_64::oneshot_with_seed(before, &block[CHECKSUM_AT + 8..])
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WRITER: WriterId = WriterId { trial: 0x1234, seed: 7 };

    #[test]
    fn a_block_says_what_it_is() {
        let mut block = vec![0xa5; 4096];
        WRITER.write(&mut block, 8192, 3);
        let mark = BlockMark { trial: 0x1234, offset_bytes: 8192, generation: 3, sectors: 8 };
        assert_eq!(BlockMark::of_block(&block), Some(mark));
        assert_eq!(BlockMark::of_sector(&block[512..]), Some((mark, 1)));
        // All other bytes are unchanged.
        assert!(block[48..512].iter().chain(&block[544..1024]).all(|&b| b == 0xa5));
    }

    #[test]
    fn trials_differ_even_with_the_same_seed() {
        let clock = Clock::real();
        let first = WriterId::new(1, &clock);
        assert_ne!(first.trial, WriterId::new(2, &clock).trial);
        assert_ne!(first.trial, WriterId::new(1, &clock).trial);
    }

    proptest! {
        #[test]
        fn no_changed_bit_goes_unseen(sectors in 1usize..20, bit: prop::sample::Index, seed: u64, offset: u32) {
            let mut block: Vec<u8> = (0..sectors * SECTOR_BYTES).map(|i| (i as u64 ^ seed) as u8).collect();
            WRITER.write(&mut block, u64::from(offset), 1);
            let bit = bit.index(block.len() * 8);
            block[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(BlockMark::of_block(&block), None);
            // One sector's mark may be gone, and with it the only one; its seed is another then.
            prop_assert!(is_of(WRITER, &block, u64::from(offset)));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 512..1537)) {
            let _ = BlockMark::of_sector(&bytes);
            let whole = bytes.len() / SECTOR_BYTES * SECTOR_BYTES;
            let _ = BlockMark::of_block(&bytes[..whole]);
            let _ = is_of(WRITER, &bytes[..whole], 0);
        }
    }
}

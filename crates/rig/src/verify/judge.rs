//! Verdict on a block that was read.

use iosonde_model::Verification;

use super::mark::{BlockMark, SECTOR_BYTES, WriterId, is_of};

/// The verdict on one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockVerdict {
    /// As it should be.
    AsWritten,
    /// Nothing of this trial.
    Lost,
    /// An earlier write of this trial.
    Stale,
    /// A whole block that belongs elsewhere.
    Misplaced,
    /// Parts of different writes, or damaged.
    Torn,
    /// No mark that could be judged.
    Unmarked,
}

impl BlockVerdict {
    /// Adds the verdict to the counts; a block without a mark is not counted.
    pub fn count(self, found: &mut Verification) {
        found.checked += u64::from(self != Self::Unmarked);
        match self {
            Self::AsWritten => {}
            Self::Unmarked => found.unmarked += 1,
            Self::Lost => found.lost += 1,
            Self::Stale => found.stale += 1,
            Self::Misplaced => found.misplaced += 1,
            Self::Torn => found.torn += 1,
        }
    }
}

/// Judges a block that this trial wrote last as `generation`.
pub fn written(block: &[u8], offset_bytes: u64, writer: WriterId, generation: u32) -> BlockVerdict {
    match BlockMark::of_block(block) {
        Some(mark) if mark.trial != writer.trial => BlockVerdict::Lost,
        Some(mark) if mark.offset_bytes != offset_bytes => BlockVerdict::Misplaced,
        Some(mark) if mark.generation == generation => BlockVerdict::AsWritten,
        Some(_) => BlockVerdict::Stale,
        None if is_of(writer, block, offset_bytes) => BlockVerdict::Torn,
        None => BlockVerdict::Lost,
    }
}

/// Judges a block by its own mark, without knowing what was written.
pub fn by_itself(block: &[u8], offset_bytes: u64) -> BlockVerdict {
    if let Some(mark) = BlockMark::of_block(block) {
        return if mark.offset_bytes == offset_bytes {
            BlockVerdict::AsWritten
        } else {
            BlockVerdict::Misplaced
        };
    }
    let sectors = (block.len() / SECTOR_BYTES) as u32;
    let marks = || block.chunks_exact(SECTOR_BYTES).map(BlockMark::of_sector).zip(0..);
    // Later writes with blocks of another size leave parts of the earlier ones: nobody can say what should be here.
    let other_blocks =
        marks().any(|(mark, at)| mark.is_some_and(|(mark, number)| mark.sectors != sectors || number != at));
    match marks().any(|(mark, _)| mark.is_some()) {
        true if !other_blocks => BlockVerdict::Torn,
        _ => BlockVerdict::Unmarked,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: WriterId = WriterId { trial: 2, seed: 9 };
    const BEFORE: WriterId = WriterId { trial: 1, seed: 9 };

    fn block(writer: WriterId, sectors: usize, offset_bytes: u64, generation: u32) -> Vec<u8> {
        let mut block = vec![generation as u8; sectors * SECTOR_BYTES];
        writer.write(&mut block, offset_bytes, generation);
        block
    }

    #[test]
    fn each_fault_has_its_name() {
        for sectors in [1, 8] {
            let judge = |block: &[u8]| written(block, 4096, NOW, 3);
            assert_eq!(judge(&block(NOW, sectors, 4096, 3)), BlockVerdict::AsWritten);
            assert_eq!(judge(&block(NOW, sectors, 4096, 2)), BlockVerdict::Stale);
            assert_eq!(judge(&block(NOW, sectors, 0, 3)), BlockVerdict::Misplaced);
            // Whatever an earlier trial left, even with the same seed and at another place: ours is not there.
            assert_eq!(judge(&block(BEFORE, sectors, 4096, 3)), BlockVerdict::Lost);
            assert_eq!(judge(&block(BEFORE, sectors, 0, 1)), BlockVerdict::Lost);
            assert_eq!(judge(&vec![0; sectors * SECTOR_BYTES]), BlockVerdict::Lost);
            let mut damaged = block(NOW, sectors, 4096, 3);
            damaged[300] ^= 1;
            assert_eq!(judge(&damaged), BlockVerdict::Torn);
        }
    }

    #[test]
    fn a_block_of_two_writes_is_torn() {
        let judge = |block: &[u8]| written(block, 4096, NOW, 3);
        for other in [block(NOW, 8, 4096, 2), block(BEFORE, 8, 4096, 7), vec![0; 4096], vec![0x5a; 4096]] {
            for from in 1..8 {
                let mut torn = block(NOW, 8, 4096, 3);
                torn[from * SECTOR_BYTES..].copy_from_slice(&other[from * SECTOR_BYTES..]);
                assert_eq!(judge(&torn), BlockVerdict::Torn);
            }
        }
        // Two of an earlier trial's writes: not one byte of ours arrived.
        let mut earlier = block(BEFORE, 8, 4096, 1);
        earlier[..512].copy_from_slice(&block(BEFORE, 8, 4096, 2)[..512]);
        earlier[32] ^= 1;
        assert_eq!(judge(&earlier), BlockVerdict::Lost);
    }

    #[test]
    fn by_itself_a_block_is_whole_torn_misplaced_or_says_nothing() {
        assert_eq!(by_itself(&block(BEFORE, 8, 4096, 3), 4096), BlockVerdict::AsWritten);
        assert_eq!(by_itself(&block(BEFORE, 8, 4096, 3), 8192), BlockVerdict::Misplaced);
        assert_eq!(by_itself(&vec![0; 4096], 4096), BlockVerdict::Unmarked);
        let mut torn = block(BEFORE, 8, 4096, 3);
        torn[1024..].copy_from_slice(&block(NOW, 8, 4096, 1)[1024..]);
        assert_eq!(by_itself(&torn, 4096), BlockVerdict::Torn);
    }

    #[test]
    fn blocks_of_another_size_laid_over_are_no_damage() {
        let mut over = block(BEFORE, 8, 4096, 3);
        over[1024..2048].copy_from_slice(&block(NOW, 2, 5120, 1));
        assert_eq!(by_itself(&over, 4096), BlockVerdict::Unmarked);
    }
}

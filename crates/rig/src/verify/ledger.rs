//! Which generation each block was given last: four bytes a block, allocated before the trial.
//!
//! A generation counts the writes to its block, so 30 bits last for 17 minutes of a million writes a second to one
//! block; then it begins again at 1.

use std::ops::Range;

/// A write to the block is outstanding.
const IN_FLIGHT: u32 = 1 << 31;
/// A write to the block failed, and none has succeeded since: nobody can say what is there.
const UNCERTAIN: u32 = 1 << 30;
const GENERATION: u32 = UNCERTAIN - 1;

/// Generations of the blocks of a job's range.
#[derive(Debug)]
pub struct Ledger {
    base_bytes: u64,
    block_bytes: u64,
    entries: Vec<u32>,
}

impl Ledger {
    /// Makes a ledger without any write.
    pub fn new(range_bytes: Range<u64>, block_bytes: u64) -> Self {
        let blocks = ((range_bytes.end - range_bytes.start) / block_bytes) as usize;
        // Writing them touches every page now; zeros straight from the kernel would be page faults within the trial.
        let entries = std::iter::repeat_n(0, blocks).collect();
        Self { base_bytes: range_bytes.start, block_bytes, entries }
    }

    /// Returns the memory that a ledger needs, in bytes.
    pub fn memory_bytes(span_bytes: u64, block_bytes: u64) -> u64 {
        span_bytes / block_bytes * size_of::<u32>() as u64
    }

    /// Returns the size of a block.
    pub fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> usize {
        self.entries.len()
    }

    /// Returns the offset of a block.
    pub fn offset_bytes(&self, block: usize) -> u64 {
        self.base_bytes + block as u64 * self.block_bytes
    }

    /// Returns the number of the block at an offset.
    #[inline]
    pub fn block_at(&self, offset_bytes: u64) -> usize {
        ((offset_bytes - self.base_bytes) / self.block_bytes) as usize
    }

    /// Returns the expected generation; `None` where nothing was written or the content is unknown.
    #[inline]
    pub fn expected(&self, block: usize) -> Option<u32> {
        let entry = self.entries[block];
        (entry > 0 && entry & (IN_FLIGHT | UNCERTAIN) == 0).then_some(entry)
    }

    #[inline]
    fn touched(&mut self, offset_bytes: u64, length_bytes: u32) -> &mut [u32] {
        let first = self.block_at(offset_bytes);
        let blocks = (u64::from(length_bytes) / self.block_bytes) as usize;
        &mut self.entries[first..first + blocks]
    }

    /// Returns true if no write to any of these blocks is outstanding.
    #[inline]
    pub fn is_free(&mut self, offset_bytes: u64, length_bytes: u32) -> bool {
        self.touched(offset_bytes, length_bytes).iter().all(|entry| entry & IN_FLIGHT == 0)
    }

    /// Assigns the next generation to every block of a write that is about to be submitted.
    #[inline]
    pub fn issue(&mut self, offset_bytes: u64, length_bytes: u32, mut tell: impl FnMut(u64, u32)) {
        let block_bytes = self.block_bytes;
        for (entry, number) in self.touched(offset_bytes, length_bytes).iter_mut().zip(0..) {
            debug_assert_eq!(*entry & IN_FLIGHT, 0, "two writes to one block");
            let generation = (*entry & GENERATION) % GENERATION + 1;
            *entry = generation | IN_FLIGHT | (*entry & UNCERTAIN);
            tell(number * block_bytes, generation);
        }
    }

    /// Reverts [`Ledger::issue`] for a write that was not sent after all.
    pub fn take_back(&mut self, offset_bytes: u64, length_bytes: u32) {
        for entry in self.touched(offset_bytes, length_bytes) {
            *entry = ((*entry & GENERATION) - 1) | (*entry & UNCERTAIN);
        }
    }

    /// Records the completion of a write; `result` is the bytes moved or a negative errno. The content of blocks that
    /// were not moved is unknown.
    #[inline]
    pub fn complete(&mut self, offset_bytes: u64, length_bytes: u32, result: i32) {
        let whole_blocks = (result.max(0) as u64 / self.block_bytes) as usize;
        for (entry, number) in self.touched(offset_bytes, length_bytes).iter_mut().zip(0..) {
            *entry &= GENERATION;
            if number >= whole_blocks {
                *entry |= UNCERTAIN;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_grow_and_writes_in_flight_are_known() {
        let mut ledger = Ledger::new(1000..1000 + 10 * 512 + 100, 512);
        assert_eq!(ledger.blocks(), 10);
        let mut told = Vec::new();
        ledger.issue(1000 + 512, 1024, |at, generation| told.push((at, generation)));
        assert_eq!(told, [(0, 1), (512, 1)]);
        assert!(
            !ledger.is_free(1000, 1024) && ledger.is_free(1000, 512) && !ledger.is_free(1000 + 1024, 512)
        );
        assert_eq!(ledger.expected(1), None);
        ledger.complete(1000 + 512, 1024, 1024);
        ledger.issue(1000 + 512, 512, |_, generation| assert_eq!(generation, 2));
        ledger.complete(1000 + 512, 512, 512);
        assert_eq!([0, 1, 2, 3].map(|block| ledger.expected(block)), [None, Some(2), Some(1), None]);
        assert_eq!((ledger.offset_bytes(2), ledger.block_at(2024)), (2024, 2));
    }

    #[test]
    fn what_failed_is_uncertain_until_a_write_succeeds() {
        let mut ledger = Ledger::new(0..2048, 512);
        let write = |ledger: &mut Ledger, result| {
            ledger.issue(0, 1024, |_, _| ());
            ledger.complete(0, 1024, result);
            [0, 1].map(|block| ledger.expected(block))
        };
        assert_eq!(write(&mut ledger, -5), [None, None]);
        assert_eq!(write(&mut ledger, 700), [Some(2), None]);
        assert_eq!(write(&mut ledger, 1024), [Some(3), Some(3)]);
    }

    #[test]
    fn what_was_never_sent_never_was() {
        let mut ledger = Ledger::new(0..1024, 512);
        ledger.issue(0, 512, |_, _| ());
        ledger.take_back(0, 512);
        assert!(ledger.is_free(0, 512));
        assert_eq!(ledger.expected(0), None);
        ledger.issue(0, 512, |_, generation| assert_eq!(generation, 1));
        ledger.complete(0, 512, -5);
        ledger.issue(0, 512, |_, _| ());
        ledger.take_back(0, 512);
        assert_eq!(ledger.expected(0), None);
    }

    #[test]
    fn generations_begin_again_at_one() {
        let mut ledger = Ledger::new(0..512, 512);
        ledger.entries[0] = GENERATION;
        ledger.issue(0, 512, |_, generation| assert_eq!(generation, 1));
    }
}

//! The memory that requests read into and write from: one page-aligned buffer a slot, in one mapping.
//!
//! One mapping, because io_uring then needs one registered buffer for all slots, and because a whole mapping can
//! be populated at once: a page fault inside a trial would be timed as the device's.

use std::{io, ptr::NonNull};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Deduplicating storage compares blocks of this size or larger, so no two written blocks may be equal.
const STAMP_EVERY_BYTES: usize = 4096;

/// Aligned buffers, one a slot.
#[derive(Debug)]
pub struct BufferPool {
    start: NonNull<u8>,
    slot_bytes: usize,
    slots: u32,
}

impl BufferPool {
    /// Maps and populates `slots` buffers of at least `block_size_bytes` each, rounded up to whole pages.
    pub fn new(slots: u32, block_size_bytes: u64) -> io::Result<Self> {
        Self::map(slots, block_size_bytes, MapFlags::PRIVATE | MapFlags::POPULATE)
    }

    /// Buffers that nobody reads or writes, for simulated devices: addresses without memory behind them.
    pub fn unused(slots: u32, block_size_bytes: u64) -> io::Result<Self> {
        Self::map(slots, block_size_bytes, MapFlags::PRIVATE | MapFlags::NORESERVE)
    }

    fn map(slots: u32, block_size_bytes: u64, flags: MapFlags) -> io::Result<Self> {
        let slot_bytes = (block_size_bytes.max(1) as usize).next_multiple_of(STAMP_EVERY_BYTES);
        let length = slot_bytes * slots as usize;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, protection, flags)? };
        let start =
            NonNull::new(start.cast()).ok_or_else(|| io::Error::other("the kernel mapped page zero"))?;
        Ok(Self { start, slot_bytes, slots })
    }

    /// Fills all buffers with random bytes: storage can neither compress nor deduplicate them.
    pub fn fill_random(&mut self, seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // SAFETY: the mapping is ours, of exactly this length, and `&mut self` excludes other references. The
        // caller fills before any request is in flight.
        let all = unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length_bytes()) };
        random.fill(all);
    }

    /// Makes the slot's next write unlike every earlier one: a number in the first bytes of each 4 KiB.
    #[inline]
    pub fn stamp(&self, slot: u32, length_bytes: u32, number: u64) {
        let start = self.slot(slot);
        for at in (0..length_bytes as usize).step_by(STAMP_EVERY_BYTES) {
            // SAFETY: `slot` asserts that the slot exists; at + 8 lies within it, because slots are whole multiples
            // of 4096 bytes; the slot is free, so the kernel does not read it now.
            unsafe { start.add(at).cast::<u64>().write_unaligned(number ^ (at as u64) << 32) };
        }
    }

    /// The slot's first byte.
    #[inline]
    pub fn slot(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the slot exists, so the offset lies within the mapping.
        unsafe { self.start.as_ptr().add(slot as usize * self.slot_bytes) }
    }

    /// The whole mapping, for registration.
    pub fn whole(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.length_bytes())
    }

    /// Bytes from one slot's start to the next's.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    fn length_bytes(&self) -> usize {
        self.slot_bytes * self.slots as usize
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and nothing refers to it any more. Requests that never came back hold their
        // own reference to the pages in the kernel.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length_bytes()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pool: &BufferPool, slot: u32) -> &[u8] {
        // SAFETY: the slot lies in the pool's mapping and nobody writes to it during the test.
        unsafe { std::slice::from_raw_parts(pool.slot(slot), pool.slot_bytes()) }
    }

    #[test]
    fn slots_are_aligned_and_apart() {
        let pool = BufferPool::new(3, 6000).unwrap();
        assert_eq!(pool.slot_bytes(), 8192);
        assert_eq!(pool.slot(1) as usize - pool.slot(0) as usize, 8192);
        assert_eq!(pool.slot(2) as usize % 4096, 0);
    }

    #[test]
    fn no_two_written_blocks_are_equal() {
        let mut pool = BufferPool::new(1, 8192).unwrap();
        pool.fill_random(7);
        let mut seen = std::collections::HashSet::new();
        for number in 0..100 {
            pool.stamp(0, 8192, number);
            for block in bytes(&pool, 0).chunks(4096) {
                assert!(seen.insert(block.to_vec()));
            }
        }
    }

    #[test]
    fn random_bytes_use_all_values_evenly() {
        let mut pool = BufferPool::new(16, 4096).unwrap();
        pool.fill_random(1);
        let mut counts = [0u32; 256];
        (0..16).for_each(|slot| bytes(&pool, slot).iter().for_each(|&b| counts[b as usize] += 1));
        // 65,536 bytes: 256 of each value expected, standard deviation 16; 6 sigma.
        assert!(counts.iter().all(|&n| (160..352).contains(&n)), "{counts:?}");
    }
}

//! Page-aligned buffers for requests, one for each slot, in one mapping.
//!
//! One mapping, because io_uring then needs one registered buffer for all slots, and because a whole mapping can
//! be populated at once: a page fault inside a trial would be timed as the device's.

use std::{io, ptr::NonNull};

use crate::platform::pages;

/// Direct I/O needs buffers aligned to the logical block, which is a page at most, and no larger than the request.
/// Smaller requests lie closer together: 4 KiB apart, all of them would share an eighth of the cache's sets.
fn alignment_bytes(block_size_bytes: usize) -> usize {
    if block_size_bytes < 4096 { 512 } else { 4096 }
}

/// Aligned buffers, one for each slot.
#[derive(Debug)]
pub struct BufferPool {
    start: NonNull<u8>,
    slot_bytes: usize,
    slots: u32,
}

impl BufferPool {
    /// Maps and populates `slots` buffers of at least `block_size_bytes` each, rounded up to what direct I/O needs.
    pub fn new(slots: u32, block_size_bytes: u64) -> io::Result<Self> {
        Self::map(slots, block_size_bytes, true)
    }

    /// Makes buffers that are never read or written, for simulated devices: addresses without memory behind them.
    pub fn unused(slots: u32, block_size_bytes: u64) -> io::Result<Self> {
        Self::map(slots, block_size_bytes, false)
    }

    fn map(slots: u32, block_size_bytes: u64, populated: bool) -> io::Result<Self> {
        let block_size_bytes = block_size_bytes.max(1) as usize;
        let slot_bytes = block_size_bytes.next_multiple_of(alignment_bytes(block_size_bytes));
        let start = pages::map(slot_bytes * slots as usize, populated)?;
        Ok(Self { start, slot_bytes, slots })
    }

    /// Returns the first `length_bytes` of a slot's buffer.
    ///
    /// # Safety
    /// The slot has no outstanding request, and no other reference to its buffer lives.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn bytes(&self, slot: u32, length_bytes: usize) -> &mut [u8] {
        assert!(length_bytes <= self.slot_bytes, "{length_bytes} of {} B", self.slot_bytes);
        // SAFETY: the slot exists and is that long; the caller grants that nobody else looks at it.
        unsafe { std::slice::from_raw_parts_mut(self.slot(slot), length_bytes) }
    }

    /// Returns the address of the slot's first byte.
    #[inline]
    pub fn slot(&self, slot: u32) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the slot exists, so the offset lies within the mapping.
        unsafe { self.start.as_ptr().add(slot as usize * self.slot_bytes) }
    }

    /// Returns start and length of the whole mapping, for registration with io_uring.
    pub fn whole(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), self.length_bytes())
    }

    /// Returns the number of buffers.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Returns the distance between the starts of two slots, in bytes.
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
        unsafe { pages::unmap(self.start, self.length_bytes()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_and_apart() {
        let pool = BufferPool::new(3, 6000).unwrap();
        assert_eq!(pool.slot_bytes(), 8192);
        assert_eq!(pool.slot(1) as usize - pool.slot(0) as usize, 8192);
        assert_eq!(pool.slot(2) as usize % 4096, 0);
        let pool = BufferPool::new(3, 1000).unwrap();
        assert_eq!(pool.slot(1) as usize - pool.slot(0) as usize, 1024);
    }
}

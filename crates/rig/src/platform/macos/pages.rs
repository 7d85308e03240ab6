//! Memory in whole pages, for buffers.

use std::{io, ptr::NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Pages of Apple silicon have 16 KiB, those of Intel 4 KiB.
const PAGE_LEAST_BYTES: usize = 4096;

/// Maps memory. `populated` memory is there at once; other memory is an address until it is touched.
pub(crate) fn map(length_bytes: usize, populated: bool) -> io::Result<NonNull<u8>> {
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping at an address of the kernel's choice touches no memory of ours.
    let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length_bytes, protection, MapFlags::PRIVATE)? };
    let start =
        NonNull::new(start.cast::<u8>()).ok_or_else(|| io::Error::other("the kernel mapped page zero"))?;
    if populated {
        for offset in (0..length_bytes).step_by(PAGE_LEAST_BYTES) {
            // SAFETY: the byte lies within the mapping, which nobody else knows yet.
            unsafe { start.add(offset).write_volatile(0) };
        }
    }
    Ok(start)
}

/// Gives a mapping back.
///
/// # Safety
/// It was mapped here with this length, and nothing refers to it any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, length_bytes: usize) {
    // SAFETY: the caller answers for it.
    let _ = unsafe { munmap(start.as_ptr().cast(), length_bytes) };
}

//! Memory in whole pages, for buffers.

use std::{io, ptr::NonNull};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Maps memory. `populated` memory is there at once; other memory is an address until it is touched.
pub(crate) fn map(length_bytes: usize, populated: bool) -> io::Result<NonNull<u8>> {
    let how = if populated { MapFlags::POPULATE } else { MapFlags::NORESERVE };
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new private mapping at an address of the kernel's choice touches no memory of ours.
    let start =
        unsafe { mmap_anonymous(std::ptr::null_mut(), length_bytes, protection, MapFlags::PRIVATE | how)? };
    NonNull::new(start.cast()).ok_or_else(|| io::Error::other("the kernel mapped page zero"))
}

/// Gives a mapping back.
///
/// # Safety
/// It was mapped here with this length, and nothing refers to it any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, length_bytes: usize) {
    // SAFETY: the caller answers for it.
    let _ = unsafe { munmap(start.as_ptr().cast(), length_bytes) };
}

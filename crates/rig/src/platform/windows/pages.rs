//! Memory in whole pages, for buffers.

use std::{io, ptr::NonNull};

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS, PAGE_READWRITE, VirtualAlloc, VirtualFree,
};

const PAGE_BYTES: usize = 4096;

/// Maps memory. `populated` memory is there at once; other memory is an address that must not be touched.
pub(crate) fn map(length_bytes: usize, populated: bool) -> io::Result<NonNull<u8>> {
    let (how, protection) =
        if populated { (MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) } else { (MEM_RESERVE, PAGE_NOACCESS) };
    // SAFETY: a new region at an address of the system's choice touches no memory of ours.
    let start = unsafe { VirtualAlloc(std::ptr::null(), length_bytes.max(1), how, protection) };
    let start = NonNull::new(start.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
    if populated {
        for offset in (0..length_bytes).step_by(PAGE_BYTES) {
            // SAFETY: the byte lies within the region, which nobody else knows yet.
            unsafe { start.add(offset).write_volatile(0) };
        }
    }
    Ok(start)
}

/// Gives a region back.
///
/// # Safety
/// It was mapped here, and nothing refers to it any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, _length_bytes: usize) {
    // SAFETY: the caller answers for it; 0 releases the whole region.
    unsafe { VirtualFree(start.as_ptr().cast(), 0, MEM_RELEASE) };
}

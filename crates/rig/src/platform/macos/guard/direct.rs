//! Uncached I/O: F_NOCACHE. It keeps new pages out of the cache; pages that are there already are read from it, which
//! only the witness of residency shows. What is not aligned to pages goes through the cache in any case.

use std::{fs::File, io, os::fd::AsRawFd};

/// Alignment that uncached I/O needs: pages of Apple silicon have 16 KiB, but blocks of 4 KiB pass.
const ALIGNMENT_BYTES: u32 = 4096;

/// Alignment that uncached I/O on a file needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectAbility {
    /// Alignment of the buffer's address.
    pub memory_alignment_bytes: u32,
    /// Alignment of offset and length.
    pub offset_alignment_bytes: u32,
}

/// Switches F_NOCACHE of an open file on or off, for everybody who shares the descriptor.
///
/// # Errors
/// The kernel refuses it.
pub fn set_direct(file: &File, on: bool) -> io::Result<()> {
    // SAFETY: the call changes a setting of the descriptor.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_NOCACHE, libc::c_int::from(on)) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Tests uncached I/O on a file, and leaves it off. An error is a sentence fragment with the reason.
///
/// # Errors
/// The kernel refuses it.
pub fn direct_ability(file: &File) -> Result<Option<DirectAbility>, String> {
    let switch =
        |on| set_direct(file, on).map_err(|error| format!("the kernel refuses F_NOCACHE on it: {error}"));
    switch(true)?;
    switch(false)?;
    let ability =
        DirectAbility { memory_alignment_bytes: ALIGNMENT_BYTES, offset_alignment_bytes: ALIGNMENT_BYTES };
    Ok(Some(ability))
}

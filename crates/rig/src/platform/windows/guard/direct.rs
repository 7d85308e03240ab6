//! Direct I/O: FILE_FLAG_NO_BUFFERING. Engines open the file again with it, or without.

use std::{fs::File, io, os::windows::fs::FileExt};

use windows_sys::Win32::{
    Foundation::GENERIC_READ,
    Storage::FileSystem::{FILE_FLAG_NO_BUFFERING, FILE_STORAGE_INFO, FileStorageInfo},
};

use crate::{
    buffer::BufferPool,
    platform::windows::handle::{information, reopen},
};

/// Alignment where the volume does not report one: no device has larger sectors.
const SAFE_ALIGNMENT_BYTES: u32 = 4096;

/// Alignment that direct I/O on a file needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectAbility {
    /// Alignment of the buffer's address.
    pub memory_alignment_bytes: u32,
    /// Alignment of offset and length.
    pub offset_alignment_bytes: u32,
}

/// Does nothing: on Windows the flag belongs to the opening, and each engine opens the file as its workload asks.
///
/// # Errors
/// None.
pub fn set_direct(_file: &File, _on: bool) -> io::Result<()> {
    Ok(())
}

/// Tests direct I/O on a file. An error is a sentence fragment with the reason why a trial read failed.
///
/// # Errors
/// The file cannot be opened without buffering, or a read of it fails.
pub fn direct_ability(file: &File) -> Result<Option<DirectAbility>, String> {
    let told = information::<FILE_STORAGE_INFO>(file, FileStorageInfo).ok();
    let bytes = told.map(|told| told.LogicalBytesPerSector).filter(|bytes| bytes.is_power_of_two());
    let bytes = bytes.unwrap_or(SAFE_ALIGNMENT_BYTES);
    let direct = reopen(file, GENERIC_READ, FILE_FLAG_NO_BUFFERING)
        .map_err(|error| format!("the system does not open it without buffering: {error}"))?;
    let buffers = BufferPool::new(1, bytes.into()).map_err(|error| error.to_string())?;
    // SAFETY: nothing is outstanding, and the reference ends with this call.
    let buffer = unsafe { buffers.bytes(0, bytes as usize) };
    direct.seek_read(buffer, 0).map_err(|error| format!("a direct read of it failed: {error}"))?;
    Ok(Some(DirectAbility { memory_alignment_bytes: bytes, offset_alignment_bytes: bytes }))
}

//! The room in a file system, as Linux tells it.

use std::{fs::File, io};

use rustix::{
    fs::fstatvfs,
    process::{Resource, getrlimit},
};

use crate::guard::{room::Room, share};
use crate::platform::linux::{System, meminfo_bytes};

/// The room in the file system of an open file or folder.
pub(super) fn room(file: &File, in_memory: bool) -> io::Result<Room> {
    let stat = fstatvfs(file)?;
    // Blocks are counted in fragments (f_frsize), not in f_bsize, which is a hint for transfers.
    let total_bytes = stat.f_blocks.saturating_mul(stat.f_frsize);
    // f_bavail, not f_bfree: what is kept back for root is not for measurements, not even root's.
    let available_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    let mut available_bytes = (total_bytes > 0).then_some(available_bytes);
    if in_memory {
        // tmpfs promises more than there is, and filling memory ends in the killing of somebody's process.
        let meminfo = System::real().text("/proc/meminfo");
        if let Some(memory_bytes) = meminfo.and_then(|text| meminfo_bytes(&text, "MemAvailable")) {
            available_bytes = Some(available_bytes.unwrap_or(u64::MAX).min(memory_bytes));
        }
    }
    Ok(share(total_bytes, available_bytes, getrlimit(Resource::Fsize).current))
}

/// Files that a file system may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FilesRoom {
    /// Free inodes for this user.
    pub(super) available: u64,
    /// Most files of our own: at most half of the free inodes, and a tenth of all stays free.
    pub(super) own_files: u64,
}

/// The room for files; `None` where a file system makes inodes as they are needed and counts none (Btrfs, NFS).
pub(super) fn files_room(file: &File) -> io::Result<Option<FilesRoom>> {
    let stat = fstatvfs(file)?;
    let own_files = (stat.f_favail / 2).min(stat.f_favail.saturating_sub(stat.f_files / 10));
    Ok((stat.f_files > 0).then_some(FilesRoom { available: stat.f_favail, own_files }))
}

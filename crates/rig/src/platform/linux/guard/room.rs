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

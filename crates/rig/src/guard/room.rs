//! How large an own file may become.

use std::{fs::File, io};

use rustix::{
    fs::fstatvfs,
    process::{Resource, getrlimit},
};

use crate::platform::{System, meminfo_bytes};

/// Less than this is not worth measuring: it fits every write buffer and read cache there is.
pub(super) const ROOM_MIN_BYTES: u64 = 64 << 20;

/// The most that is taken where a file system does not tell its size, as some user-space ones do not:
/// enough to measure, and little to clean up should it be too much.
const UNTOLD_BYTES: u64 = 1 << 30;

/// Space of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Free bytes for this user; `None` if the file system does not report them.
    pub(super) available_bytes: Option<u64>,
    /// The file system's size; 0 where it does not tell.
    pub(super) total_bytes: u64,
    /// Largest size of an own file: at most half of the available bytes, and a tenth of the file system stays free.
    pub(super) own_bytes: u64,
    /// Size of an own file that takes the room of all: a fiftieth of what is available stays.
    pub(super) whole_bytes: u64,
    /// True if not the file system but a limit of this process (`ulimit -f`) is the narrow place.
    pub(super) process_limit: bool,
}

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

fn share(total_bytes: u64, available_bytes: Option<u64>, file_limit_bytes: Option<u64>) -> Room {
    let by_rules =
        available_bytes.map_or(UNTOLD_BYTES, |bytes| (bytes / 2).min(bytes.saturating_sub(total_bytes / 10)));
    let limit_bytes = file_limit_bytes.unwrap_or(u64::MAX);
    let own_bytes = by_rules.min(limit_bytes);
    // Programs that write a little meanwhile find room: 64 MiB at least.
    let whole = |bytes: u64| bytes.saturating_sub((bytes / 50).max(ROOM_MIN_BYTES));
    let whole_bytes = available_bytes.map_or(UNTOLD_BYTES, whole).min(limit_bytes);
    Room { available_bytes, total_bytes, own_bytes, whole_bytes, process_limit: own_bytes < by_rules }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn half_of_what_is_available_unless_a_tenth_must_stay() {
        // 100 GiB with 80 free: half is 40, which leaves 40 > 10.
        assert_eq!(share(100 * GIB, Some(80 * GIB), None).own_bytes, 40 * GIB);
        // 100 GiB with 12 free: half is 6, but 10 must stay.
        assert_eq!(share(100 * GIB, Some(12 * GIB), None).own_bytes, 2 * GIB);
        assert_eq!(share(100 * GIB, Some(9 * GIB), None).own_bytes, 0);
        let limited = share(100 * GIB, Some(80 * GIB), Some(GIB));
        assert_eq!(share(0, None, None).own_bytes, GIB);
        assert_eq!((limited.own_bytes, limited.process_limit), (GIB, true));
    }

    #[test]
    fn who_takes_all_leaves_a_fiftieth_and_64_mib_at_least() {
        let whole_bytes = |available, limit| share(100 * GIB, available, limit).whole_bytes;
        assert_eq!(whole_bytes(Some(50 * GIB), None), 49 * GIB);
        assert_eq!(whole_bytes(Some(GIB), None), GIB - ROOM_MIN_BYTES);
        assert_eq!(whole_bytes(Some(ROOM_MIN_BYTES / 2), None), 0);
        assert_eq!(whole_bytes(Some(50 * GIB), Some(GIB)), GIB);
        assert_eq!(whole_bytes(None, None), UNTOLD_BYTES);
    }

    proptest! {
        #[test]
        fn the_rules_hold_everywhere(total: u64, available: u64, limit: Option<u64>) {
            let available = available.min(total);
            let own = share(total, Some(available), limit).own_bytes;
            prop_assert!(own <= available / 2);
            prop_assert!(own == 0 || available - own >= total / 10);
        }
    }
}

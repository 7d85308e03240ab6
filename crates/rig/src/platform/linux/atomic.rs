//! Atomic writes: sizes that the kernel promises to write whole or not at all (`RWF_ATOMIC`), from `statx`.

use std::{fs::File, os::fd::AsRawFd};

use crate::platform::AtomicWrites;

/// Asks `statx` for limits of atomic writes (linux/stat.h, since Linux 6.11).
const STATX_WRITE_ATOMIC: u32 = 0x1_0000;
/// Length of the kernel's `struct statx`. Its last fields are younger than the C libraries' declarations.
const STATX_BYTES: usize = 256;
/// Offsets in it: `stx_atomic_write_unit_min`, `.._unit_max`, `.._segments_max`, `.._unit_max_opt`.
const FIELDS: [usize; 4] = [0xa8, 0xac, 0xb0, 0xb8];

/// Limits of atomic writes to an open file. `Some(None)` where there are none; `None` where the kernel does not tell
/// (before 6.11).
pub fn atomic_writes(file: &File) -> Option<Option<AtomicWrites>> {
    let mut told = [0_u8; STATX_BYTES];
    // SAFETY: the path is empty and ends with a zero; the kernel writes 256 bytes at most, which are there.
    let done = unsafe {
        libc::syscall(
            libc::SYS_statx,
            file.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            STATX_WRITE_ATOMIC,
            told.as_mut_ptr(),
        )
    };
    if done == 0 { read(&told) } else { None }
}

fn read(told: &[u8; STATX_BYTES]) -> Option<Option<AtomicWrites>> {
    let number = |at: usize| {
        let bytes = told[at..at + 4].try_into().expect("four bytes are four bytes");
        u32::from_ne_bytes(bytes)
    };
    // The first field says which others are filled in. ext4 and XFS of 6.13 fill these with zeroes where the device
    // has no such writes, and others leave the flag out.
    let [unit_min_bytes, unit_max_bytes, segments_max, unit_max_opt_bytes] = FIELDS.map(number);
    if number(0) & STATX_WRITE_ATOMIC == 0 {
        return None;
    }
    let limits = AtomicWrites { unit_min_bytes, unit_max_bytes, unit_max_opt_bytes, segments_max };
    Some((unit_max_bytes > 0).then_some(limits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_where_the_kernel_filled_them_in() {
        let mut told = [0; STATX_BYTES];
        let mut put = |at: usize, number: u32| told[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        for (at, number) in FIELDS.into_iter().zip([4096, 65_536, 1, 16_384]) {
            put(at, number);
        }
        assert_eq!(read(&told), None);
        told[..4].copy_from_slice(&(STATX_WRITE_ATOMIC | 0x7ff).to_ne_bytes());
        let limits = read(&told).unwrap().unwrap();
        assert_eq!((limits.unit_min_bytes, limits.unit_max_bytes), (4096, 65_536));
        assert_eq!((limits.segments_max, limits.unit_max_opt_bytes), (1, 16_384));
        assert!(limits.takes(4096) && limits.takes(65_536) && !limits.takes(2048) && !limits.takes(12_288));
        told[FIELDS[1]..FIELDS[1] + 4].fill(0);
        assert_eq!(read(&told), Some(None));
    }

    #[test]
    fn the_kernel_can_be_asked() {
        // Whatever it says: a temporary file's limits are a device's or none.
        let file = tempfile::tempfile().unwrap();
        if let Some(Some(limits)) = atomic_writes(&file) {
            assert!(limits.unit_min_bytes <= limits.unit_max_bytes && limits.segments_max > 0);
        }
    }
}

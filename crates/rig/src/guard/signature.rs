//! Whether a device holds anything.
//!
//! The rule is simple so that it cannot miss a format nobody thought of: a device counts as empty only when
//! the first and the last MiB are all zeros, and a few places further in where file systems keep copies of
//! their headers bear no mark. The table of marks serves to name what was found.

use std::{fs::File, io, os::unix::fs::FileExt};

const MIB: u64 = 1 << 20;

/// Where a mark stands.
#[derive(Debug, Clone, Copy)]
enum At {
    /// From the start.
    Start(u64),
    /// From the end of the device.
    End(u64),
}

use At::{End, Start};

/// Marks in the first and last MiB: the particular before the general, since a FAT volume also ends its first
/// sector as a partition table does. Places and bytes are those of the formats' own descriptions.
const MARKS: [(&str, At, &[u8]); 39] = [
    ("an encrypted volume (LUKS)", Start(0), b"LUKS\xba\xbe"),
    ("an LVM physical volume", Start(0), b"LABELONE"),
    ("an LVM physical volume", Start(0x200), b"LABELONE"),
    ("an LVM physical volume", Start(0x400), b"LABELONE"),
    ("an LVM physical volume", Start(0x600), b"LABELONE"),
    ("a member of a RAID array (md)", Start(0), b"\xfc\x4e\x2b\xa9"),
    ("a member of a RAID array (md)", Start(0x1000), b"\xfc\x4e\x2b\xa9"),
    ("a member of a RAID array (md)", End(0x2000), b"\xfc\x4e\x2b\xa9"),
    (
        "a cache device (bcache)",
        Start(0x1018),
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    (
        "a bcachefs file system",
        Start(0x1018),
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    ("a Ceph OSD", Start(0), b"bluestore block device"),
    ("a VDO volume", Start(0), b"dmvdo001"),
    ("a swap area", Start(0xff6), b"SWAPSPACE2"),
    ("a swap area", Start(0x1ff6), b"SWAPSPACE2"),
    ("a swap area", Start(0x3ff6), b"SWAPSPACE2"),
    ("a swap area", Start(0xfff6), b"SWAPSPACE2"),
    ("a hibernated system", Start(0xff6), b"S1SUSPEND"),
    ("an XFS file system", Start(0), b"XFSB"),
    ("a btrfs file system", Start(0x10040), b"_BHRfS_M"),
    ("an F2FS file system", Start(0x400), b"\x10\x20\xf5\xf2"),
    ("an EROFS file system", Start(0x400), b"\xe2\xe1\xf5\xe0"),
    ("an HFS+ file system", Start(0x400), b"H+"),
    ("an HFS+ file system", Start(0x400), b"HX"),
    ("an APFS container", Start(0x20), b"NXSB"),
    ("an NTFS file system", Start(3), b"NTFS    "),
    ("an exFAT file system", Start(3), b"EXFAT   "),
    ("a FAT file system", Start(0x36), b"FAT12   "),
    ("a FAT file system", Start(0x36), b"FAT16   "),
    ("a FAT file system", Start(0x52), b"FAT32   "),
    ("an encrypted volume (BitLocker)", Start(3), b"-FVE-FS-"),
    ("a squashfs file system", Start(0), b"hsqs"),
    ("a ReiserFS file system", Start(0x10034), b"ReIsEr"),
    ("a JFS file system", Start(0x8000), b"JFS1"),
    ("an ISO 9660 image", Start(0x8001), b"CD001"),
    ("an ext2, ext3 or ext4 file system", Start(0x438), b"\x53\xef"),
    ("a partition table (GPT)", Start(0x200), b"EFI PART"),
    ("a partition table (GPT)", Start(0x1000), b"EFI PART"),
    ("a partition table (GPT)", End(0x200), b"EFI PART"),
    ("a partition table or a boot sector", Start(0x1fe), b"\x55\xaa"),
];

/// Copies of headers beyond the first MiB, which outlive an overwritten start.
const FURTHER: [(&str, u64, &[u8]); 8] = [
    ("a btrfs file system", (64 << 20) + 0x40, b"_BHRfS_M"),
    ("a btrfs file system", (256 << 30) + 0x40, b"_BHRfS_M"),
    // The second block group of ext, for blocks of 1, 2 and 4 KiB: 8 * block size blocks in.
    ("an ext2, ext3 or ext4 file system", 8193 * 1024 + 0x38, b"\x53\xef"),
    ("an ext2, ext3 or ext4 file system", 16384 * 2048 + 0x38, b"\x53\xef"),
    ("an ext2, ext3 or ext4 file system", 32768 * 4096 + 0x38, b"\x53\xef"),
    ("an encrypted volume (LUKS)", 1 << 20, b"SKUL\xba\xbe"),
    ("an encrypted volume (LUKS)", 2 << 20, b"SKUL\xba\xbe"),
    ("an encrypted volume (LUKS)", 4 << 20, b"SKUL\xba\xbe"),
];

/// What a device holds, for people; `None` when it looks empty. An error means that it could not be read,
/// and then nobody can say that it is empty.
pub(super) fn signature(device: &File, size_bytes: u64) -> io::Result<Option<&'static str>> {
    let length = MIB.min(size_bytes);
    let first = read(device, 0, length)?;
    let last = read(device, size_bytes - length, length)?;
    if let Some(name) = named(&first, &last, size_bytes) {
        return Ok(Some(name));
    }
    for (name, at_bytes, mark) in FURTHER {
        let end_bytes = at_bytes + mark.len() as u64;
        if end_bytes <= size_bytes && read(device, at_bytes, mark.len() as u64)? == mark {
            return Ok(Some(name));
        }
    }
    let empty = first.iter().chain(&last).all(|&byte| byte == 0);
    Ok((!empty).then_some("data that iosonde does not recognise"))
}

fn read(device: &File, at_bytes: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length as usize];
    device.read_exact_at(&mut bytes, at_bytes)?;
    Ok(bytes)
}

fn named(first: &[u8], last: &[u8], size_bytes: u64) -> Option<&'static str> {
    let bears = |bytes: &[u8], at: u64, mark: &[u8]| {
        let at = usize::try_from(at).ok();
        at.and_then(|at| bytes.get(at..at.checked_add(mark.len())?)) == Some(mark)
    };
    let marked = MARKS.iter().find(|(_, at, mark)| match *at {
        Start(at) => bears(first, at, mark),
        End(before_end) => {
            (last.len() as u64).checked_sub(before_end).is_some_and(|at| bears(last, at, mark))
        }
    });
    if let Some(&(name, ..)) = marked {
        return Some(name);
    }
    // The old md header: 64 KiB before the end, rounded down to 64 KiB.
    let old_md_at = (size_bytes & !0xffff).checked_sub(0x10000);
    let in_last = old_md_at.and_then(|at| at.checked_sub(size_bytes - last.len() as u64));
    if in_last.is_some_and(|at| bears(last, at, b"\xfc\x4e\x2b\xa9")) {
        return Some("a member of a RAID array (md)");
    }
    // ZFS: 128 uberblocks of 1 KiB in the second half of the first label.
    let uberblocks = (0x20000..0x40000).step_by(0x400);
    let zfs =
        |at: u64| bears(first, at, b"\x0c\xb1\xba\0\0\0\0\0") || bears(first, at, b"\0\0\0\0\0\xba\xb1\x0c");
    uberblocks.into_iter().any(zfs).then_some("a ZFS pool")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: u64 = 200 << 20;

    fn sparse(marks: &[(u64, &[u8])]) -> io::Result<Option<&'static str>> {
        let file = tempfile::tempfile()?;
        file.set_len(SIZE)?;
        for (at, mark) in marks {
            file.write_all_at(mark, *at)?;
        }
        signature(&file, SIZE)
    }

    #[test]
    fn zeros_are_empty() {
        assert_eq!(sparse(&[]).unwrap(), None);
        // One byte in the middle is none of the places looked at: a device once wiped at both ends counts
        // as empty.
        assert_eq!(sparse(&[(100 << 20, b"x")]).unwrap(), None);
    }

    #[test]
    fn any_byte_at_either_end_is_data() {
        let unknown = Some("data that iosonde does not recognise");
        for at in [0, 5000, MIB - 1, SIZE - MIB, SIZE - 1] {
            assert_eq!(sparse(&[(at, b"\x01")]).unwrap(), unknown, "{at}");
        }
    }

    #[test]
    fn every_mark_is_named() {
        for (name, at, mark) in MARKS {
            let at = match at {
                Start(at) => at,
                End(before) => SIZE - before,
            };
            assert_eq!(sparse(&[(at, mark)]).unwrap(), Some(name), "{at:#x}");
        }
        for (name, at, mark) in FURTHER.into_iter().filter(|(_, at, _)| *at < SIZE) {
            assert_eq!(sparse(&[(at, mark)]).unwrap(), Some(name), "{at:#x}");
        }
        assert_eq!(
            sparse(&[(SIZE - 0x10000, b"\xfc\x4e\x2b\xa9")]).unwrap(),
            Some("a member of a RAID array (md)")
        );
        assert_eq!(sparse(&[(0x20400, b"\x0c\xb1\xba\0\0\0\0\0")]).unwrap(), Some("a ZFS pool"));
    }

    #[test]
    fn a_fat_volume_is_no_partition_table() {
        assert_eq!(sparse(&[(0x1fe, b"\x55\xaa"), (0x52, b"FAT32   ")]).unwrap(), Some("a FAT file system"));
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_not_empty() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(MIB).unwrap();
        assert!(signature(&file, 2 * MIB).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_panic_however_few(bytes in prop::collection::vec(any::<u8>(), 0..70_000)) {
            let _ = named(&bytes, &bytes, bytes.len() as u64);
        }
    }
}

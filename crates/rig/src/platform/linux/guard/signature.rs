//! Whether a device holds anything.
//!
//! The rule is simple so that it cannot miss a format nobody thought of: a device counts as empty only when the first
//! and the last 16 MiB are all zeros, the places further in where file systems keep copies of their headers bear no
//! mark, and 4,096 places spread over the rest are zeros too. A device of up to 1 GiB is read whole. The table of
//! marks serves to name what was found.

use std::{
    fs::File,
    hash::{BuildHasher, RandomState},
    io,
    ops::Range,
    os::unix::fs::FileExt,
};

use rustix::fs::{Advice, fadvise};

const MIB: u64 = 1 << 20;

/// Both ends are read over this length. LUKS2 keeps its second header up to 4 MiB in, ZFS two labels in the last
/// 512 KiB, LVM and md their metadata in the first and last MiB.
const END_BYTES: u64 = 16 * MIB;

/// Up to this size everything is read: seconds on the slowest disk.
const WHOLE_BYTES: u64 = 1 << 30;

/// Places looked at between the ends, one in each of as many equal parts: data that fills two parts, 1/2048 of the
/// device, cannot be missed, and a disk needs some 20 s for them (5 ms each, in ascending order).
const PLACES: u64 = 4096;

/// Read at each place: a page.
const PLACE_BYTES: u64 = 4096;

/// Offset of a signature.
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
const MARKS: [(&str, At, &[u8]); 82] = [
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
    ("a FAT file system", Start(0xc52), b"FAT32   "),
    ("an NTFS file system", End(0x1fd), b"NTFS    "),
    ("an exFAT file system", Start(0x1803), b"EXFAT   "),
    ("an HFS+ file system", End(0x400), b"H+"),
    ("an HFS+ file system", End(0x400), b"HX"),
    ("an HFS file system", Start(0x400), b"BD"),
    ("an F2FS file system", Start(0x1400), b"\x10\x20\xf5\xf2"),
    ("a GFS2 file system", Start(0x10000), b"\x01\x16\x19\x70"),
    ("an OCFS2 file system", Start(0x400), b"OCFSV2"),
    ("an OCFS2 file system", Start(0x800), b"OCFSV2"),
    ("an OCFS2 file system", Start(0x1000), b"OCFSV2"),
    ("an OCFS2 file system", Start(0x2000), b"OCFSV2"),
    ("a VMFS volume", Start(1 << 20), b"\x0d\xd0\x01\xc0"),
    ("a VMFS file system", Start(2 << 20), b"\x5e\xf1\xab\x2f"),
    ("a UDF file system", Start(0x8001), b"BEA01"),
    ("an UFS file system", Start(0x1055c), b"\x19\x01\x54\x19"),
    ("an UFS file system", Start(0x255c), b"\x54\x19\x01\0"),
    ("a VxFS file system", Start(0x400), b"\xf5\xfc\x01\xa5"),
    ("an HPFS file system", Start(0x2000), b"\x49\xe8\x95\xf9"),
    ("a BeFS file system", Start(0x220), b"1SFB"),
    ("a BeFS file system", Start(0x220), b"BFS1"),
    ("a ReFS file system", Start(3), b"ReFS\0"),
    ("a cramfs file system", Start(0), b"\x45\x3d\xcd\x28"),
    ("a romfs file system", Start(0), b"-rom1fs-"),
    ("a zonefs file system", Start(0), b"SFOZ"),
    ("a UBI volume", Start(0), b"UBI#"),
    ("a UBIFS file system", Start(0), b"\x31\x18\x10\x06"),
    ("a Stratis pool", Start(0x204), b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("a Stratis pool", Start(0x1204), b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("an Oracle ASM disk", Start(0x20), b"ORCLDISK"),
    ("an SQLite database", Start(0), b"SQLite format 3\0"),
    ("a member of a RAID array (Intel)", End(0x400), b"Intel Raid ISM Cfg Sig. "),
    ("a member of a RAID array (DDF)", End(0x200), b"\xde\x11\xde\x11"),
    ("a member of a RAID array (LSI)", End(0x200), b"$XIDE$"),
    ("a member of a RAID array (NVIDIA)", End(0x400), b"NVIDIA"),
    ("a partition table (BSD)", Start(0x200), b"\x57\x45\x56\x82"),
    ("a partition table (SGI)", Start(0), b"\x0b\xe5\xa9\x41"),
    ("a partition table (Sun)", Start(0x1fc), b"\xda\xbe"),
    ("a partition table (Mac)", Start(0x200), b"PM\0\0"),
    ("a MINIX file system", Start(0x410), b"\x7f\x13"),
    ("a MINIX file system", Start(0x410), b"\x8f\x13"),
    ("a MINIX file system", Start(0x410), b"\x68\x24"),
    ("a NILFS2 file system", Start(0x406), b"\x34\x34"),
    ("a partition table (GPT)", Start(0x200), b"EFI PART"),
    ("a partition table (GPT)", Start(0x1000), b"EFI PART"),
    ("a partition table (GPT)", End(0x200), b"EFI PART"),
    ("a partition table or a boot sector", Start(0x1fe), b"\x55\xaa"),
];

/// Copies of headers at fixed places, which outlive an overwritten start.
const FURTHER: [(&str, u64, &[u8]); 5] = [
    ("a btrfs file system", (64 << 20) + 0x40, b"_BHRfS_M"),
    ("a btrfs file system", (256 << 30) + 0x40, b"_BHRfS_M"),
    ("an encrypted volume (LUKS)", 1 << 20, b"SKUL\xba\xbe"),
    ("an encrypted volume (LUKS)", 2 << 20, b"SKUL\xba\xbe"),
    ("an encrypted volume (LUKS)", 4 << 20, b"SKUL\xba\xbe"),
];

const EXT: (&str, &[u8]) = ("an ext2, ext3 or ext4 file system", b"\x53\xef");
const XFS: (&str, &[u8]) = ("an XFS file system", b"XFSB");

/// The block groups of ext that keep a copy of the superblock: 1 and the powers of 3, 5 and 7 (`sparse_super`).
const EXT_GROUPS: [u64; 16] = [1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343, 625, 729, 2187, 2401];

/// The most allocation groups that mkfs.xfs makes on its own below 64 TiB, and more.
const XFS_GROUPS_MAX: u64 = 64;

/// The largest allocation group of XFS: a block less than 1 TiB.
const XFS_GROUP_MAX_BYTES: u64 = (1 << 40) - XFS_BLOCK_BYTES;
const XFS_BLOCK_BYTES: u64 = 4096;

/// Where copies of superblocks stand on a device of this size.
fn copies(size_bytes: u64) -> Vec<(&'static str, u64, &'static [u8])> {
    let mut places = FURTHER.to_vec();
    for block_bytes in [1024_u64, 2048, 4096] {
        // A group is as long as one block has bits; with blocks of 1 KiB the first block belongs to none.
        let (group_bytes, first) =
            (8 * block_bytes * block_bytes, if block_bytes == 1024 { 1024 } else { 0 });
        places.extend(EXT_GROUPS.map(|group| (EXT.0, group * group_bytes + first + 0x38, EXT.1)));
    }
    // mkfs.xfs divides the device into groups of equal length; which number it chose is not known.
    let shares = (2..=XFS_GROUPS_MAX).map(|groups| size_bytes / XFS_BLOCK_BYTES / groups * XFS_BLOCK_BYTES);
    let rounded_up =
        (2..=XFS_GROUPS_MAX).map(|groups| (size_bytes / XFS_BLOCK_BYTES).div_ceil(groups) * XFS_BLOCK_BYTES);
    let groups = shares.chain(rounded_up).chain([XFS_GROUP_MAX_BYTES]);
    places.extend(groups.map(|at_bytes| (XFS.0, at_bytes, XFS.1)));
    places
}

/// What a device holds, for people; `None` when it looks empty. An error means that it could not be read,
/// and then nobody can say that it is empty.
pub(super) fn signature(device: &File, size_bytes: u64) -> io::Result<Option<&'static str>> {
    let length = END_BYTES.min(size_bytes);
    let first = read(device, 0, length)?;
    let last = read(device, size_bytes - length, length)?;
    if let Some(name) = named(&first, &last, size_bytes) {
        return Ok(Some(name));
    }
    // Places far apart: what the kernel would read ahead is not wanted. A refusal of the advice harms nobody.
    let _ = fadvise(device, 0, None, Advice::Random);
    for (name, at_bytes, mark) in copies(size_bytes) {
        let end_bytes = at_bytes + mark.len() as u64;
        if end_bytes <= size_bytes && read(device, at_bytes, mark.len() as u64)? == mark {
            return Ok(Some(name));
        }
    }
    let zeros = is_zero(&first) && is_zero(&last) && between(device, length..size_bytes - length)?;
    Ok((!zeros).then_some("data that iosonde does not recognise"))
}

/// Whether what lies between the ends looks like zeros.
fn between(device: &File, range: Range<u64>) -> io::Result<bool> {
    let whole = range.end.saturating_sub(range.start) <= WHOLE_BYTES;
    let (step_bytes, read_bytes) = if whole {
        (MIB, MIB)
    } else {
        let part_bytes = (range.end - range.start) / PLACES;
        (part_bytes, PLACE_BYTES)
    };
    let chance = RandomState::new();
    let mut at_bytes = range.start;
    while at_bytes < range.end {
        // Elsewhere in each part, and elsewhere each time, so that no layout can lie between all places.
        let room_bytes = step_bytes.saturating_sub(read_bytes);
        let place = at_bytes + chance.hash_one(at_bytes).checked_rem(room_bytes).unwrap_or(0) / 512 * 512;
        let length = read_bytes.min(range.end.saturating_sub(place));
        if !is_zero(&read(device, place, length)?) {
            return Ok(false);
        }
        at_bytes += step_bytes;
    }
    Ok(true)
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
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
    const LARGE: u64 = 20 << 30;
    const UNKNOWN: Option<&str> = Some("data that iosonde does not recognise");

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
        let file = tempfile::tempfile().unwrap();
        file.set_len(LARGE).unwrap();
        assert_eq!(signature(&file, LARGE).unwrap(), None);
    }

    #[test]
    fn a_byte_anywhere_on_a_small_device_is_data() {
        for at in [17 * MIB, 100 * MIB + 1, SIZE - 17 * MIB] {
            assert_eq!(sparse(&[(at, b"x")]).unwrap(), UNKNOWN, "{at}");
        }
    }

    /// Wiped at both ends, with a database of 1/2048 of the device at any place between.
    #[test]
    fn data_that_fills_two_parts_of_a_large_device_is_never_missed() {
        let chunk = vec![b'x'; MIB as usize];
        for share in [0.1, 0.37, 0.5, 0.93] {
            let file = tempfile::tempfile().unwrap();
            file.set_len(LARGE).unwrap();
            let start = (LARGE as f64 * share) as u64;
            for at in (0..=LARGE / 2048).step_by(MIB as usize) {
                file.write_all_at(&chunk, start + at).unwrap();
            }
            assert_eq!(signature(&file, LARGE).unwrap(), UNKNOWN, "{share}");
        }
    }

    #[test]
    fn a_copy_of_a_superblock_alone_names_the_file_system() {
        let at = |place: u64, mark: &[u8]| {
            let file = tempfile::tempfile().unwrap();
            file.set_len(LARGE).unwrap();
            file.write_all_at(mark, place).unwrap();
            signature(&file, LARGE).unwrap()
        };
        // Group 27 of ext4 with blocks of 4 KiB lies 3.4 GiB in; of 4 groups of XFS the second a quarter in.
        assert_eq!(at(27 * 32768 * 4096 + 0x38, b"\x53\xef"), Some(EXT.0));
        assert_eq!(at(LARGE / 4, b"XFSB"), Some(XFS.0));
    }

    #[test]
    fn any_byte_at_either_end_is_data() {
        for at in [0, 5000, END_BYTES - 1, SIZE - END_BYTES, SIZE - 1] {
            assert_eq!(sparse(&[(at, b"\x01")]).unwrap(), UNKNOWN, "{at}");
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

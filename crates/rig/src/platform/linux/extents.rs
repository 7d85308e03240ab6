//! Where a file's bytes lie on its device, as the file system maps them (FIEMAP): in how many pieces, and what was
//! packed or is shared.

use std::{fs::File, mem, ops::Range, os::fd::AsRawFd};

/// `FS_IOC_FIEMAP` of linux/fs.h: `_IOWR('f', 11, struct fiemap)`.
const FIEMAP: u64 = 0xc020_660b;
/// Extents requested at a time: 14 KiB.
const AT_A_TIME: usize = 256;
/// Extents that are looked at. A file in more pieces than these is in pieces, and asking takes 10 ms.
const MOST: usize = 1 << 16;
/// Flags of linux/fiemap.h.
const LAST: u32 = 0x1;
const UNKNOWN_PLACE: u32 = 0x2 | 0x4 | 0x200;
const ENCODED: u32 = 0x8;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// Extents of a part of a file, as the file system reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extents {
    /// Stretches that follow each other on the device; at least so many where a file has more than 65,536.
    pub(crate) pieces: u64,
    /// Bytes that lie compressed.
    pub(crate) encoded_bytes: u64,
    /// Bytes that another file lies on too (a copy by reference, a snapshot): writing them takes a new place.
    pub(crate) shared_bytes: u64,
    /// Bytes that were reserved and never written.
    pub(crate) unwritten_bytes: u64,
    /// Bytes that have a place, reserved ones included.
    pub(crate) mapped_bytes: u64,
    /// True if all of it was looked at.
    pub(crate) whole: bool,
}

/// `struct fiemap_extent` of linux/fiemap.h.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_too: [u32; 3],
}

/// `struct fiemap`, with room for extents.
#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; AT_A_TIME],
}

/// Reads the extents of `span` of a file; `None` if the file system does not report them, and for a device.
pub(crate) fn extents(file: &File, span: Range<u64>) -> Option<Extents> {
    let mut seen = Seen::default();
    let (mut at, mut count) = (span.start, 0);
    while at < span.end && count < MOST {
        let map = ask(file, at..span.end)?;
        let found = &map.extents[..(map.mapped_extents as usize).min(AT_A_TIME)];
        found.iter().for_each(|extent| seen.count(extent, &span));
        let Some(last) = found.last().filter(|last| last.flags & LAST == 0 && last.length > 0) else {
            at = span.end;
            break;
        };
        at = last.logical.saturating_add(last.length);
        count += found.len();
    }
    Some(Extents { whole: at >= span.end, ..seen.extents })
}

fn ask(file: &File, span: Range<u64>) -> Option<Box<Map>> {
    let mut map = Box::new(Map {
        start: span.start,
        length: span.end - span.start,
        flags: 0,
        mapped_extents: 0,
        extent_count: AT_A_TIME as u32,
        reserved: 0,
        extents: [Extent::default(); AT_A_TIME],
    });
    const { assert!(mem::size_of::<Map>() == 32 + 56 * AT_A_TIME) };
    // SAFETY: the request reads and writes one fiemap and at most `extent_count` extents behind it, for which `map` has
    // the room and the layout; the descriptor is open for as long as `file` is.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FIEMAP as _, &raw mut *map) };
    (result == 0).then_some(map)
}

/// The sum, and where the last extent ended.
#[derive(Debug, Default)]
struct Seen {
    extents: Extents,
    /// Its end in the file and on the device.
    end: Option<(u64, u64)>,
}

impl Seen {
    fn count(&mut self, extent: &Extent, span: &Range<u64>) {
        let end = extent.logical.saturating_add(extent.length);
        let bytes = end.min(span.end).saturating_sub(extent.logical.max(span.start));
        let flagged = |flag: u32| if extent.flags & flag != 0 { bytes } else { 0 };
        let sum = &mut self.extents;
        sum.mapped_bytes += bytes;
        sum.encoded_bytes += flagged(ENCODED);
        sum.shared_bytes += flagged(SHARED);
        sum.unwritten_bytes += flagged(UNWRITTEN);
        // ext4 ends an extent at 128 MiB though the next one follows: that is one piece.
        let placed = extent.flags & UNKNOWN_PLACE == 0;
        let goes_on = placed && self.end == Some((extent.logical, extent.physical));
        sum.pieces += u64::from(!goes_on);
        self.end = placed.then(|| (end, extent.physical.saturating_add(extent.length)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    const MIB: u64 = 1 << 20;

    fn of(list: &[(u64, u64, u64, u32)], span: Range<u64>) -> Extents {
        let mut seen = Seen::default();
        for &(logical, physical, length, flags) in list {
            seen.count(&Extent { logical, physical, length, flags, ..Extent::default() }, &span);
        }
        seen.extents
    }

    #[test]
    fn what_follows_on_the_device_is_one_piece() {
        let list =
            [(0, 50 * MIB, 10 * MIB, 0), (10 * MIB, 60 * MIB, 5 * MIB, 0), (15 * MIB, 90 * MIB, MIB, LAST)];
        let found = of(&list, 0..16 * MIB);
        assert_eq!((found.pieces, found.mapped_bytes), (2, 16 * MIB));
        // A hole in the file, though the places follow each other.
        assert_eq!(of(&[(0, 0, MIB, 0), (2 * MIB, MIB, MIB, 0)], 0..3 * MIB).pieces, 2);
    }

    #[test]
    fn only_the_span_counts() {
        let list = [(0, 0, 4 * MIB, ENCODED), (4 * MIB, 9 * MIB, 4 * MIB, SHARED | UNWRITTEN)];
        let found = of(&list, 3 * MIB..6 * MIB);
        assert_eq!((found.encoded_bytes, found.shared_bytes), (MIB, 2 * MIB));
        assert_eq!((found.unwritten_bytes, found.mapped_bytes), (2 * MIB, 3 * MIB));
    }

    #[test]
    fn a_file_of_this_machine_is_mapped_where_it_was_written_or_nobody_tells() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 * MIB).unwrap();
        file.write_all_at(&vec![1; MIB as usize], MIB).unwrap();
        file.sync_all().unwrap();
        // tmpfs has no FIEMAP.
        if let Some(found) = extents(&file, 0..4 * MIB) {
            assert_eq!((found.mapped_bytes, found.whole), (MIB, true));
            assert!((1..=256).contains(&found.pieces));
            assert_eq!(extents(&file, 2 * MIB..3 * MIB).unwrap().mapped_bytes, 0);
        }
    }

    #[test]
    fn a_device_is_no_file() {
        assert_eq!(extents(&File::open("/dev/null").unwrap(), 0..MIB), None);
    }
}

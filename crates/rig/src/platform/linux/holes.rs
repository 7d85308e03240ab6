//! Holes of a sparse file: bytes that nothing on the device stands for, so that reading them measures memory.

use std::{fs::File, ops::Range};

use rustix::{
    fs::{SeekFrom, seek},
    io::Errno,
};

/// Returns the bytes of `span` that lie in holes, by SEEK_HOLE; `None` on devices and where the file system does not
/// support it. Moves the file's position. File systems without holes, or that compress zeros away, report all as data:
/// the value is a lower bound.
pub fn unmapped_bytes(file: &File, span: Range<u64>) -> Option<u64> {
    let mut holes = 0;
    let mut at = span.start;
    while at < span.end {
        let data = match seek(file, SeekFrom::Data(at)) {
            Ok(data) => data.min(span.end),
            // No data behind `at`: a hole to the end.
            Err(Errno::NXIO) => span.end,
            Err(_) => return None,
        };
        holes += data - at;
        if data == span.end {
            break;
        }
        at = seek(file, SeekFrom::Hole(data)).ok()?;
    }
    Some(holes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn holes_are_counted_between_and_behind_data() {
        const MIB: u64 = 1 << 20;
        let file = tempfile::tempfile().unwrap();
        file.set_len(4 * MIB).unwrap();
        file.write_all_at(&vec![1; MIB as usize], MIB).unwrap();
        // Data lies in 1 MiB .. 2 MiB alone.
        assert_eq!(unmapped_bytes(&file, 0..4 * MIB), Some(3 * MIB));
        assert_eq!(unmapped_bytes(&file, MIB..2 * MIB), Some(0));
        assert_eq!(unmapped_bytes(&file, MIB + MIB / 2..3 * MIB), Some(MIB));
        assert_eq!(unmapped_bytes(&file, 0..0), Some(0));
    }
}

//! Files that a person names, read as far as any of their kind goes: a device, or the wrong file, would fill the
//! memory.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// The largest study, device file, sheet, requirement or job file: the largest built in has 2 KB.
pub const TEXT_BYTES_MAX: u64 = 16 << 20;

/// Most values of a JSON document that is kept as it is read: at some 100 bytes each, they take 400 MB.
pub(crate) const VALUES_MAX: usize = 4_000_000;

/// Values of a JSON document at most.
pub(crate) fn values_of(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

/// Bytes of a file that has at most so many.
///
/// # Errors
/// It cannot be read, or goes on behind that; no more than that is then read.
pub fn read_at_most(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let why = format!("larger than {} MiB, which none is", most_bytes >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Text of such a file.
///
/// # Errors
/// As [`read_at_most`], or it is no UTF-8.
pub fn read_text(path: &Path, most_bytes: u64) -> io::Result<String> {
    let text = String::from_utf8(read_at_most(path, most_bytes)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "no text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_a_file_may_have() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "12345678").unwrap();
        assert_eq!(read_text(file.path(), 8).unwrap(), "12345678");
        let error = read_text(file.path(), 7).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
        // It never ends, and has a length of 0.
        let error = read_text(Path::new("/dev/zero"), TEXT_BYTES_MAX).unwrap_err();
        assert_eq!(error.to_string(), "larger than 16 MiB, which none is");
        std::fs::write(file.path(), b"\xff").unwrap();
        assert!(read_text(file.path(), 8).unwrap_err().to_string().contains("UTF-8"));
    }
}

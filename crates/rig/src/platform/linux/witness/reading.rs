//! A text of the kernel that is read again and again without opening it again.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use iosonde_model::Absence;

/// The kernel's files that we read again fit one page, but for `/proc/stat`, of which the first line counts.
const CAPACITY_BYTES: usize = 4096;

/// An open file of `/proc` or `/sys`. Reading it at offset 0 makes the kernel write its text anew.
pub(super) struct Reading {
    file: File,
    text: Box<[u8; CAPACITY_BYTES]>,
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Reading({:?})", self.file)
    }
}

impl Reading {
    /// Opens it and reads it once: pressure can be listed and still refuse (EOPNOTSUPP) when it is switched
    /// off.
    pub(super) fn open(path: &Path) -> Result<Self, Absence> {
        let fail = |error: io::Error| Absence::Unreadable {
            path: path.display().to_string(),
            errno: error.raw_os_error(),
        };
        let file = File::open(path).map_err(fail)?;
        let mut reading = Self { file, text: Box::new([0; CAPACITY_BYTES]) };
        reading.text().map_err(fail)?;
        Ok(reading)
    }

    /// Its text now, at most the first page of it.
    pub(super) fn text(&mut self) -> io::Result<&str> {
        let length = self.file.read_at(&mut self.text[..], 0)?;
        std::str::from_utf8(&self.text[..length]).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_text_is_made_anew_for_each_reading() {
        let mut reading = Reading::open(Path::new("/proc/self/stat")).unwrap();
        // Field 14 counts our own user time; field 20 our threads: start one and see it.
        let threads = |text: &str| -> u64 {
            text.rsplit_once(") ").unwrap().1.split(' ').nth(17).unwrap().parse().unwrap()
        };
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let before = threads(reading.text().unwrap());
        let thread = std::thread::spawn(move || stopped.recv());
        let after = threads(reading.text().unwrap());
        drop(stop);
        let _ = thread.join();
        // Other tests' threads come and go beside ours, so only "it is a number of this moment" can be said.
        assert!(before > 0 && after > 0);
    }

    #[test]
    fn a_missing_file_says_which() {
        let why = Reading::open(Path::new("/proc/no-such-file")).unwrap_err();
        let path = "/proc/no-such-file".to_owned();
        assert_eq!(why, Absence::Unreadable { path, errno: Some(libc::ENOENT) });
    }
}

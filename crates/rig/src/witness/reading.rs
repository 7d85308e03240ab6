//! A text of the kernel that is read again and again without opening it again.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use super::Absent;

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
    pub(super) fn open(path: &Path) -> Result<Self, Absent> {
        let fail = |error: io::Error| format!("{} cannot be read: {error}", path.display());
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

/// `after - before`, or the sentence that a counter was not read or went backwards.
pub(super) fn grown(what: &str, before: Option<u64>, after: Option<u64>) -> Result<u64, Absent> {
    let (Some(before), Some(after)) = (before, after) else {
        return Err(format!("{what} could not be read before and after the trial"));
    };
    after.checked_sub(before).ok_or_else(|| {
        format!("{what} went backwards, from {before} to {after}: it was reset, or it wrapped around")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_goes_backwards_is_absent_with_a_reason() {
        assert_eq!(grown("x", Some(3), Some(10)), Ok(7));
        let why = grown("the sectors of sda", Some(10), Some(3)).unwrap_err();
        assert!(why.contains("the sectors of sda") && why.contains("from 10 to 3"), "{why}");
        assert!(grown("x", None, Some(3)).is_err());
    }

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
        assert!(why.contains("/proc/no-such-file"), "{why}");
    }
}

//! Names of iosonde's own files where they need one, and their record.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::Path,
};

const PREFIX: &str = ".iosonde-";
const RANDOM_LETTERS: usize = 8;

/// Record of the names of own files, so that they can be removed after a kill.
pub trait StrayRecorder {
    /// Writes down, durably, that a file of this path is about to be made.
    fn record(&mut self, path: &Path) -> io::Result<()>;

    /// Strikes it off: it is gone, or was never made.
    fn forget(&mut self, path: &Path) -> io::Result<()>;
}

/// Draws a name for an own file. Need not be unpredictable: O_EXCL refuses what exists. The standard library seeds its
/// hash maps from the kernel's random numbers, each a little differently.
pub fn random_name() -> String {
    let mut bits = RandomState::new().build_hasher().finish();
    let letters = (0..RANDOM_LETTERS).map(|_| {
        let letter = b"abcdefghijklmnopqrstuvwxyz234567"[(bits & 31) as usize];
        bits >>= 5;
        char::from(letter)
    });
    PREFIX.chars().chain(letters).collect()
}

pub(crate) fn is_our_name(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(|name| name.strip_prefix(PREFIX)).is_some_and(|rest| {
        rest.len() == RANDOM_LETTERS
            && rest.bytes().all(|b| b.is_ascii_lowercase() || (b'2'..=b'7').contains(&b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_random() {
        assert!(is_our_name(Path::new(&random_name())));
        assert_ne!(random_name(), random_name());
    }
}

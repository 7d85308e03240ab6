//! The files beside a notebook that SQLite makes, and the limit that all of them share.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::platform;

/// A companion's path: the notebook's with an ending.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The limit on the size of files that this process writes, where a notebook's file, log or journal has come to it.
pub(crate) fn limit_reached(path: &Path) -> Option<u64> {
    const PAGE_BYTES: u64 = 4096;
    let limit_bytes = platform::file_size_limit()?;
    let length_bytes = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    let longest_bytes =
        ["", "-wal", "-journal"].map(|ending| length_bytes(&beside(path, ending))).into_iter().max();
    (longest_bytes? + PAGE_BYTES > limit_bytes).then_some(limit_bytes)
}

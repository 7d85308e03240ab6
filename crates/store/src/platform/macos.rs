//! macOS.

use std::{
    env, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::statfs;

pub(crate) use super::unix::{
    Identity, address_bytes, bytes_of, file_size_limit, identity, identity_of, links, links_of,
    may_read_and_write, never_through_links, path_of,
};

/// MNT_LOCAL (sys/mount.h): the storage is this machine's own.
const LOCAL: u32 = 0x0000_1000;

/// `network` where other machines may have the file system mounted too.
pub(crate) fn shared_file_system(path: &Path) -> io::Result<Option<&'static str>> {
    Ok((statfs(path)?.f_flags & LOCAL == 0).then_some("a network file system"))
}

/// False: files are no mounts of their own.
pub(crate) fn is_on_another_mount(_path: &Path, _folder: &Path) -> bool {
    false
}

/// The user's data folder: `~/Library/Application Support`.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    Some(home?.join("Library/Application Support"))
}

/// Returns true if the notebook may lie on the storage that is measured: volumes of an APFS container share their disk,
/// and their numbers do not tell it, so that any two count as one.
pub fn same_storage(_notebook: &Path, target: &Path) -> bool {
    // A raw disk beside the notebook's own is the one thing that is certainly another.
    fs::metadata(target).map_or(true, |found| found.rdev() == 0)
}

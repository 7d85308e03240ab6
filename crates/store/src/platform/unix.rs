//! What Linux and macOS share.

use std::{
    ffi::OsStr,
    fs::{self, File, Metadata, OpenOptions},
    io,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, OFlags, access},
    process::{Resource, getrlimit},
};

/// Device and inode: two paths with the same ones lead to one file.
pub(crate) type Identity = (u64, u64);

fn of(found: &Metadata) -> Identity {
    (found.dev(), found.ino())
}

/// Identity of what a path leads to; with `links` followed, or of the link itself.
pub(crate) fn identity(path: &Path, follow: bool) -> io::Result<Identity> {
    let found = if follow { fs::metadata(path) } else { fs::symlink_metadata(path) };
    found.map(|found| of(&found))
}

/// Identity of an open file.
pub(crate) fn identity_of(file: &File) -> io::Result<Identity> {
    file.metadata().map(|found| of(&found))
}

/// Names of the file at a path.
pub(crate) fn links(path: &Path) -> io::Result<u64> {
    fs::metadata(path).map(|found| found.nlink())
}

/// Names of an open file; 0 once it was removed.
pub(crate) fn links_of(file: &File) -> io::Result<u64> {
    file.metadata().map(|found| found.nlink())
}

/// Makes an opening fail where the name is a link.
pub(crate) fn never_through_links(options: &mut OpenOptions) {
    options.custom_flags(OFlags::NOFOLLOW.bits() as i32);
}

/// Asks whether this user may read and write it, without opening it.
pub(crate) fn may_read_and_write(path: &Path) -> io::Result<()> {
    Ok(access(path, Access::READ_OK | Access::WRITE_OK)?)
}

/// Largest file that this process may write; `None` without a limit.
pub(crate) fn file_size_limit() -> Option<u64> {
    getrlimit(Resource::Fsize).current
}

/// A path as bytes.
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// A path as written in an address.
pub(crate) fn address_bytes(path: &Path) -> Vec<u8> {
    bytes_of(path)
}

/// The path of [`bytes_of`].
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_is_not_what_a_kill_left() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("n.db.link.running");
        symlink("/nowhere", &link).unwrap();
        crate::lock::clear_stale(&folder.path().join("n.db"));
        assert!(link.is_symlink());
    }
}

//! Which of SQLite's journals suits the file system under a notebook.
//!
//! A write-ahead log needs memory shared between all processes that open the file. Two machines share none, so
//! on network file systems a log can be torn by the second machine; there a rollback journal is used. It makes
//! the same promise (a committed trial survives a power cut) and only keeps readers out during a commit.

use rustix::fs::statfs;
use std::{io, path::Path};

/// Journal mode of SQLite, which makes commits atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log (WAL): readers never wait for a commit.
    WriteAhead,
    /// A rollback journal (DELETE): safe where processes of several machines may open the file.
    Rollback,
}

impl Journal {
    /// The word that SQLite's `journal_mode` takes and gives.
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Self::WriteAhead => "wal",
            Self::Rollback => "delete",
        }
    }
}

/// File systems that other machines may have mounted too, by the magic number that statfs gives
/// (linux/magic.h and the file systems' own sources). FUSE is ambiguous: sshfs and a local
/// ntfs-3g look the same, and a rollback journal is right for both.
const SHARED: &[(u32, &str)] = &[
    (0x0000_6969, "nfs"),
    (0x0000_517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x6573_5546, "fuse"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "ceph"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x0000_564c, "ncp"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x0116_1970, "gfs2"),
    (0x7461_636f, "ocfs2"),
    (0x1983_0326, "beegfs"),
    (0x786f_4256, "vboxsf"),
];

/// The journal for a file system of this magic number, and the file system's name where it is a shared one.
fn choose(f_type: u32) -> (Journal, Option<&'static str>) {
    match SHARED.iter().find(|(magic, _)| *magic == f_type) {
        Some((_, name)) => (Journal::Rollback, Some(name)),
        None => (Journal::WriteAhead, None),
    }
}

/// Returns the journal mode for the file system of `path` (an existing file or folder), and the file system's name if
/// that is the reason for the mode.
///
/// # Errors
/// Returns the error of `statfs`.
pub fn journal_kind(path: &Path) -> io::Result<(Journal, Option<&'static str>)> {
    // The low 32 bits: f_type is signed, and CIFS' number is sign-extended on some architectures.
    Ok(choose(statfs(path)?.f_type as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_file_systems_get_a_rollback_journal() {
        for (magic, name) in
            [(0x6969, "nfs"), (0xff53_4d42, "cifs"), (0x6573_5546, "fuse"), (0x0102_1997, "9p")]
        {
            assert_eq!(choose(magic), (Journal::Rollback, Some(name)));
        }
    }

    #[test]
    fn local_file_systems_get_a_write_ahead_log() {
        // ext4, xfs, btrfs, zfs, tmpfs, overlayfs: linux/magic.h, and zfs' own 0x2fc12fc1.
        for magic in [0xef53, 0x5846_5342, 0x9123_683e, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630] {
            assert_eq!(choose(magic), (Journal::WriteAhead, None));
        }
    }
}

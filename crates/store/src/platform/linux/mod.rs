//! Linux.

mod disks;

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, StatxFlags, statfs, statx};

pub(crate) use super::unix::{
    Identity, address_bytes, bytes_of, file_size_limit, identity, identity_of, links, links_of,
    may_read_and_write, never_through_links, path_of,
};
pub use disks::same_storage;

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

/// Name of the file system of a path where other machines may have it mounted too; `None` for a local one.
pub(crate) fn shared_file_system(path: &Path) -> io::Result<Option<&'static str>> {
    // The low 32 bits: f_type is signed, and CIFS' number is sign-extended on some architectures.
    Ok(name(statfs(path)?.f_type as u32))
}

fn name(f_type: u32) -> Option<&'static str> {
    SHARED.iter().find(|(magic, _)| *magic == f_type).map(|(_, name)| *name)
}

/// Whether a file is a mount of its own.
pub(crate) fn is_on_another_mount(path: &Path, folder: &Path) -> bool {
    let mount = |path: &Path| {
        let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
        // Kernels before 5.8 do not tell.
        StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID).then_some(found.stx_mnt_id)
    };
    mount(folder) != mount(path)
}

/// The user's data folder: `$XDG_DATA_HOME`, or `~/.local/share`.
pub(crate) fn data_folder() -> Option<PathBuf> {
    place(env::var_os("XDG_DATA_HOME"), env::var_os("HOME"))
}

fn place(data_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG specification: a relative path there is invalid and is to be ignored.
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(data_home).or_else(|| Some(absolute(home)?.join(".local/share")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_file_systems_are_known() {
        for (magic, known) in
            [(0x6969, "nfs"), (0xff53_4d42, "cifs"), (0x6573_5546, "fuse"), (0x0102_1997, "9p")]
        {
            assert_eq!(name(magic), Some(known));
        }
    }

    #[test]
    fn local_file_systems_are_not_shared() {
        // ext4, xfs, btrfs, zfs, tmpfs, overlayfs: linux/magic.h, and zfs' own 0x2fc12fc1.
        for magic in [0xef53, 0x5846_5342, 0x9123_683e, 0x2fc1_2fc1, 0x0102_1994, 0x794c_7630] {
            assert_eq!(name(magic), None);
        }
    }

    fn of(data_home: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
        place(data_home.map(OsString::from), home.map(OsString::from))
    }

    #[test]
    fn the_data_folder_before_the_home_and_never_a_relative_path() {
        assert_eq!(of(Some("/d"), Some("/h")), Some("/d".into()));
        assert_eq!(of(None, Some("/h")), Some("/h/.local/share".into()));
        assert_eq!(of(Some("d"), Some("/h")), Some("/h/.local/share".into()));
        assert_eq!(of(Some(""), Some("")), None);
        assert_eq!(of(None, None), None);
    }
}

//! Mounted file systems, from `/proc/self/mountinfo`.
//!
//! A file's mount is found by the id that `/proc/self/fdinfo/FD` gives. The device number does not suffice:
//! a file on btrfs or overlay shows an anonymous one that mountinfo does not list, and tmpfs may be mounted
//! twice.

use std::{
    fs::File,
    os::fd::AsRawFd,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use super::{DeviceNumber, System};

/// Line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Unique while it is mounted.
    pub id: u64,
    /// The file system's device, anonymous (major 0) where it has none.
    pub number: DeviceNumber,
    /// The folder of the file system that is seen there: `/` unless a part of it was mounted.
    pub root: PathBuf,
    /// Mount point.
    pub at: PathBuf,
    /// `ext4`, `nfs4`, `fuse.sshfs`.
    pub file_system: String,
    /// Mounted source: `/dev/sda1`, `server:/export`, `tmpfs`.
    pub source: PathBuf,
    /// Options of this mount and of the file system, as the kernel lists them, each once.
    pub options: String,
}

impl Mount {
    /// Returns true if nothing can be written through the mount.
    pub fn read_only(&self) -> bool {
        self.option("ro").is_some()
    }

    /// The value of an option; empty for one without a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.split(',').find_map(|option| match option.split_once('=') {
            Some((key, value)) if key == name => Some(value),
            None if option == name => Some(""),
            _ => None,
        })
    }
}

/// Returns the mounts that this process can see, in the order of mounting.
pub fn mounts(system: &System) -> Vec<Mount> {
    system
        .text("/proc/self/mountinfo")
        .map(|text| text.lines().filter_map(parse).collect())
        .unwrap_or_default()
}

/// Returns the mount through which an open file was reached. `path` decides only where the kernel does not report the
/// id.
pub fn mount_of(system: &System, file: &File, path: &Path) -> Option<Mount> {
    let all = mounts(system);
    let id = system.text(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).and_then(|text| mount_id(&text));
    if let Some(found) = id.and_then(|id| all.iter().find(|mount| mount.id == id)) {
        return Some(found.clone());
    }
    let number = rustix::fs::fstat(file).ok().map(|stat| DeviceNumber::of(stat.st_dev))?;
    all.iter().filter(|mount| mount.number == number).max_by_key(|mount| covers(mount, path)).cloned()
}

/// The mount that a path lies in, by its longest mount point; of two at one point, the later hides the
/// earlier.
pub(super) fn mount_of_path(mounts: &[Mount], path: &Path) -> Option<Mount> {
    mounts.iter().filter(|mount| path.starts_with(&mount.at)).max_by_key(|mount| covers(mount, path)).cloned()
}

fn covers(mount: &Mount, path: &Path) -> usize {
    if path.starts_with(&mount.at) { mount.at.components().count() } else { 0 }
}

/// The `mnt_id` line of a file's `fdinfo`.
fn mount_id(fdinfo: &str) -> Option<u64> {
    fdinfo.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
}

/// Reads one line: id, parent, number, root, mount point, options, any number of tags, `-`, type, source,
/// options.
fn parse(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ');
    let mut after = after.split(' ');
    let id = before.next()?.parse().ok()?;
    let number = before.nth(1)?.parse().ok()?;
    let root = unescape(before.next()?);
    let at = unescape(before.next()?);
    let of_mount = before.next()?;
    let file_system = after.next()?.to_owned();
    let source = unescape(after.next()?);
    let of_file_system = after.next().unwrap_or_default();
    let mut options: Vec<&str> = Vec::new();
    for option in of_mount.split(',').chain(of_file_system.split(',')) {
        // `rw` of the file system says nothing when this mount of it is `ro`.
        let hidden = option == "rw" && options.contains(&"ro");
        if !option.is_empty() && !hidden && !options.contains(&option) {
            options.push(option);
        }
    }
    if options.contains(&"ro") {
        options.retain(|&option| option != "rw");
    }
    Some(Mount { id, number, root, at, file_system, source, options: options.join(",") })
}

/// Undoes the kernel's octal escapes of blanks and backslashes: `\040` is a space.
pub(crate) fn unescape(text: &str) -> PathBuf {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = bytes[at..].get(1..4).filter(|digits| {
            bytes[at] == b'\\'
                && digits[0] <= b'3'
                && digits.iter().all(|digit| (b'0'..=b'7').contains(digit))
        });
        match octal {
            Some(digits) => {
                out.push(digits.iter().fold(0, |value, digit| value << 3 | (digit - b'0')));
                at += 4;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_with_tags_and_escapes() {
        let line = "61 27 259:2 /sub /mnt/my\\040disk ro,relatime shared:29 master:3 - ext4 /dev/nvme0n1p2 \
                    rw,errors=remount-ro";
        let mount = parse(line).unwrap();
        assert_eq!(mount.id, 61);
        assert_eq!(mount.number.to_string(), "259:2");
        assert_eq!(mount.at, Path::new("/mnt/my disk"));
        assert_eq!((mount.file_system.as_str(), mount.source.to_str()), ("ext4", Some("/dev/nvme0n1p2")));
        assert_eq!(mount.options, "ro,relatime,errors=remount-ro");
        assert!(mount.read_only());
        assert_eq!(mount.option("errors"), Some("remount-ro"));
        assert_eq!(mount.option("err"), None);
    }

    #[test]
    fn a_read_only_file_system_makes_every_mount_read_only() {
        let mount = parse("5 1 8:1 / /a rw,noatime - iso9660 /dev/sr0 ro,utf8").unwrap();
        assert_eq!(mount.options, "noatime,ro,utf8");
        assert!(mount.read_only());
    }

    #[test]
    fn the_longest_mount_point_wins_and_the_later_of_two() {
        let text = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
                    2 1 0:5 / /home rw - tmpfs first rw\n\
                    3 1 0:6 / /home rw - tmpfs second rw\n\
                    4 1 0:7 / /homeless rw - tmpfs third rw";
        let all: Vec<_> = text.lines().filter_map(parse).collect();
        assert_eq!(mount_of_path(&all, Path::new("/home/me")).unwrap().id, 3);
        assert_eq!(mount_of_path(&all, Path::new("/homer")).unwrap().id, 1);
    }

    #[test]
    fn the_mount_id_of_an_open_file() {
        assert_eq!(mount_id("pos:\t0\nflags:\t0100000\nmnt_id:\t27\nino:\t5\n"), Some(27));
        assert_eq!(mount_id("pos:\t0\n"), None);
    }

    #[test]
    fn only_whole_octal_escapes_are_undone() {
        assert_eq!(unescape(r"a\011b\134c\04"), Path::new("a\tb\\c\\04"));
        assert_eq!(unescape(r"\777"), Path::new(r"\777"));
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC*", words in prop::collection::vec("[0-9:/a-z,=\\\\-]{0,6}", 0..14)) {
            let _ = (parse(&line), mount_id(&line), unescape(&line));
            let _ = parse(&words.join(" "));
        }
    }
}

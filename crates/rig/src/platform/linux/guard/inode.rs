//! Identity of a file or device, independent of its path.

use std::path::Path;

use rustix::fs::{FileType, Stat};

use crate::platform::linux::DeviceNumber;

/// Device number of a block device, file system and inode number of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inode {
    /// A device, whichever node it is reached by.
    Device(DeviceNumber),
    /// A file: `st_dev` and `st_ino`.
    File {
        /// The file system.
        device: u64,
        /// The file in it.
        inode: u64,
    },
}

impl Inode {
    /// Takes the identity from `fstat`.
    pub(super) fn of(stat: &Stat) -> Self {
        if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
            return Self::Device(DeviceNumber::of(stat.st_rdev));
        }
        Self::File { device: stat.st_dev, inode: stat.st_ino }
    }

    /// Whether a path leads to it.
    pub(super) fn is_at(self, path: &Path) -> bool {
        rustix::fs::stat(path).is_ok_and(|stat| Self::of(&stat) == self)
    }
}

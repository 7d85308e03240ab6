//! What a file system's type says about where its bytes lie, and what stands in between.

use iosonde_model::{HidingLayer, Medium};

/// Where a file system keeps its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// On block devices of this machine.
    OnBlockDevices,
    /// In this machine's memory.
    InMemory,
    /// On a server.
    OnServer,
    /// On the machine that runs this one.
    OnSharingHost,
    /// Wherever a program of this machine puts them.
    InUserSpace,
    /// In a folder of another file system.
    InAnother,
}

impl Keeps {
    /// By the type that mountinfo gives.
    pub(super) fn of(file_system: &str) -> Self {
        match file_system {
            "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" => Self::InMemory,
            "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "ceph" | "afs" | "orangefs" | "lustre" | "gpfs"
            | "beegfs" | "glusterfs" | "coda" | "pvfs2" | "wekafs" => Self::OnServer,
            "9p" | "virtiofs" | "vboxsf" | "prl_fs" | "vmhgfs" | "drvfs" => Self::OnSharingHost,
            "overlay" | "ecryptfs" => Self::InAnother,
            "fuse" | "fuseblk" => Self::InUserSpace,
            other if other.starts_with("fuse.") => Self::InUserSpace,
            _ => Self::OnBlockDevices,
        }
    }

    /// The medium that the type alone decides.
    pub(super) fn medium(self) -> Option<Medium> {
        match self {
            Self::InMemory => Some(Medium::Memory),
            Self::OnServer | Self::OnSharingHost => Some(Medium::Network),
            Self::InUserSpace => Some(Medium::UserSpace),
            Self::OnBlockDevices | Self::InAnother => None,
        }
    }

    /// What stands between this system and the medium.
    pub(super) fn unseen(self) -> Option<HidingLayer> {
        match self {
            Self::OnServer => Some(HidingLayer::Server),
            Self::OnSharingHost => Some(HidingLayer::SharingHost),
            Self::InUserSpace => Some(HidingLayer::UserSpaceFileSystem),
            Self::OnBlockDevices | Self::InMemory | Self::InAnother => None,
        }
    }
}

/// Returns true if a file system of this type keeps its files in this machine's memory.
pub(crate) fn keeps_in_memory(file_system: &str) -> bool {
    Keeps::of(file_system) == Keeps::InMemory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart() {
        for memory in ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"] {
            assert_eq!(Keeps::of(memory).medium(), Some(Medium::Memory), "{memory}");
        }
        assert_eq!(Keeps::of("nfs4").medium(), Some(Medium::Network));
        assert_eq!(Keeps::of("fuse.sshfs").medium(), Some(Medium::UserSpace));
        assert_eq!(Keeps::of("ext4").medium(), None);
        assert_eq!(Keeps::of("ext4").unseen(), None);
        assert_eq!(Keeps::of("cifs").unseen(), Some(HidingLayer::Server));
        assert_eq!(Keeps::of("virtiofs").unseen(), Some(HidingLayer::SharingHost));
    }
}

//! What stands between a file's bytes and those on the medium: encryption, compression, copying on write.

use std::fs::File;

use iosonde_model::Device;
use rustix::fs::{IFlags, ioctl_getflags};

use super::BlockDevice;

/// `FS_ENCRYPT_FL` of linux/fs.h.
const ENCRYPTED: u32 = 0x800;

/// Adds what the devices below and the file's own flags say.
pub(super) fn describe(device: &mut Device, below: &[BlockDevice], file: &File) {
    let flags = ioctl_getflags(file).ok();
    device.encrypted_by = encrypted_by(below, device.file_system.as_deref(), flags);
    device.marked_compressed = flags.map(|flags| flags.contains(IFlags::COMPRESSED));
    device.copies_on_write = copies_on_write(device, flags);
}

/// The layer that encrypts. A drive that encrypts by itself does so at its full rate and does not show it.
pub(super) fn encrypted_by(
    below: &[BlockDevice],
    file_system: Option<&str>,
    flags: Option<IFlags>,
) -> Option<String> {
    // cryptsetup gives its volumes this beginning of an identity.
    let crypt = |block: &&BlockDevice| {
        block.attribute("dm/uuid").is_some_and(|identity| identity.starts_with("CRYPT-"))
    };
    if let Some(block) = below.iter().find(crypt) {
        return Some(format!("dm-crypt ({})", block.name));
    }
    match (file_system, flags) {
        (Some("ecryptfs"), _) => Some("eCryptfs".to_owned()),
        (Some(name), Some(flags)) if flags.bits() & ENCRYPTED != 0 => {
            Some(format!("{name} itself (fscrypt)"))
        }
        _ => None,
    }
}

/// Returns true if overwriting takes a new place each time.
fn copies_on_write(device: &Device, flags: Option<IFlags>) -> Option<bool> {
    let mounted_without =
        device.mount_options.as_deref().unwrap_or_default().split(',').any(|option| option == "nodatacow");
    match device.file_system.as_deref()? {
        "btrfs" if mounted_without => Some(false),
        "btrfs" => flags.map(|flags| !flags.contains(IFlags::NOCOW)),
        "zfs" | "bcachefs" | "nilfs2" => Some(true),
        // f2fs writes a log, and XFS copies only what is shared; neither says it of a file.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::{System, fake};

    #[test]
    fn a_volume_of_cryptsetup_encrypts() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "virtual/block/dm-0", "253:0", &[("dm/uuid", "CRYPT-LUKS2-0f1e-home")]);
        fake::device(root.path(), "virtual/block/dm-1", "253:1", &[("dm/uuid", "LVM-abc")]);
        let system = System::at(root.path());
        let of = |name: &str| BlockDevice::by_name(&system, name).unwrap();
        assert_eq!(
            encrypted_by(&[of("dm-1"), of("dm-0")], Some("ext4"), None).as_deref(),
            Some("dm-crypt (dm-0)")
        );
        assert_eq!(encrypted_by(&[of("dm-1")], Some("ext4"), Some(IFlags::empty())), None);
        let marked = Some(IFlags::from_bits_retain(ENCRYPTED as _));
        assert_eq!(encrypted_by(&[], Some("f2fs"), marked).as_deref(), Some("f2fs itself (fscrypt)"));
    }

    #[test]
    fn a_file_of_btrfs_is_copied_on_write_unless_it_is_told_not_to() {
        let on = |file_system: &str, options: &str| Device {
            file_system: Some(file_system.into()),
            mount_options: Some(options.into()),
            ..Device::unknown("file", 0)
        };
        assert_eq!(copies_on_write(&on("btrfs", "rw"), Some(IFlags::empty())), Some(true));
        assert_eq!(copies_on_write(&on("btrfs", "rw"), Some(IFlags::NOCOW)), Some(false));
        assert_eq!(copies_on_write(&on("btrfs", "rw,nodatacow"), None), Some(false));
        assert_eq!(copies_on_write(&on("btrfs", "rw"), None), None);
        assert_eq!(copies_on_write(&on("ext4", "rw"), Some(IFlags::empty())), None);
    }
}

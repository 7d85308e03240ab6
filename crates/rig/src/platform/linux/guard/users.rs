//! Who uses a device or a file at this moment: mounts, swap, loop devices, and devices that are made of it.
//!
//! For a device this is there to name the user in the refusal: the kernel itself refuses with EBUSY when it
//! is opened with O_EXCL. But a loop device claims neither the file nor the device behind it, so for those
//! this is the only protection.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    inode::Inode,
    loops::{backing, loops},
};
use crate::platform::linux::{BlockDevice, DeviceNumber, Mount, System, mounts, swaps};

/// Loop on loop on loop: more is a mistake.
const DEPTH_MAX: u32 = 8;

/// Somebody who uses it. Shown behind the name of what is used: "/dev/sda holds a mounted file system
/// (/home)".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum User {
    /// A file system lies on it, on a part of it, or on something made of it.
    Mounted {
        /// The part, or what was made of it, where it is not the thing itself.
        through: Option<PathBuf>,
        /// Where it is mounted.
        at: PathBuf,
        /// Whether that mount takes no writes.
        read_only: bool,
    },
    /// The kernel swaps to it, to a part of it, or to something made of it.
    Swap {
        /// As for a mount.
        through: Option<PathBuf>,
    },
    /// It stands behind a loop device.
    Loop {
        /// The loop device.
        node: PathBuf,
        /// Where that is mounted, if it is.
        at: Option<PathBuf>,
    },
    /// It is part of another device: RAID, volume group, encryption, multipath.
    Part {
        /// The other device.
        of: PathBuf,
    },
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mounted { through: None, at, .. } => {
                write!(f, "holds a mounted file system ({})", at.display())
            }
            Self::Mounted { through: Some(through), at, .. } => {
                write!(f, "holds a mounted file system ({} at {})", through.display(), at.display())
            }
            Self::Swap { through: None } => write!(f, "is in use as swap"),
            Self::Swap { through: Some(through) } => write!(f, "is in use as swap ({})", through.display()),
            Self::Loop { node, at: None } => write!(f, "is behind the loop device {}", node.display()),
            Self::Loop { node, at: Some(at) } => {
                write!(f, "is behind the loop device {}, mounted at {}", node.display(), at.display())
            }
            Self::Part { of } => write!(f, "is part of {}", of.display()),
        }
    }
}

/// What uses a regular file at this moment, as in "disk.img stands behind the loop device /dev/loop3": a loop device,
/// or the kernel as swap. `None` if nothing does, or if there is no file.
pub fn user_of(path: &Path) -> Option<String> {
    let stat = rustix::fs::stat(path).ok()?;
    user_of_file(&System::real(), Inode::of(&stat)).map(|user| user.to_string())
}

/// Finds a user of a regular file: swap, a mount, or a loop device.
pub(super) fn user_of_file(system: &System, file: Inode) -> Option<User> {
    user_behind(system, file, None)
}

/// Swap areas, mounts and loop devices know what they use by its identity. `except` is the loop device that is
/// itself the target.
fn user_behind(system: &System, inode: Inode, except: Option<DeviceNumber>) -> Option<User> {
    let is_it =
        |path: &PathBuf| rustix::fs::stat(system.path(path)).is_ok_and(|stat| Inode::of(&stat) == inode);
    if swaps(system).iter().any(is_it) {
        return Some(User::Swap { through: None });
    }
    // Without a device in between: EROFS mounts a file itself (Linux 6.12), and so do servers in user space. A source
    // that was named by a relative path cannot be found again.
    let is_mounted = |mount: &Mount| mount.source.is_absolute() && is_it(&mount.source);
    if matches!(inode, Inode::File { .. })
        && let Some(mount) = mounts(system).into_iter().find(is_mounted)
    {
        return Some(User::Mounted { through: None, read_only: mount.read_only(), at: mount.at });
    }
    let found =
        loops(system).into_iter().find(|it| it.backing == inode && Some(it.device.number) != except)?;
    let at = match user_of_device(system, &found.device) {
        Some(User::Mounted { at, .. }) => Some(at),
        _ => None,
    };
    Some(User::Loop { node: found.device.node(), at })
}

/// Finds a user of a block device, of one of its partitions, or of the disk that it is part of.
pub(super) fn user_of_device(system: &System, device: &BlockDevice) -> Option<User> {
    user_of_device_within(system, device, None, DEPTH_MAX)
}

fn user_of_device_within(
    system: &System,
    device: &BlockDevice,
    except: Option<DeviceNumber>,
    depth_left: u32,
) -> Option<User> {
    let depth_left = depth_left.checked_sub(1)?;
    let mut parts = vec![device.clone()];
    parts.extend(device.partitions());
    if device.is_partition() {
        parts.push(device.whole());
    }
    for part in &parts {
        let through = (part != device).then(|| part.node());
        if let Some(user) = direct_user(system, part, through, except, depth_left) {
            return Some(user);
        }
    }
    // A loop device writes to its file or device, so users of that are harmed too.
    device.loop_file()?;
    let whole = device.whole();
    match backing(system, &whole)? {
        inode @ Inode::File { .. } => user_behind(system, inode, Some(whole.number)),
        Inode::Device(number) => {
            let below = BlockDevice::by_number(system, number)?;
            user_of_device_within(system, &below, Some(whole.number), depth_left)
        }
    }
}

/// The files and devices that a device writes to through loop devices.
pub(super) fn behind_loops(system: &System, device: &BlockDevice) -> Vec<Inode> {
    let mut found = vec![Inode::Device(device.number)];
    let mut below = Some(device.whole());
    while let Some(thing) = below.take().and_then(|device| backing(system, &device)) {
        found.push(thing);
        if let (Inode::Device(number), true) = (thing, found.len() < DEPTH_MAX as usize) {
            below = BlockDevice::by_number(system, number).map(|device| device.whole());
        }
    }
    found
}

/// Finds a user of exactly this device.
fn direct_user(
    system: &System,
    device: &BlockDevice,
    through: Option<PathBuf>,
    except: Option<DeviceNumber>,
    depth_left: u32,
) -> Option<User> {
    let mounted = mounts(system).into_iter().find(|mount| {
        // btrfs shows an anonymous number, and its source tells.
        let by_source = || rustix::fs::stat(system.path(&mount.source)).map(|stat| Inode::of(&stat));
        mount.number == device.number
            || (mount.source.starts_with("/dev") && by_source() == Ok(Inode::Device(device.number)))
    });
    if let Some(mount) = mounted {
        return Some(User::Mounted { through, read_only: mount.read_only(), at: mount.at });
    }
    match user_behind(system, Inode::Device(device.number), except) {
        Some(User::Swap { .. }) => return Some(User::Swap { through }),
        Some(user) => return Some(user),
        None => {}
    }
    // A disk and its partitions show the same holders only where they are meant: holders of the very device.
    let holder = device.holders().into_iter().next()?;
    match user_of_device_within(system, &holder, None, depth_left) {
        Some(User::Mounted { at, read_only, .. }) => {
            Some(User::Mounted { through: Some(holder.node()), at, read_only })
        }
        Some(User::Swap { .. }) => Some(User::Swap { through: Some(holder.node()) }),
        _ => Some(User::Part { of: holder.node() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::linux::fake::{device, stack};
    use std::fs;

    fn system(root: &Path, mountinfo: &str, swaps: &str) -> System {
        fs::create_dir_all(root.join("proc/self")).unwrap();
        fs::write(root.join("proc/self/mountinfo"), mountinfo).unwrap();
        fs::write(root.join("proc/swaps"), format!("Filename Type\n{swaps}")).unwrap();
        System::at(root)
    }

    fn user(system: &System, name: &str) -> Option<String> {
        user_of_device(system, &BlockDevice::by_name(system, name).unwrap()).map(|user| user.to_string())
    }

    /// sda1 and sda2 on a disk; sda2 carries an encrypted volume.
    fn disk(root: &Path) {
        device(root, "ata/sda", "8:0", &[]);
        device(root, "ata/sda/sda1", "8:1", &[("partition", "1")]);
        device(root, "ata/sda/sda2", "8:2", &[("partition", "2")]);
        device(root, "virtual/block/dm-0", "253:0", &[]);
        stack(root, "virtual/block/dm-0", "ata/sda/sda2");
    }

    #[test]
    fn a_mounted_partition_makes_its_disk_used_and_not_its_sister() {
        let root = tempfile::tempdir().unwrap();
        disk(root.path());
        let system = system(root.path(), "1 0 8:1 / /boot rw - ext4 /dev/sda1 rw", "");
        assert_eq!(user(&system, "sda1").as_deref(), Some("holds a mounted file system (/boot)"));
        assert_eq!(user(&system, "sda").as_deref(), Some("holds a mounted file system (/dev/sda1 at /boot)"));
        assert_eq!(user(&system, "dm-0"), None);
    }

    #[test]
    fn a_mount_on_top_of_what_was_made_of_it_is_found() {
        let root = tempfile::tempdir().unwrap();
        disk(root.path());
        let system = system(root.path(), "1 0 253:0 / /home rw - ext4 /dev/mapper/home rw", "");
        let want = "holds a mounted file system (/dev/dm-0 at /home)";
        assert_eq!(user(&system, "sda2").as_deref(), Some(want));
        assert_eq!(user(&system, "sda").as_deref(), Some(want));
        assert_eq!(user(&system, "sda1"), None);
    }

    #[test]
    fn a_holder_that_is_not_mounted_holds_it_all_the_same() {
        let root = tempfile::tempdir().unwrap();
        disk(root.path());
        let system = system(root.path(), "", "");
        assert_eq!(user(&system, "sda2").as_deref(), Some("is part of /dev/dm-0"));
        assert_eq!(user(&system, "dm-0"), None);
    }

    #[test]
    fn a_swap_file_is_known_by_its_inode() {
        let root = tempfile::tempdir().unwrap();
        let swap_file = root.path().join("swapfile");
        fs::write(&swap_file, "x").unwrap();
        fs::write(root.path().join("other"), "x").unwrap();
        fs::hard_link(&swap_file, root.path().join("same")).unwrap();
        let system = system(root.path(), "", "/swapfile file 4 0 -2\n");
        let of =
            |name: &str| user_of_file(&system, Inode::of(&rustix::fs::stat(root.path().join(name)).unwrap()));
        assert_eq!(of("same"), Some(User::Swap { through: None }));
        assert_eq!(of("other"), None);
    }

    #[test]
    fn a_file_that_is_mounted_without_a_device_is_used() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("layer.erofs"), "x").unwrap();
        let of_file = || {
            let system = System::at(root.path());
            let inode = Inode::of(&rustix::fs::stat(root.path().join("layer.erofs")).unwrap());
            user_of_file(&system, inode).map(|user| user.to_string())
        };
        system(root.path(), "1 0 0:39 / /mnt ro - erofs /layer.erofs ro", "");
        assert_eq!(of_file().as_deref(), Some("holds a mounted file system (/mnt)"));
        system(root.path(), "1 0 0:39 / /mnt ro - erofs /other.erofs ro", "");
        assert_eq!(of_file(), None);
    }

    #[test]
    fn a_file_behind_a_mounted_loop_device_is_used() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("disk.img"), "x").unwrap();
        device(
            root.path(),
            "virtual/block/loop4",
            "7:4",
            &[("loop/backing_file", "/disk.img"), ("uevent", "DEVNAME=loop4")],
        );
        let system = system(root.path(), "1 0 7:4 / /mnt rw - ext4 /dev/loop4 rw", "");
        let thing = Inode::of(&rustix::fs::stat(root.path().join("disk.img")).unwrap());
        let user = user_of_file(&system, thing).unwrap().to_string();
        assert_eq!(user, "is behind the loop device /dev/loop4, mounted at /mnt");
    }

    #[test]
    fn two_loop_devices_over_one_file_harm_each_other() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("disk.img"), "x").unwrap();
        for (name, number) in [("loop4", "7:4"), ("loop5", "7:5")] {
            device(
                root.path(),
                &format!("virtual/block/{name}"),
                number,
                &[("loop/backing_file", "/disk.img")],
            );
        }
        let system = system(root.path(), "1 0 7:4 / /mnt rw - ext4 /dev/loop4 rw", "");
        assert_eq!(
            user(&system, "loop5").as_deref(),
            Some("is behind the loop device /dev/loop4, mounted at /mnt")
        );
    }
}

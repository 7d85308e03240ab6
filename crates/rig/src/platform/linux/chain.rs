//! What a target's bytes pass on their way down: partition, device-mapper, md, loop file, disk.
//!
//! The device that matters to a witness is the last one through which *all* bytes pass: nearer to the
//! medium than a loop device (whose file may sit in the page cache), and not yet one of several members of
//! an array.

use std::{fs, os::unix::fs::MetadataExt};

use iosonde_model::DeviceNote;

use super::{
    BlockDevice, DeviceNumber, Mount, System,
    filesystem::Keeps,
    mount::{mount_of_path, mounts},
};

/// Deeper than any real stack (partition, LVM, crypt, md, loop, ..): only a mistake or a cycle goes on.
const DEPTH_MAX: usize = 32;

/// The devices below a target.
#[derive(Debug, Default)]
pub(super) struct DeviceChain {
    /// From the nearest to the last; the members of an array stand behind it.
    pub(super) devices: Vec<BlockDevice>,
    /// Which of them all bytes pass, nearest to the medium.
    pub(super) covering: Option<usize>,
    /// The file systems that were passed, from the nearest: more than one below a loop device or an overlay.
    pub(super) file_systems: Vec<Keeps>,
    /// Notes on layers that could not be followed.
    pub(super) notes: Vec<DeviceNote>,
}

enum Place {
    Mount(Mount, Option<DeviceNumber>),
    Device(BlockDevice),
}

impl DeviceChain {
    /// Below a file: its mount, and the device number that the file itself shows.
    pub(super) fn below_file(system: &System, mount: Mount, number: DeviceNumber) -> Self {
        Self::descend(system, Place::Mount(mount, Some(number)))
    }

    /// Below a block device, itself included.
    pub(super) fn below_device(system: &System, device: BlockDevice) -> Self {
        Self::descend(system, Place::Device(device))
    }

    /// The device whose counters see everything.
    pub(super) fn covering(&self) -> Option<&BlockDevice> {
        self.devices.get(self.covering?)
    }

    fn descend(system: &System, start: Place) -> Self {
        let mut chain = Self::default();
        let mut next = Some(start);
        for _ in 0..DEPTH_MAX {
            next = match next {
                Some(Place::Mount(mount, number)) => chain.below_mount(system, &mount, number),
                Some(Place::Device(device)) => chain.below_block(system, device),
                None => break,
            };
        }
        chain
    }

    fn below_mount(&mut self, system: &System, mount: &Mount, number: Option<DeviceNumber>) -> Option<Place> {
        let keeps = Keeps::of(&mount.file_system);
        self.file_systems.push(keeps);
        match keeps {
            Keeps::InMemory | Keeps::OnServer | Keeps::OnSharingHost => return None,
            Keeps::InAnother => return self.below_folder(system, mount),
            Keeps::InUserSpace | Keeps::OnBlockDevices => {}
        }
        let by_number = [number, Some(mount.number)].into_iter().flatten();
        let device = by_number
            .filter_map(|number| BlockDevice::by_number(system, number))
            .next()
            .or_else(|| device_at(system, &mount.source));
        if device.is_none() && keeps == Keeps::OnBlockDevices {
            self.notes.push(DeviceNote::BlockDeviceUnseen { file_system: mount.file_system.clone() });
        }
        let device = device?;
        let members = btrfs_members(system, &device);
        if mount.file_system == "btrfs" && members.len() > 1 {
            let file_system = mount.file_system.clone();
            self.notes.push(DeviceNote::SpansDevices { file_system, devices: members.len() });
            self.devices.extend(members);
            return None;
        }
        Some(Place::Device(device))
    }

    /// An overlay writes to its upper folder; in a container that path belongs to the host and is not seen
    /// here.
    fn below_folder(&mut self, system: &System, mount: &Mount) -> Option<Place> {
        let upper = mount.option("upperdir").map_or(mount.source.clone(), Into::into);
        match fs::metadata(system.path(&upper)) {
            Ok(metadata) if upper.is_absolute() => {
                let lower = mount_of_path(&mounts(system), &upper).filter(|lower| lower.id != mount.id)?;
                Some(Place::Mount(lower, Some(DeviceNumber::of(metadata.dev()))))
            }
            _ => {
                self.notes.push(DeviceNote::StorageUnseen { file_system: mount.file_system.clone() });
                None
            }
        }
    }

    fn below_block(&mut self, system: &System, device: BlockDevice) -> Option<Place> {
        let (partition, loop_file) = (device.is_partition(), device.loop_file());
        let (whole, slaves) = (device.whole(), device.slaves());
        if device.name.starts_with("zram") || device.name.starts_with("ram") {
            self.file_systems.push(Keeps::InMemory);
        }
        self.covering = Some(self.devices.len());
        self.devices.push(device);
        if partition {
            return Some(Place::Device(whole));
        }
        if let Some(file) = loop_file {
            return device_at(system, &file)
                .map(Place::Device)
                .or_else(|| Some(Place::Mount(mount_of_path(&mounts(system), &file)?, None)));
        }
        if slaves.len() > 1 {
            self.push_members(slaves, DEPTH_MAX);
            return None;
        }
        slaves.into_iter().next().map(Place::Device)
    }

    fn push_members(&mut self, members: Vec<BlockDevice>, depth_left: usize) {
        for member in members {
            let (whole, below) = (member.whole(), member.slaves());
            let disk = member.is_partition().then_some(whole);
            for device in [Some(member), disk].into_iter().flatten() {
                if !self.devices.contains(&device) {
                    self.devices.push(device);
                }
            }
            if depth_left > 0 {
                self.push_members(below, depth_left - 1);
            }
        }
    }
}

/// The block device whose node lies at that path.
pub(super) fn device_at(system: &System, path: &std::path::Path) -> Option<BlockDevice> {
    use std::os::unix::fs::FileTypeExt;
    let metadata = fs::metadata(system.path(path)).ok().filter(|_| path.is_absolute())?;
    metadata.file_type().is_block_device().then_some(())?;
    BlockDevice::by_number(system, DeviceNumber::of(metadata.rdev()))
}

/// All devices of the btrfs file system that this device belongs to.
fn btrfs_members(system: &System, device: &BlockDevice) -> Vec<BlockDevice> {
    for file_system in system.names("/sys/fs/btrfs") {
        let names = system.names(format!("/sys/fs/btrfs/{file_system}/devices"));
        if names.contains(&device.name) {
            return names.iter().filter_map(|name| BlockDevice::by_name(system, name)).collect();
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::block::fake::{device, stack};
    use super::*;
    use std::path::Path;

    fn mountinfo(root: &Path, text: &str) {
        fs::create_dir_all(root.join("proc/self")).unwrap();
        fs::write(root.join("proc/self/mountinfo"), text).unwrap();
    }

    fn names(chain: &DeviceChain) -> Vec<&str> {
        chain.devices.iter().map(|device| device.name.as_str()).collect()
    }

    #[test]
    fn through_a_partition_and_a_crypt_device() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "pci/nvme/nvme0n1", "259:0", &[]);
        device(root.path(), "pci/nvme/nvme0n1/nvme0n1p3", "259:3", &[("partition", "3")]);
        device(root.path(), "virtual/block/dm-0", "253:0", &[]);
        stack(root.path(), "virtual/block/dm-0", "pci/nvme/nvme0n1/nvme0n1p3");
        let text = "1 0 253:0 / / rw - ext4 /dev/mapper/root rw";
        mountinfo(root.path(), text);
        let system = System::at(root.path());
        let mount = mounts(&system).remove(0);
        let number = mount.number;
        let chain = DeviceChain::below_file(&system, mount, number);
        assert_eq!(names(&chain), ["dm-0", "nvme0n1p3", "nvme0n1"]);
        assert_eq!(chain.covering().unwrap().name, "nvme0n1");
        assert_eq!(chain.notes, []);
    }

    #[test]
    fn an_array_covers_what_its_members_share() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "virtual/block/md0", "9:0", &[]);
        device(root.path(), "virtual/block/md0/md0p1", "259:9", &[("partition", "1")]);
        for (name, number) in [("sda", "8:0"), ("sdb", "8:16")] {
            device(root.path(), &format!("ata/{name}"), number, &[]);
            stack(root.path(), "virtual/block/md0", &format!("ata/{name}"));
        }
        let system = System::at(root.path());
        let part = BlockDevice::by_name(&system, "md0p1").unwrap();
        let chain = DeviceChain::below_device(&system, part);
        assert_eq!(names(&chain), ["md0p1", "md0", "sda", "sdb"]);
        assert_eq!(chain.covering().unwrap().name, "md0");
    }

    #[test]
    fn a_loop_file_is_followed_to_its_file_systems_disk() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "ata/sda", "8:0", &[]);
        device(
            root.path(),
            "virtual/block/loop3",
            "7:3",
            &[("loop/backing_file", "/images/disk.img (deleted)")],
        );
        mountinfo(root.path(), "1 0 8:0 / / rw - xfs /dev/sda rw");
        let system = System::at(root.path());
        let chain = DeviceChain::below_device(&system, BlockDevice::by_name(&system, "loop3").unwrap());
        assert_eq!(names(&chain), ["loop3", "sda"]);
        assert_eq!(chain.covering().unwrap().name, "sda");
        assert_eq!(chain.file_systems, [Keeps::OnBlockDevices]);
    }

    #[test]
    fn a_loop_file_in_memory_is_memory() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "virtual/block/loop3", "7:3", &[("loop/backing_file", "/dev/shm/disk.img")]);
        mountinfo(root.path(), "1 0 0:9 / /dev/shm rw - tmpfs tmpfs rw");
        let system = System::at(root.path());
        let chain = DeviceChain::below_device(&system, BlockDevice::by_name(&system, "loop3").unwrap());
        assert_eq!(names(&chain), ["loop3"]);
        assert_eq!(chain.file_systems, [Keeps::InMemory]);
    }

    #[test]
    fn an_overlay_in_a_container_says_that_it_cannot_be_followed() {
        let root = tempfile::tempdir().unwrap();
        mountinfo(
            root.path(),
            "1 0 0:50 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/var/x/diff,workdir=/w",
        );
        let system = System::at(root.path());
        let mount = mounts(&system).remove(0);
        let chain = DeviceChain::below_file(&system, mount, DeviceNumber { major: 0, minor: 50 });
        assert!(chain.devices.is_empty() && chain.covering().is_none());
        assert_eq!(chain.notes, [DeviceNote::StorageUnseen { file_system: "overlay".into() }]);
    }

    #[test]
    fn an_overlay_beside_its_upper_folder_is_followed() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "ata/sda", "8:0", &[]);
        fs::create_dir_all(root.path().join("up")).unwrap();
        mountinfo(
            root.path(),
            "1 0 8:0 / / rw - ext4 /dev/sda rw\n2 1 0:50 / /merged rw - overlay overlay rw,upperdir=/up",
        );
        let system = System::at(root.path());
        let mount = mounts(&system).remove(1);
        let chain = DeviceChain::below_file(&system, mount, DeviceNumber { major: 0, minor: 50 });
        assert_eq!(names(&chain), ["sda"]);
    }

    #[test]
    fn btrfs_on_two_devices_has_no_covering_one() {
        let root = tempfile::tempdir().unwrap();
        device(root.path(), "ata/sda", "8:0", &[]);
        device(root.path(), "ata/sdb", "8:16", &[]);
        for name in ["sda", "sdb"] {
            fs::create_dir_all(root.path().join("sys/fs/btrfs/aa-bb/devices").join(name)).unwrap();
        }
        mountinfo(root.path(), "1 0 8:0 / / rw - btrfs /dev/sda rw");
        let system = System::at(root.path());
        let mount = mounts(&system).remove(0);
        let chain = DeviceChain::below_file(&system, mount, DeviceNumber { major: 0, minor: 40 });
        assert_eq!(names(&chain), ["sda", "sdb"]);
        assert!(chain.covering().is_none());
        assert_eq!(chain.notes, [DeviceNote::SpansDevices { file_system: "btrfs".into(), devices: 2 }]);
    }
}

//! A block device as `/sys` shows it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    DeviceNumber, System,
    system::{names_in, text_of},
};

/// The unit of `size` and of the counters in `/sys`: 512 bytes whatever the device's own sector is.
pub(crate) const KERNEL_SECTOR_BYTES: u64 = 512;

/// A whole disk, a partition, or a device made of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// The kernel's name: `nvme0n1p2`, `dm-0`.
    pub name: String,
    /// Device number.
    pub number: DeviceNumber,
    folder: PathBuf,
}

impl BlockDevice {
    /// The device of that number.
    pub fn by_number(system: &System, number: DeviceNumber) -> Option<Self> {
        Self::in_folder(&system.path(format!("/sys/dev/block/{number}")))
    }

    /// The device that the kernel calls so.
    pub fn by_name(system: &System, name: &str) -> Option<Self> {
        Self::in_folder(&system.path(format!("/sys/class/block/{name}")))
    }

    /// Returns every whole device of this machine.
    pub fn all(system: &System) -> Vec<Self> {
        system.names("/sys/block").iter().filter_map(|name| Self::by_name(system, name)).collect()
    }

    fn in_folder(link: &Path) -> Option<Self> {
        let folder = fs::canonicalize(link).ok()?;
        let number = text_of(&folder.join("dev"))?.parse().ok()?;
        Some(Self { name: folder.file_name()?.to_str()?.to_owned(), number, folder })
    }

    /// The folder in `/sys`, links resolved.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The text of one of its attributes: `size`, `queue/rotational`, `loop/backing_file`.
    pub fn attribute(&self, name: &str) -> Option<String> {
        text_of(&self.folder.join(name))
    }

    /// An attribute that is a number.
    pub fn number_attribute(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.parse().ok()
    }

    /// The path of its node: `/dev/mapper` names are links to it.
    pub fn node(&self) -> PathBuf {
        let event = self.attribute("uevent").unwrap_or_default();
        let name = event.lines().find_map(|line| line.strip_prefix("DEVNAME="));
        // In kernel names `!` stands for the `/` of the node's path: `cciss!c0d0`.
        Path::new("/dev").join(name.map_or_else(|| self.name.replace('!', "/"), str::to_owned))
    }

    /// Returns the size; `None` where the kernel says 0: no medium, or a loop device without a file.
    pub fn size_bytes(&self) -> Option<u64> {
        self.number_attribute("size")?.checked_mul(KERNEL_SECTOR_BYTES).filter(|&bytes| bytes > 0)
    }

    /// Returns true if the device is a partition.
    pub fn is_partition(&self) -> bool {
        self.folder.join("partition").exists()
    }

    /// The disk that it is part of, or itself.
    pub fn whole(&self) -> Self {
        let parent = self.is_partition().then(|| self.folder.parent().and_then(Self::in_folder)).flatten();
        parent.unwrap_or_else(|| self.clone())
    }

    /// Returns the device's partitions.
    pub fn partitions(&self) -> Vec<Self> {
        let inside = names_in(&self.folder).into_iter().map(|name| self.folder.join(name));
        inside
            .filter(|folder| folder.join("partition").exists())
            .filter_map(|f| Self::in_folder(&f))
            .collect()
    }

    /// The devices that it is made of (device-mapper, md, bcache).
    pub fn slaves(&self) -> Vec<Self> {
        self.related("slaves")
    }

    /// The devices that are made of it.
    pub fn holders(&self) -> Vec<Self> {
        self.related("holders")
    }

    fn related(&self, folder: &str) -> Vec<Self> {
        let folder = self.folder.join(folder);
        names_in(&folder).iter().filter_map(|name| Self::in_folder(&folder.join(name))).collect()
    }

    /// The path of the file behind a loop device, as the kernel gives it: seen from where it was set up,
    /// and with ` (deleted)` behind it when it was.
    pub fn loop_file(&self) -> Option<PathBuf> {
        self.whole().attribute("loop/backing_file").map(PathBuf::from)
    }
}

/// Makes trees that look like `/sys`, for tests.
#[cfg(test)]
pub(crate) mod fake {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Adds a device below `sys/devices/PATH`, with its links.
    pub(crate) fn device(root: &Path, path: &str, number: &str, attributes: &[(&str, &str)]) {
        let folder = root.join("sys/devices").join(path);
        fs::create_dir_all(&folder).unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let all = [("dev", number), ("size", "2048")];
        for (attribute, text) in all.iter().chain(attributes) {
            let file = folder.join(attribute);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, format!("{text}\n")).unwrap();
        }
        let partition = folder.join("partition").exists();
        let links = [("sys/dev/block", number), ("sys/class/block", name), ("sys/block", name)];
        for (place, link) in &links[..if partition { 2 } else { 3 }] {
            fs::create_dir_all(root.join(place)).unwrap();
            symlink(&folder, root.join(place).join(link)).unwrap();
        }
    }

    /// Says that `upper` is made of `lower`; both are paths below `sys/devices`.
    pub(crate) fn stack(root: &Path, upper: &str, lower: &str) {
        let devices = root.join("sys/devices");
        for (from, folder, to) in [(upper, "slaves", lower), (lower, "holders", upper)] {
            let folder = devices.join(from).join(folder);
            fs::create_dir_all(&folder).unwrap();
            symlink(devices.join(to), folder.join(Path::new(to).file_name().unwrap())).unwrap();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_know_their_disk_and_disks_their_partitions() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "pci/block/sda", "8:0", &[("size", "4096")]);
        fake::device(
            root.path(),
            "pci/block/sda/sda1",
            "8:1",
            &[("partition", "1"), ("uevent", "DEVNAME=sda1")],
        );
        let system = System::at(root.path());
        let part = BlockDevice::by_number(&system, DeviceNumber { major: 8, minor: 1 }).unwrap();
        let disk = BlockDevice::by_name(&system, "sda").unwrap();
        assert!(part.is_partition() && !disk.is_partition());
        assert_eq!(part.whole(), disk);
        assert_eq!(disk.whole(), disk);
        assert_eq!(disk.partitions(), vec![part.clone()]);
        assert_eq!(part.node(), Path::new("/dev/sda1"));
        // 4096 sectors of 512 bytes.
        assert_eq!(disk.size_bytes(), Some(2_097_152));
        assert_eq!(BlockDevice::all(&system), [disk]);
    }

    #[test]
    fn no_medium_is_no_size() {
        let root = tempfile::tempdir().unwrap();
        fake::device(root.path(), "virtual/block/loop0", "7:0", &[("size", "0")]);
        let device = BlockDevice::by_name(&System::at(root.path()), "loop0").unwrap();
        assert_eq!((device.size_bytes(), device.loop_file()), (None, None));
    }
}

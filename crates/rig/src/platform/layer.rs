//! One block device below a target by itself: what a loop device says of itself is not what its disk says.

use std::path::PathBuf;

use super::{
    BlockDevice,
    disk_attributes::{active_scheduler, model},
    link::link,
};

/// Description of one block device, as the kernel gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// The kernel's name: `loop0`, `nvme0n1p2`.
    pub name: String,
    /// Composition from the devices below; `None` for a disk.
    pub made: Option<Made>,
    /// Vendor and model of a disk.
    pub model: Option<String>,
    /// Interface of a disk.
    pub link: Option<String>,
    /// Size of this layer.
    pub size_bytes: Option<u64>,
    /// The smallest unit that it addresses.
    pub logical_block_bytes: Option<u64>,
    /// The smallest unit that it says it writes whole.
    pub physical_block_bytes: Option<u64>,
    /// I/O scheduler; a partition has none of its own.
    pub scheduler: Option<String>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Write streams that a request can name (flexible data placement): most of them, and bytes that each is erased in,
    /// 0 where the device does not tell. `None` where it has none.
    pub write_streams: Option<(u64, u64)>,
    /// True if the kernel refuses writes to it.
    pub read_only: bool,
}

/// Composition of a device from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Made {
    /// A part of a disk.
    Partition,
    /// A loop device over this file, as the kernel gives its path.
    Loop(PathBuf),
    /// A volume of the device mapper, by its name there.
    Mapped(String),
    /// An array, by its level: `raid1`.
    Array(String),
}

impl Layer {
    /// Reads the description of one device.
    pub(super) fn of(device: &BlockDevice) -> Self {
        let made = made(device);
        let partition = made == Some(Made::Partition);
        // A partition's queue is its disk's.
        let queue = |name: &str| (!partition).then(|| device.attribute(&format!("queue/{name}"))).flatten();
        let bytes = |name: &str| queue(name)?.parse().ok();
        let disk = made.is_none();
        Self {
            name: device.name.clone(),
            model: disk.then(|| model(device)).flatten(),
            link: disk.then(|| link(device)).flatten(),
            size_bytes: device.size_bytes(),
            logical_block_bytes: bytes("logical_block_size"),
            physical_block_bytes: bytes("physical_block_size"),
            scheduler: queue("scheduler").and_then(|text| active_scheduler(&text)),
            write_cache: queue("write_cache"),
            write_streams: bytes("max_write_streams")
                .filter(|most| *most > 0)
                .map(|most| (most, bytes("write_stream_granularity").unwrap_or(0))),
            read_only: device.number_attribute("ro") == Some(1),
            made,
        }
    }
}

fn made(device: &BlockDevice) -> Option<Made> {
    if device.is_partition() {
        return Some(Made::Partition);
    }
    let of = |name: &str| device.attribute(name).filter(|text| !text.is_empty());
    device
        .loop_file()
        .map(Made::Loop)
        .or_else(|| of("dm/name").map(Made::Mapped))
        .or_else(|| of("md/level").map(Made::Array))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{System, block::fake},
        *,
    };

    #[test]
    fn a_loop_device_and_the_disk_below_keep_their_own_facts() {
        let root = tempfile::tempdir().unwrap();
        let disk = [
            ("size", "4096"),
            ("device/model", "Example 100"),
            ("queue/scheduler", "none [mq-deadline]"),
            ("queue/logical_block_size", "4096"),
        ];
        fake::device(root.path(), "ata/sda", "8:0", &disk);
        fake::device(root.path(), "ata/sda/sda1", "8:1", &[("partition", "1"), ("ro", "1")]);
        let attributes = [
            ("loop/backing_file", "/images/disk.img"),
            ("queue/scheduler", "none"),
            ("queue/logical_block_size", "512"),
        ];
        fake::device(root.path(), "virtual/block/loop3", "7:3", &attributes);
        fake::device(root.path(), "virtual/block/dm-0", "253:0", &[("dm/name", "vg-home")]);
        let system = System::at(root.path());
        let layer = |name: &str| Layer::of(&BlockDevice::by_name(&system, name).unwrap());

        let over = layer("loop3");
        assert_eq!(over.made, Some(Made::Loop("/images/disk.img".into())));
        // 2048 sectors of 512 bytes are the default of the invented devices.
        assert_eq!((over.size_bytes, over.logical_block_bytes), (Some(1 << 20), Some(512)));
        assert_eq!((over.model, over.scheduler.as_deref()), (None, Some("none")));
        let disk = layer("sda");
        assert_eq!((disk.size_bytes, disk.logical_block_bytes), (Some(2 << 20), Some(4096)));
        assert_eq!(
            (disk.model.as_deref(), disk.scheduler.as_deref()),
            (Some("Example 100"), Some("mq-deadline"))
        );
        let part = layer("sda1");
        assert_eq!((&part.made, part.scheduler, part.read_only), (&Some(Made::Partition), None, true));
        assert_eq!(layer("dm-0").made, Some(Made::Mapped("vg-home".into())));
    }
}

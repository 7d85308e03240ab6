//! One block device below a target by itself: what a loop device says of itself is not what its disk says.

use std::path::PathBuf;

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
    /// Write streams that a request can name (flexible data placement): most of them, and bytes that each is erased in;
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

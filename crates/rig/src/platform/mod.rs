//! Facts about a target and this machine from the Linux kernel, read once from `/proc` and `/sys` before anything is
//! measured. Absent facts are `None`; nothing is guessed.

mod attribute;
mod block;
mod caches;
mod chain;
mod control_group;
mod device;
mod disk_attributes;
mod extents;
mod filesystem;
mod health;
mod holes;
mod host;
mod interface;
mod killed;
mod layer;
mod link;
mod log_page;
mod mount;
mod number;
mod packing;
mod power;
mod swaps;
mod system;
mod terminal;
mod virtualization;

pub use attribute::{attribute, set_attribute};
pub use block::BlockDevice;
pub(crate) use block::KERNEL_SECTOR_BYTES;
#[cfg(test)]
pub(crate) use block::fake;
pub use control_group::memory_limit_bytes;
pub(crate) use control_group::{folder, group_of};
pub use device::{TargetKind, describe, look};
pub(crate) use extents::{Extents, extents};
pub(crate) use filesystem::keeps_in_memory;
pub use holes::unmapped_bytes;
pub(crate) use host::meminfo_bytes;
pub use host::{boot, host, page_bytes};
pub use killed::{is_killed, locked_by_the_killed};
pub use layer::{Layer, Made};
pub(crate) use log_page::{Controller, node as controller_node};
pub(crate) use mount::unescape;
pub use mount::{Mount, mount_of, mounts};
pub use number::DeviceNumber;
pub use swaps::swaps;
pub use system::System;
pub use terminal::{may_write_in, terminal_columns};
pub use virtualization::virtualization;

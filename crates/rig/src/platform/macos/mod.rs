//! macOS: F_NOCACHE and its limits, F_FULLFSYNC, `diskutil`, IOKit, what the unified buffer cache holds.

pub(crate) mod clocks;
mod device;
pub(crate) mod files;
pub(crate) mod guard;
mod host;
mod iokit;
pub(crate) mod pages;
pub(crate) mod positioned;
mod pressure;
pub(crate) mod scheduling;
mod terminal;
pub mod witness;

pub(crate) use super::no_small_files as small_files;
pub use super::{
    one_process::{confine, leave, memory, supervise},
    unix::interrupt,
};
pub use device::{describe, look};
pub use files::{atomic_writes, attribute, locked_by_the_killed, set_attribute, unmapped_bytes};
pub use host::{allowed_memory_bytes, boot, host, page_bytes, virtualization};
pub use terminal::{may_write_in, terminal_columns};

//! Windows: volumes and disks by their control codes, overlapped I/O, the console's events.

mod bitlocker;
pub(crate) mod clocks;
mod device;
pub(crate) mod files;
pub(crate) mod guard;
mod handle;
mod host;
pub mod interrupt;
mod memory_signal;
pub(crate) mod overlapped;
pub(crate) mod pages;
pub(crate) mod positioned;
pub(crate) mod ring;
pub(crate) mod scheduling;
mod terminal;
mod volume;
pub mod witness;

pub(crate) use super::no_small_files as small_files;
pub use super::one_process::{confine, leave, memory, supervise};
pub use device::{describe, look};
pub use files::{atomic_writes, attribute, locked_by_the_killed, set_attribute, unmapped_bytes};
pub use host::{allowed_memory_bytes, boot, host, page_bytes, virtualization};
pub use terminal::{may_write_in, terminal_columns};

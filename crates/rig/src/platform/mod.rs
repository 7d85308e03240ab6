//! Everything that differs between operating systems: facts about targets and this machine, opening and judging,
//! witnesses, clocks, memory, signals and processes. One folder a system, with the same list of functions in each;
//! nothing else in this crate asks which system it is built for. Absent facts are `None`; nothing is guessed.

#[cfg(any(target_os = "macos", test))]
mod apple;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(any(not(target_os = "linux"), test))]
mod moved;
#[cfg(not(target_os = "linux"))]
pub(crate) mod no_shared_files;
#[cfg(not(target_os = "linux"))]
pub(crate) mod no_small_files;
#[cfg(not(target_os = "linux"))]
mod one_process;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

mod atomic_writes;
mod layer;
mod process_group;
mod target_kind;

#[cfg(target_os = "linux")]
use linux as here;
#[cfg(target_os = "macos")]
use macos as here;
#[cfg(windows)]
use windows as here;

pub use atomic_writes::AtomicWrites;
pub use here::files::{identity, identity_of, kind, nothing, without_ending};
pub use here::{
    allowed_memory_bytes, atomic_writes, attribute, boot, describe, host, locked_by_the_killed, look,
    may_write_in, page_bytes, set_attribute, terminal_columns, unmapped_bytes, virtualization, witness,
};
pub(crate) use here::{clocks, files, guard, pages, positioned, scheduling, small_files};
pub use here::{confine, interrupt, leave, memory, supervise};
pub use layer::{Layer, Made};
#[cfg(target_os = "linux")]
pub(crate) use linux::calls;
#[cfg(target_os = "linux")]
pub use linux::{
    BlockDevice, DeviceNumber, Mount, System, is_killed, memory_limit_bytes, mount_of, mounts, swaps,
};
pub use process_group::ProcessGroup;
pub use target_kind::TargetKind;
#[cfg(windows)]
pub(crate) use windows::{overlapped, ring};

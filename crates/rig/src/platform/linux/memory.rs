//! Memory of the program itself, reserved before anything is measured.
//!
//! A run keeps its trials. A heap that grows with them takes page faults and calls of the kernel while storage is
//! measured, and its growth looks like a leak. So what the trials will need is taken once and given back to the
//! allocator, not to the kernel.

use super::{System, memory_limit_bytes};

/// More is not taken beforehand: so much holds 10,000 short trials.
const RESERVED_BYTES_MAX: usize = 64 << 20;
/// An eighth of a control group's memory: half of it may be the buffers'.
const GROUP_PART: u64 = 8;
/// Below what the allocator maps by itself.
#[cfg(target_env = "gnu")]
const BLOCK_BYTES: usize = 64 << 10;
/// For what comes and goes: the fit of all points, the text of a trial, SQLite's 2 MiB of pages.
#[cfg(target_env = "gnu")]
const PASSING_BYTES: usize = 6 << 20;

/// Makes the heap large enough for so many bytes more. Threads that are started later share it: with a heap for each,
/// what a trial's threads leave behind is scattered over all of them. Other allocators than that of glibc are left as
/// they are.
pub fn reserve(bytes: usize) {
    let group_bytes = memory_limit_bytes(&System::real()).unwrap_or(u64::MAX);
    let allowed_bytes = usize::try_from(group_bytes / GROUP_PART).unwrap_or(usize::MAX);
    grow(bytes.min(RESERVED_BYTES_MAX).min(allowed_bytes));
}

#[cfg(target_env = "gnu")]
fn grow(bytes: usize) {
    let kept = bytes + PASSING_BYTES;
    let trim_at = i32::try_from(kept + PASSING_BYTES).unwrap_or(i32::MAX);
    // SAFETY: these set figures of the allocator, which it reads under its own lock; all are within their range.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TRIM_THRESHOLD, trim_at);
        // A list of trials that grows stays in the heap; 32 MiB is the most that is allowed.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
    }
    // 1: untouched memory would not be there yet.
    let blocks: Vec<Vec<u8>> = (0..kept / BLOCK_BYTES).map(|_| vec![1; BLOCK_BYTES]).collect();
    drop(std::hint::black_box(blocks));
}

#[cfg(not(target_env = "gnu"))]
fn grow(_bytes: usize) {}

//! Ending while the storage still holds requests of `libaio`.
//!
//! Linux ends no process before the last of these has come back (`exit_aio()` of fs/aio.c). It waits for them where the
//! memory of the process is given up, and memory that two processes share is given up by the one that ends last. So
//! where such requests may be out, a second process is made that shares the memory and has no file open. It stays
//! until this one has ended, and then waits for the storage in its place.

use std::{
    cell::UnsafeCell,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

/// Contexts of `libaio` that have not been destroyed.
static CONTEXTS: AtomicU32 = AtomicU32::new(0);

pub(crate) fn context_made() {
    CONTEXTS.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn context_destroyed() {
    CONTEXTS.fetch_sub(1, Ordering::Relaxed);
}

const STACK_BYTES: usize = 64 << 10;
const LOOK_EVERY_NS: libc::c_long = 5_000_000;

#[repr(align(16))]
struct Stack(UnsafeCell<[u8; STACK_BYTES]>);

// SAFETY: the one process that is made here is the only one that uses it.
unsafe impl Sync for Stack {}

static STACK: Stack = Stack(UnsafeCell::new([0; STACK_BYTES]));

/// Makes sure that the process can end now, if it is about to. May be called from a signal handler.
pub fn let_go() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if CONTEXTS.load(Ordering::Relaxed) == 0 || DONE.swap(true, Ordering::Relaxed) {
        return;
    }
    // SAFETY: `stay` runs on a stack of its own, makes system calls alone, and touches no memory of this process. No
    // signal is sent when it ends. Nothing is allocated, and no lock taken.
    unsafe {
        let top = STACK.0.get().cast::<u8>().add(STACK_BYTES);
        let parent = libc::getpid() as usize as *mut libc::c_void;
        // Where it is refused, this process ends when the storage has answered.
        libc::clone(stay, top.cast(), libc::CLONE_VM, parent);
    }
}

extern "C" fn stay(parent: *mut libc::c_void) -> libc::c_int {
    let pause = libc::timespec { tv_sec: 0, tv_nsec: LOOK_EVERY_NS };
    // SAFETY: system calls that read a place of ours; the files are this process's own copies.
    unsafe {
        // Locks and the terminal are free as soon as the other process has ended.
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
        // It is another process's child once all threads of that one have given up their memory.
        while libc::getppid() as usize == parent as usize {
            libc::nanosleep(&raw const pause, std::ptr::null_mut());
        }
    }
    0
}

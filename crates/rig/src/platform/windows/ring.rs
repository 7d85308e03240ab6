//! Rings of requests (`ioringapi.h`). Windows before 11 lacks them, so that their functions are looked up and not
//! linked: a program that names them would not start there.

use std::{
    ffi::{CStr, c_void},
    fs::File,
    io,
    mem::transmute_copy,
    ptr,
    sync::OnceLock,
};

use iosonde_model::Op;
use windows_sys::{
    Win32::{
        Foundation::{HANDLE, HMODULE, RtlNtStatusToDosError},
        Storage::FileSystem::{
            FILE_FLAG_OVERLAPPED, FILE_FLUSH_DEFAULT, FILE_WRITE_FLAGS_NONE, HIORING, IORING_BUFFER_REF,
            IORING_BUFFER_REF_0, IORING_CAPABILITIES, IORING_CQE, IORING_CREATE_FLAGS, IORING_HANDLE_REF,
            IORING_HANDLE_REF_0, IORING_REF_RAW, IORING_VERSION_3, IOSQE_FLAGS_NONE,
        },
        System::{
            LibraryLoader::{GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExW},
            Threading::INFINITE,
        },
    },
    core::HRESULT,
    w,
};

use super::{
    handle::raw,
    overlapped::{NO_TRIM, failed, reopened},
};
use crate::engine::{Bench, Completion, Completions, Request, Unavailable};

/// IORING_E_WAIT_TIMEOUT (winerror.h).
const WAIT_TIMEOUT: HRESULT = 0x8046_0007_u32.cast_signed();
/// FACILITY_WIN32 and FACILITY_NT_BIT of an HRESULT: which numbers are inside it.
const OF_WIN32: u32 = 0x8007_0000;
const OF_NT: u32 = 0x1000_0000;

/// The functions, from the system's own folder.
struct Calls {
    create: unsafe extern "system" fn(i32, IORING_CREATE_FLAGS, u32, u32, *mut HIORING) -> HRESULT,
    close: unsafe extern "system" fn(HIORING) -> HRESULT,
    read: unsafe extern "system" fn(
        HIORING,
        IORING_HANDLE_REF,
        IORING_BUFFER_REF,
        u32,
        u64,
        usize,
        i32,
    ) -> HRESULT,
    write: unsafe extern "system" fn(
        HIORING,
        IORING_HANDLE_REF,
        IORING_BUFFER_REF,
        u32,
        u64,
        i32,
        usize,
        i32,
    ) -> HRESULT,
    flush: unsafe extern "system" fn(HIORING, IORING_HANDLE_REF, i32, usize, i32) -> HRESULT,
    submit: unsafe extern "system" fn(HIORING, u32, u32, *mut u32) -> HRESULT,
    pop: unsafe extern "system" fn(HIORING, *mut IORING_CQE) -> HRESULT,
    depth_max: u32,
}

impl Calls {
    /// Looks the functions up once.
    fn get() -> Result<&'static Self, Unavailable> {
        static CALLS: OnceLock<Result<Calls, Unavailable>> = OnceLock::new();
        CALLS.get_or_init(Self::find).as_ref().map_err(Clone::clone)
    }

    fn find() -> Result<Self, Unavailable> {
        let none = || Unavailable("this Windows has no I/O rings (Windows 11 22H2 has); iocp works".into());
        // SAFETY: the name ends with a zero; the library is searched in the system's folder alone and is never freed.
        let library = unsafe {
            LoadLibraryExW(
                w!("api-ms-win-core-ioring-l1-1-0.dll"),
                ptr::null_mut(),
                LOAD_LIBRARY_SEARCH_SYSTEM32,
            )
        };
        if library.is_null() {
            return Err(none());
        }
        // SAFETY: these are the types that ioringapi.h gives the functions of these names.
        unsafe {
            let query: unsafe extern "system" fn(*mut IORING_CAPABILITIES) -> HRESULT =
                function(library, c"QueryIoRingCapabilities").ok_or_else(none)?;
            let mut able = IORING_CAPABILITIES::default();
            if query(&raw mut able) < 0 {
                return Err(none());
            }
            if able.MaxVersion < IORING_VERSION_3 {
                return Err(Unavailable(
                    "the I/O rings of this Windows cannot write (Windows 11 22H2 can); iocp works".into(),
                ));
            }
            Ok(Self {
                create: function(library, c"CreateIoRing").ok_or_else(none)?,
                close: function(library, c"CloseIoRing").ok_or_else(none)?,
                read: function(library, c"BuildIoRingReadFile").ok_or_else(none)?,
                write: function(library, c"BuildIoRingWriteFile").ok_or_else(none)?,
                flush: function(library, c"BuildIoRingFlushFile").ok_or_else(none)?,
                submit: function(library, c"SubmitIoRing").ok_or_else(none)?,
                pop: function(library, c"PopIoRingCompletion").ok_or_else(none)?,
                depth_max: able.MaxSubmissionQueueSize.min(able.MaxCompletionQueueSize),
            })
        }
    }
}

/// # Safety
/// `F` must be the type of the function that has this name.
unsafe fn function<F>(library: HMODULE, name: &CStr) -> Option<F> {
    // SAFETY: the name ends with a zero. A function pointer has the size of any other; the caller answers for the type.
    unsafe { GetProcAddress(library, name.as_ptr().cast()).map(|found| transmute_copy(&found)) }
}

/// Largest queue depth of a ring.
///
/// # Errors
/// This Windows has none that writes.
pub(crate) fn depth_max() -> Result<u32, Unavailable> {
    Calls::get().map(|calls| calls.depth_max)
}

/// A file whose requests go through a ring of its own.
pub(crate) struct Ring {
    calls: &'static Calls,
    file: File,
    ring: HIORING,
    buffers: Box<[*mut u8]>,
    under_way: usize,
    /// What ended without the ring.
    at_once: Completions,
}

impl Ring {
    /// Opens the bench's file again and its ring.
    pub(crate) fn open(file: &File, bench: &Bench) -> io::Result<Self> {
        let calls = Calls::get().map_err(io::Error::other)?;
        let file = reopened(file, bench, FILE_FLAG_OVERLAPPED)?;
        let slots = bench.buffers.slots();
        let mut ring = ptr::null_mut();
        // SAFETY: the ring's place is ours. The system rounds the sizes up.
        let told = unsafe {
            (calls.create)(IORING_VERSION_3, IORING_CREATE_FLAGS::default(), slots, slots, &raw mut ring)
        };
        if told < 0 {
            return Err(io::Error::from_raw_os_error(-result(told, 0)));
        }
        Ok(Self {
            calls,
            file,
            ring,
            buffers: (0..slots).map(|slot| bench.buffers.slot(slot)).collect(),
            under_way: 0,
            at_once: Completions::with_capacity(slots as usize),
        })
    }

    /// Starts requests, in order; says how many.
    pub(crate) fn start(&mut self, requests: &[Request]) -> io::Result<usize> {
        let mut built = 0;
        for request in requests {
            if request.op == Op::Trim {
                self.at_once.push(Completion { slot: request.slot, result: NO_TRIM });
            } else if self.build(request) < 0 {
                // No place: the rest is offered again.
                break;
            } else {
                self.under_way += 1;
            }
            built += 1;
        }
        self.hand_on(0, 0)?;
        Ok(built)
    }

    fn build(&self, &Request { slot, op, length_bytes, offset_bytes }: &Request) -> HRESULT {
        let handle: HANDLE = raw(&self.file);
        let file = IORING_HANDLE_REF { Kind: IORING_REF_RAW, Handle: IORING_HANDLE_REF_0 { Handle: handle } };
        let address: *mut c_void = self.buffers[slot as usize].cast();
        let buffer =
            IORING_BUFFER_REF { Kind: IORING_REF_RAW, Buffer: IORING_BUFFER_REF_0 { Address: address } };
        let (calls, ring, slot) = (self.calls, self.ring, slot as usize);
        // SAFETY: the ring and the file are open; the slot's buffer is at least a block long, and stays where it is
        // until the request has completed.
        unsafe {
            match op {
                Op::Read => {
                    (calls.read)(ring, file, buffer, length_bytes, offset_bytes, slot, IOSQE_FLAGS_NONE)
                }
                Op::Write => {
                    let flags = FILE_WRITE_FLAGS_NONE;
                    (calls.write)(
                        ring,
                        file,
                        buffer,
                        length_bytes,
                        offset_bytes,
                        flags,
                        slot,
                        IOSQE_FLAGS_NONE,
                    )
                }
                Op::Flush | Op::Trim => (calls.flush)(ring, file, FILE_FLUSH_DEFAULT, slot, IOSQE_FLAGS_NONE),
            }
        }
    }

    /// Hands on what was built, and waits for completions.
    fn hand_on(&self, wait_for: u32, wait_ms: u32) -> io::Result<()> {
        let mut handed_on = 0;
        // SAFETY: the ring is open, and the count is a place of ours.
        match unsafe { (self.calls.submit)(self.ring, wait_for, wait_ms, &raw mut handed_on) } {
            told if told >= 0 || told == WAIT_TIMEOUT => Ok(()),
            told => Err(io::Error::from_raw_os_error(-result(told, 0))),
        }
    }

    /// Appends completions, waiting at most `wait_ns` for the first.
    pub(crate) fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        let before = done.len();
        done.append(&mut self.at_once);
        self.take(done);
        if done.len() > before || wait_ns == 0 || self.under_way == 0 {
            return Ok(());
        }
        // Rounded down: who waits too short looks again, who waits too long is late.
        let wait_ms = match wait_ns {
            u64::MAX => INFINITE,
            ns => u32::try_from(ns / 1_000_000).unwrap_or(INFINITE - 1),
        };
        self.hand_on(1, wait_ms)?;
        self.take(done);
        Ok(())
    }

    fn take(&mut self, done: &mut Completions) {
        let mut entry = IORING_CQE::default();
        // SAFETY: the ring is open, and the entry is a place of ours. Zero is an entry, one is none.
        while unsafe { (self.calls.pop)(self.ring, &raw mut entry) } == 0 {
            let slot = entry.UserData as u32;
            done.push(Completion { slot, result: result(entry.ResultCode, entry.Information) });
            self.under_way -= 1;
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the ring is open. What is under way completes before this returns; where requests never came back
        // this is not dropped at all.
        unsafe { (self.calls.close)(self.ring) };
    }
}

/// A completion's result as requests have them: bytes, or a negative error number of Windows.
fn result(code: HRESULT, moved: usize) -> i32 {
    let code = code.cast_unsigned();
    match code {
        _ if code >> 31 == 0 && code & OF_NT == 0 => moved as i32,
        // SAFETY: a number becomes another.
        _ if code & OF_NT != 0 => failed(unsafe { RtlNtStatusToDosError((code & !OF_NT).cast_signed()) }),
        _ if code & 0xffff_0000 == OF_WIN32 => failed(code & 0xffff),
        _ => failed(code & 0x7fff_ffff),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_bytes_or_the_errors_of_windows() {
        let of = |code: u32, moved| result(code.cast_signed(), moved);
        assert_eq!(of(0, 4096), 4096);
        assert_eq!(of(0x8007_0005, 0), -5, "access denied");
        assert_eq!(of(0x8007_0026, 0), 0, "the end of a file");
        assert_eq!(of(0xd000_0011, 0), 0, "STATUS_END_OF_FILE");
        assert_eq!(of(0xd000_0022, 0), -5, "STATUS_ACCESS_DENIED");
        assert!(of(0x8046_0002, 0) < 0, "an error of the ring itself");
    }
}

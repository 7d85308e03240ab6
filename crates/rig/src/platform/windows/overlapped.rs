//! Overlapped requests through a completion port, and files opened again for an engine.

use std::{
    cell::UnsafeCell,
    fs::File,
    io,
    mem::zeroed,
    os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle},
    ptr,
};

use iosonde_model::{Op, Sync};
use windows_sys::{
    Wdk::Foundation::{NtQueryObject, ObjectBasicInformation},
    Win32::{
        Foundation::{
            ERROR_HANDLE_EOF, ERROR_IO_PENDING, ERROR_NOT_SUPPORTED, GENERIC_READ, GENERIC_WRITE,
            INVALID_HANDLE_VALUE, RtlNtStatusToDosError, WAIT_TIMEOUT,
        },
        Storage::FileSystem::{
            FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH, FILE_WRITE_DATA,
            FlushFileBuffers, ReadFile, SetFileCompletionNotificationModes, WriteFile,
        },
        System::{
            IO::{
                CancelIoEx, CreateIoCompletionPort, GetQueuedCompletionStatusEx, OVERLAPPED, OVERLAPPED_ENTRY,
            },
            Threading::INFINITE,
            WindowsProgramming::PUBLIC_OBJECT_BASIC_INFORMATION,
        },
    },
};

use super::handle::{raw, reopen};
use crate::engine::{Bench, Completion, Completions, Request};

/// FILE_SKIP_COMPLETION_PORT_ON_SUCCESS and FILE_SKIP_SET_EVENT_ON_HANDLE.
const NO_PACKET_ON_SUCCESS: u8 = 1 | 2;

/// Opens the file of a bench again as its workload asks; never with more rights than the handle has that was judged.
pub(super) fn reopened(file: &File, bench: &Bench, flags: u32) -> io::Result<File> {
    let durable = matches!(bench.sync, Sync::Dsync | Sync::Osync);
    let flags = flags
        | if bench.direct { FILE_FLAG_NO_BUFFERING } else { 0 }
        | if durable { FILE_FLAG_WRITE_THROUGH } else { 0 };
    let access = GENERIC_READ | if may_write(file) { GENERIC_WRITE } else { 0 };
    reopen(file, access, flags)
}

/// Whether a handle was opened for writing.
fn may_write(file: &File) -> bool {
    // SAFETY: plain numbers, which the system fills in; the length is told.
    let (told, status) = unsafe {
        let mut told: PUBLIC_OBJECT_BASIC_INFORMATION = zeroed();
        let length = size_of::<PUBLIC_OBJECT_BASIC_INFORMATION>() as u32;
        let place = (&raw mut told).cast();
        let status = NtQueryObject(raw(file), ObjectBasicInformation, place, length, ptr::null_mut());
        (told, status)
    };
    status >= 0 && told.GrantedAccess & FILE_WRITE_DATA != 0
}

/// A result as requests have them: a negative error number of Windows; the end of a file is a transfer of nothing.
pub(super) fn failed(code: u32) -> i32 {
    if code == ERROR_HANDLE_EOF { 0 } else { -(code.max(1) as i32) }
}

/// The last error as a result.
pub(super) fn last_error() -> i32 {
    failed(io::Error::last_os_error().raw_os_error().map_or(0, |code| code as u32))
}

/// Flushes a file; returns when the device says that everything written to it is durable.
pub(super) fn flush(file: &File) -> i32 {
    // SAFETY: the call touches no memory of ours.
    if unsafe { FlushFileBuffers(raw(file)) } == 0 { last_error() } else { 0 }
}

/// Windows trims no part of a file on request.
pub(super) const NO_TRIM: i32 = -(ERROR_NOT_SUPPORTED as i32);

/// Makes the place of a transfer.
pub(super) fn place(overlapped: &mut OVERLAPPED, offset_bytes: u64) {
    overlapped.Anonymous.Anonymous.Offset = offset_bytes as u32;
    overlapped.Anonymous.Anonymous.OffsetHigh = (offset_bytes >> 32) as u32;
}

/// A file whose requests complete through a port of its own.
pub(crate) struct Port {
    file: File,
    port: OwnedHandle,
    buffers: Box<[*mut u8]>,
    /// What the system knows of each slot's request. It writes there until the request has completed.
    requests: Box<[UnsafeCell<OVERLAPPED>]>,
    entries: Box<[OVERLAPPED_ENTRY]>,
    /// A request that ends at once sends no packet.
    skips: bool,
    /// What ended at once; it has room for every slot.
    at_once: Completions,
}

impl Port {
    /// Opens the bench's file again and its port.
    pub(crate) fn open(file: &File, bench: &Bench) -> io::Result<Self> {
        let file = reopened(file, bench, FILE_FLAG_OVERLAPPED)?;
        // SAFETY: the file's handle is open; the port is new and nobody else's.
        let port = unsafe {
            let port = CreateIoCompletionPort(raw(&file), ptr::null_mut(), 0, 1);
            if port.is_null() || port == INVALID_HANDLE_VALUE {
                return Err(io::Error::last_os_error());
            }
            OwnedHandle::from_raw_handle(port)
        };
        // SAFETY: the call changes a setting of the handle.
        let skips = unsafe { SetFileCompletionNotificationModes(raw(&file), NO_PACKET_ON_SUCCESS) } != 0;
        let slots = bench.buffers.slots();
        // SAFETY: both are plain numbers and addresses, for which zeros are a value.
        let (request, entry): (fn() -> OVERLAPPED, OVERLAPPED_ENTRY) = unsafe { (|| zeroed(), zeroed()) };
        Ok(Self {
            file,
            port,
            buffers: (0..slots).map(|slot| bench.buffers.slot(slot)).collect(),
            requests: (0..slots).map(|_| UnsafeCell::new(request())).collect(),
            entries: vec![entry; slots as usize].into(),
            skips,
            at_once: Completions::with_capacity(slots as usize),
        })
    }

    /// Starts requests, in order.
    pub(crate) fn start(&mut self, requests: &[Request]) {
        for request in requests {
            if let Some(result) = self.start_one(request) {
                self.at_once.push(Completion { slot: request.slot, result });
            }
        }
    }

    /// Starts a request; its result where it has ended already and sends no packet.
    #[inline]
    fn start_one(&self, &Request { slot, op, length_bytes, offset_bytes }: &Request) -> Option<i32> {
        let buffer = self.buffers[slot as usize];
        let overlapped = self.requests[slot as usize].get();
        // SAFETY: the slot has no request under way, so that the system neither reads nor writes its structure; it and
        // the buffer, which is at least a block long, stay where they are until the request has completed.
        let done = unsafe {
            overlapped.write(zeroed());
            place(&mut *overlapped, offset_bytes);
            match op {
                Op::Read => ReadFile(raw(&self.file), buffer, length_bytes, ptr::null_mut(), overlapped),
                Op::Write => WriteFile(raw(&self.file), buffer, length_bytes, ptr::null_mut(), overlapped),
                Op::Trim => return Some(NO_TRIM),
                Op::Flush => return Some(flush(&self.file)),
            }
        };
        if done != 0 {
            // SAFETY: the request has ended; with a packet to come the structure is not looked at.
            return self.skips.then(|| unsafe { (*overlapped).InternalHigh } as i32);
        }
        match io::Error::last_os_error().raw_os_error().map_or(0, |code| code as u32) {
            ERROR_IO_PENDING => None,
            code => Some(failed(code)),
        }
    }

    /// Appends completions, waiting at most `wait_ns` for the first.
    pub(crate) fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        let wait_ms = match (self.at_once.is_empty(), wait_ns) {
            (false, _) => 0,
            (true, u64::MAX) => INFINITE,
            // Rounded down: who waits too short looks again, who waits too long is late.
            (true, ns) => u32::try_from(ns / 1_000_000).unwrap_or(INFINITE - 1),
        };
        done.append(&mut self.at_once);
        let mut count = 0;
        // SAFETY: the entries are there, as many as told; the system fills in the first `count`.
        let got = unsafe {
            GetQueuedCompletionStatusEx(
                self.port.as_raw_handle(),
                self.entries.as_mut_ptr(),
                self.entries.len() as u32,
                &raw mut count,
                wait_ms,
                0,
            )
        };
        if got == 0 {
            let error = io::Error::last_os_error();
            return if error.raw_os_error() == Some(WAIT_TIMEOUT as i32) { Ok(()) } else { Err(error) };
        }
        let first = self.requests.as_ptr() as usize;
        for entry in &self.entries[..count as usize] {
            let slot = (entry.lpOverlapped as usize - first) / size_of::<UnsafeCell<OVERLAPPED>>();
            // SAFETY: the request of this slot has completed, so that the system no longer writes to it.
            let status = unsafe { (*self.requests[slot].get()).Internal } as i32;
            let result = if status >= 0 {
                entry.dwNumberOfBytesTransferred as i32
            } else {
                // SAFETY: a number becomes another.
                failed(unsafe { RtlNtStatusToDosError(status) })
            };
            done.push(Completion { slot: slot as u32, result });
        }
        Ok(())
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        // SAFETY: the handle is open. What is cancelled completes before the handle is closed; where requests never
        // came back this is not dropped at all.
        unsafe { CancelIoEx(raw(&self.file), ptr::null()) };
    }
}

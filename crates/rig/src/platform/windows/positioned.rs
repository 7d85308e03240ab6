//! One request as one call that returns when the storage has answered: `ReadFile`, `WriteFile`, `FlushFileBuffers`.

use std::{fs::File, io, mem::zeroed, sync::Arc};

use iosonde_model::{LoopNote, Op};
use windows_sys::Win32::{
    Storage::FileSystem::{ReadFile, WriteFile},
    System::IO::OVERLAPPED,
};

use super::{
    handle::raw,
    overlapped::{NO_TRIM, flush, last_error, place, reopened},
};
use crate::engine::{Bench, EngineOption, Request, Unavailable};

/// What can be asked of the calls: nothing on Windows.
pub(crate) const OPTIONS: &[EngineOption] = &[];

/// Whether the calls can write a stream to new files.
pub(crate) const MAKES_FILES: bool = false;

/// Tries an option: there is none.
pub(crate) fn try_option(_file: &File, _option: &str) -> Result<(), Unavailable> {
    Ok(())
}

/// An open file, and how its calls are made.
pub(crate) struct Positioned {
    file: File,
    slots: Box<[*mut u8]>,
}

impl Positioned {
    /// Opens the file again as the workload asks.
    pub(crate) fn open(file: &Arc<File>, bench: &Bench) -> io::Result<Self> {
        let slots = (0..bench.buffers.slots()).map(|slot| bench.buffers.slot(slot)).collect();
        Ok(Self { file: reopened(file, bench, 0)?, slots })
    }

    /// Makes one request and returns its result.
    #[inline]
    pub(crate) fn call(&mut self, &Request { slot, op, length_bytes, offset_bytes }: &Request) -> i32 {
        let buffer = self.slots[slot as usize];
        let mut moved = 0;
        // SAFETY: a handle without FILE_FLAG_OVERLAPPED reads or writes at the place that the structure tells, and the
        // call returns when it is done. The slot's buffer is at least a block long, and nobody else uses it.
        let done = unsafe {
            let mut at: OVERLAPPED = zeroed();
            place(&mut at, offset_bytes);
            match op {
                Op::Read => ReadFile(raw(&self.file), buffer, length_bytes, &raw mut moved, &raw mut at),
                Op::Write => WriteFile(raw(&self.file), buffer, length_bytes, &raw mut moved, &raw mut at),
                Op::Trim => return NO_TRIM,
                Op::Flush => return flush(&self.file),
            }
        };
        if done == 0 { last_error() } else { moved as i32 }
    }

    /// Returns notes for the reader that are known only after the run: none.
    pub(crate) fn remarks(&self) -> Vec<LoopNote> {
        Vec::new()
    }
}

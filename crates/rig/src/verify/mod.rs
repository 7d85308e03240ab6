//! Verification: each written block says what it is, and is read back after the trial.
//!
//! A block (of the workload's smallest size) carries its offset, the trial that wrote it, its generation and
//! a checksum; every 512 B of it carry a mark of their own, so that a block made of two writes is told from
//! one that was damaged nowhere. A [ledger](Ledger) in memory knows the last generation that each block was
//! given. Once the trial has drained and its witnesses have been read, the blocks that it wrote are read
//! back, in order and many at a time, and judged:
//!
//! * **lost**: nothing of this trial is there; what was there before still is;
//! * **stale**: an earlier write of this trial;
//! * **misplaced**: a whole block of this trial that belongs elsewhere;
//! * **torn**: parts of different writes, or damage;
//! * **unreadable**: reading it failed.
//!
//! Two writes to one block are never outstanding together, since it would be undefined which of them should be
//! there: the later one waits its turn and others go ahead. A block whose last write failed is not judged,
//! for the same reason. Buffered trials are read back from the storage, not from memory: their pages are
//! written out and dropped first.
//!
//! A workload that only reads has no ledger. It can be verified where an earlier one wrote marks: each block is then
//! judged as it arrives, for what it says of itself (torn, misplaced). That takes time inside the measured loop, 20 µs
//! for 1 MiB, which counts as the program's own.

mod judge;
mod ledger;
mod mark;
mod problem;
mod read_back;
mod reads;
mod transfer;
mod writes;

#[cfg(test)]
mod tests;

use std::io;

use iosonde_model::{LoopNote, TrialSpec, Verification};

use crate::{
    buffer::BufferPool,
    clock::Clock,
    engine::{Request, Storage},
    offset::{Draw, Offsets},
    placement::Lane,
};

pub use self::{
    ledger::Ledger,
    mark::{BlockMark, SECTOR_BYTES, WriterId},
    problem::{Unfit, problem},
    read_back::read_back,
    transfer::{Transfer, Way},
};
use self::{reads::Reads, writes::Writes};

/// Verification settings of one trial.
#[derive(Debug, Clone)]
pub struct VerifyPlan {
    writer: WriterId,
    /// For each stream that reads what was marked earlier, the size of the blocks.
    marked_bytes: Vec<Option<u64>>,
}

impl VerifyPlan {
    /// Looks at the workload and at what the storage holds; refuses with an [`Unfit`] what cannot be verified.
    pub fn new(storage: &Storage, spec: &TrialSpec, seed: u64, clock: &Clock) -> io::Result<Self> {
        if let Some(why) = problem(spec) {
            return Err(Unfit(why).into());
        }
        let marked_bytes = |stream: &TrialSpec| match storage {
            Storage::File(file) if stream.verify && !stream.rw.writes() => {
                Ok(Some(reads::marked_bytes(file, stream)?))
            }
            _ => Ok(None),
        };
        Ok(Self {
            writer: WriterId::new(seed, clock),
            marked_bytes: spec.streams().map(marked_bytes).collect::<io::Result<_>>()?,
        })
    }

    /// Returns the verification of one job of a stream, within the part that it addresses.
    pub fn job(&self, stream: usize, spec: &TrialSpec, lane: Lane) -> Option<Verify> {
        if !spec.verify {
            return None;
        }
        if spec.rw.writes() {
            let from_bytes = lane.write_base_bytes;
            let ledger = Ledger::new(from_bytes..from_bytes + lane.length_bytes, problem::block_bytes(spec));
            return Some(Verify::Writes(Writes::new(ledger, self.writer)));
        }
        self.marked_bytes[stream].map(|block_bytes| Verify::Reads(Reads::new(block_bytes)))
    }

    /// Returns the identity under which this trial marks its blocks.
    pub fn writer(&self) -> WriterId {
        self.writer
    }
}

/// Verification task of the measured loop of a job.
#[derive(Debug)]
pub enum Verify {
    /// Marks what is written and keeps the ledger.
    Writes(Writes),
    /// Judges what is read.
    Reads(Reads),
}

impl Verify {
    /// Draws the next request; `None` if none may be sent before a write has completed.
    #[inline]
    pub fn draw(&mut self, offsets: &mut Offsets) -> Option<Draw> {
        match self {
            Self::Writes(writes) => writes.draw(offsets),
            Self::Reads(_) => Some(offsets.draw()),
        }
    }

    /// Marks the buffer of a write that is about to be sent.
    #[inline]
    pub fn issue(&mut self, buffers: &BufferPool, request: &Request) {
        if let Self::Writes(writes) = self {
            writes.issue(buffers, request);
        }
    }

    /// Reverts [`Verify::issue`] for a write that was not sent after all.
    pub fn take_back(&mut self, request: &Request) {
        if let Self::Writes(writes) = self {
            writes.take_back(request);
        }
    }

    /// Records the completion of a request; `result` is the bytes moved or a negative errno.
    #[inline]
    pub fn complete(&mut self, buffers: &BufferPool, request: &Request, result: i32) {
        match self {
            Self::Writes(writes) => writes.complete(request, result),
            Self::Reads(reads) => reads.complete(buffers, request, result),
        }
    }

    /// Returns the blocks to read back now.
    pub fn ledger(&self) -> Option<&Ledger> {
        match self {
            Self::Writes(writes) => Some(writes.ledger()),
            Self::Reads(_) => None,
        }
    }

    /// Returns the result of checks made during the trial.
    pub fn found(&self) -> Option<Verification> {
        match self {
            Self::Writes(_) => None,
            Self::Reads(reads) => Some(reads.found()),
        }
    }

    /// Returns a note for the reader.
    pub fn note(&self) -> Option<LoopNote> {
        match self {
            Self::Writes(_) => None,
            Self::Reads(reads) => reads.note(),
        }
    }
}

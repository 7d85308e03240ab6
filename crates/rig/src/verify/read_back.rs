//! Reading back what a job wrote, once it has drained: in order, in pieces of up to 1 MiB, many at a time.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::{Op, Sync, TrialSpec, Verification};

use super::{Ledger, WriterId, judge};
use crate::{
    buffer::BufferPool,
    clock::Clock,
    drive::{HUNG_AFTER_NS, WAIT_NS},
    engine::{self, Bench, Completions, Engine, Opened, Request, Storage},
    prepare,
};

/// The largest piece, unless a block is larger.
const PIECE_BYTES: u64 = 1 << 20;
/// Queue depth of the pieces.
const DEPTH: u32 = 16;
/// Unwritten bytes that are read along with what lies around them: a further request would take as long.
const GAP_BYTES: u64 = 64 << 10;

/// Reads back every block that the ledger knows, through the engine that wrote it. A raised `stop` ends it early.
pub fn read_back(
    storage: &Storage,
    (spec, job): (&TrialSpec, u32),
    ledger: &Ledger,
    writer: WriterId,
    stop: &AtomicBool,
) -> io::Result<Verification> {
    if let (Storage::File(file), false) = (storage, spec.direct) {
        prepare::drop_pages(file, ledger.offset_bytes(0)..ledger.offset_bytes(ledger.blocks()));
    }
    let (kind, options) = engine::named(&spec.engine).map_err(io::Error::other)?;
    let depth = DEPTH.min(kind.probe(storage).map_err(io::Error::other)?.depth_max);
    let simulated = matches!(storage, Storage::Simulated(_));
    let block_bytes = ledger.block_bytes();
    // A fault of a simulated device is a request's: block by block it hits one.
    let most = if simulated { 1 } else { (PIECE_BYTES / block_bytes).max(1) as usize };
    let new_pool = if simulated { BufferPool::unused } else { BufferPool::new };
    let buffers = new_pool(depth, most as u64 * block_bytes)?;
    let (sync, direct) = (Sync::None, spec.direct);
    let bench = Bench {
        storage,
        depth,
        buffers: &buffers,
        direct,
        sync,
        options: &options,
        verify: true,
        job,
        new_files: None,
    };
    let Opened { engine, clock, .. } = kind.open(&bench)?;
    let mut back = Back {
        engine,
        clock,
        buffers,
        ledger,
        writer,
        pieces: vec![Piece { first: 0, blocks: 0 }; depth as usize].into(),
        idle: (0..depth).collect(),
        in_flight: 0,
        failed: Vec::new(),
        found: Verification::default(),
    };
    let gap = (GAP_BYTES / block_bytes) as usize;
    let read = back.all(Pieces { ledger, next: 0, most, gap }, stop);
    let found = back.found;
    if back.in_flight > 0 {
        // Requests that never completed may still write into the buffers.
        std::mem::forget(back);
    }
    read.map(|()| found)
}

/// Blocks that one request reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    first: usize,
    blocks: usize,
}

/// The written blocks in order, in pieces that begin and end with one.
struct Pieces<'a> {
    ledger: &'a Ledger,
    next: usize,
    most: usize,
    gap: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let all = self.ledger.blocks();
        let written = |block: &usize| self.ledger.expected(*block).is_some();
        let first = (self.next..all).find(written)?;
        let mut end = first + 1;
        for block in first + 1..all.min(first + self.most) {
            if written(&block) {
                end = block + 1;
            } else if block - end >= self.gap {
                break;
            }
        }
        self.next = end;
        Some(Piece { first, blocks: end - first })
    }
}

struct Back<'a> {
    engine: Box<dyn Engine>,
    clock: Clock,
    buffers: BufferPool,
    ledger: &'a Ledger,
    writer: WriterId,
    /// Piece that each slot reads.
    pieces: Box<[Piece]>,
    idle: Vec<u32>,
    in_flight: u64,
    /// Blocks that did not arrive.
    failed: Vec<usize>,
    found: Verification,
}

impl Back<'_> {
    /// Reads all pieces, and what did not arrive once more block by block: one bad block shall not hide its neighbours.
    fn all(&mut self, pieces: Pieces, stop: &AtomicBool) -> io::Result<()> {
        self.read(pieces, stop)?;
        // Once something never came back, asking again would only wait as long again.
        if self.in_flight == 0 {
            let again = std::mem::take(&mut self.failed);
            self.read(again.into_iter().map(|first| Piece { first, blocks: 1 }), stop)?;
        }
        let unreadable = self.failed.len() as u64;
        self.found.checked += unreadable;
        self.found.unreadable += unreadable;
        Ok(())
    }

    fn read(&mut self, mut pieces: impl Iterator<Item = Piece>, stop: &AtomicBool) -> io::Result<()> {
        let mut pending: Vec<Request> = Vec::new();
        let mut done = Completions::with_capacity(self.pieces.len());
        let mut last_ns = self.clock.now_ns();
        loop {
            while !self.idle.is_empty() && !stop.load(Ordering::Relaxed) {
                let Some(piece) = pieces.next() else { break };
                let slot = self.idle.pop().expect("it is not empty");
                self.pieces[slot as usize] = piece;
                pending.push(self.request(slot));
            }
            if pending.is_empty() && self.in_flight == 0 {
                return Ok(());
            }
            let taken = self.engine.submit(self.clock.now_ns(), &pending)?;
            self.in_flight += taken as u64;
            pending.drain(..taken);
            done.clear();
            let comes = self.wait(&mut done)?;
            let now_ns = self.clock.now_ns();
            last_ns = if done.is_empty() { last_ns } else { now_ns };
            self.in_flight -= done.len() as u64;
            for completion in &done {
                self.judge(completion.slot, completion.result);
                self.idle.push(completion.slot);
            }
            if !comes || now_ns - last_ns > HUNG_AFTER_NS {
                self.give_up();
                return Ok(());
            }
        }
    }

    fn request(&self, slot: u32) -> Request {
        let Piece { first, blocks } = self.pieces[slot as usize];
        Request {
            slot,
            op: Op::Read,
            length_bytes: (blocks as u64 * self.ledger.block_bytes()) as u32,
            offset_bytes: self.ledger.offset_bytes(first),
        }
    }

    /// Waits for completions; returns false if none will come.
    fn wait(&mut self, done: &mut Completions) -> io::Result<bool> {
        if let Clock::Virtual(clock) = &self.clock {
            let Some(at_ns) = self.engine.next_event_ns() else { return Ok(false) };
            clock.advance_to(at_ns);
        }
        self.engine.reap(WAIT_NS, done)?;
        Ok(true)
    }

    fn judge(&mut self, slot: u32, result: i32) {
        let Piece { first, blocks } = self.pieces[slot as usize];
        let block_bytes = self.ledger.block_bytes() as usize;
        let arrived = result.max(0) as usize / block_bytes;
        // SAFETY: the slot's request has completed, and the slot has not been given to another.
        let bytes = unsafe { self.buffers.bytes(slot, arrived * block_bytes) };
        for number in 0..blocks {
            let block = first + number;
            let Some(generation) = self.ledger.expected(block) else { continue };
            if number >= arrived {
                self.failed.push(block);
            } else {
                let bytes = &bytes[number * block_bytes..][..block_bytes];
                let offset_bytes = self.ledger.offset_bytes(block);
                judge::written(bytes, offset_bytes, self.writer, generation).count(&mut self.found);
            }
        }
    }

    /// Counts outstanding reads as unreadable: they never complete.
    fn give_up(&mut self) {
        for slot in (0..self.pieces.len() as u32).filter(|slot| !self.idle.contains(slot)) {
            let Piece { first, blocks } = self.pieces[slot as usize];
            let written = |block: &usize| self.ledger.expected(*block).is_some();
            let unreadable = (first..first + blocks).filter(written).count() as u64;
            self.found.checked += unreadable;
            self.found.unreadable += unreadable;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_hold_every_written_block_once_and_begin_and_end_with_one(
            written in prop::collection::vec(any::<bool>(), 1..300), most in 1usize..40, gap in 0usize..10,
        ) {
            let mut ledger = Ledger::new(0..written.len() as u64 * 512, 512);
            for (block, _) in written.iter().enumerate().filter(|&(_, &written)| written) {
                ledger.issue(block as u64 * 512, 512, |_, _| ());
                ledger.complete(block as u64 * 512, 512, 512);
            }
            let pieces: Vec<Piece> = Pieces { ledger: &ledger, next: 0, most, gap }.collect();
            let mut read = vec![0; written.len()];
            for Piece { first, blocks } in pieces {
                prop_assert!((1..=most).contains(&blocks));
                prop_assert!(written[first] && written[first + blocks - 1]);
                read[first..first + blocks].iter_mut().for_each(|count| *count += 1);
                let unread = written[first..first + blocks].split(|&written| written).map(<[bool]>::len).max();
                prop_assert!(unread.unwrap_or(0) <= gap);
            }
            let as_due = |(&written, read): (&bool, u32)| read == 1 || (!written && read == 0);
            prop_assert!(written.iter().zip(read).all(as_due));
        }
    }
}

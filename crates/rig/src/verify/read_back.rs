//! Reading back what a job wrote, once it has drained: in order, in pieces of up to 1 MiB, many at a time.

use std::{io, sync::atomic::AtomicBool};

use iosonde_model::{Op, TrialSpec, Verification};

use super::{
    Ledger, WriterId, judge,
    transfer::{Transfer, Way},
};
use crate::{
    engine::{Request, Storage},
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
    let simulated = matches!(storage, Storage::Simulated(_));
    let block_bytes = ledger.block_bytes();
    // A fault of a simulated device is a request's: block by block it hits one.
    let most = if simulated { 1 } else { (PIECE_BYTES / block_bytes).max(1) as usize };
    let (engine, direct, largest_bytes) = (spec.engine.as_str(), spec.direct, most as u64 * block_bytes);
    let transfer = Transfer::open(Way { storage, engine, direct, job, depth: DEPTH, largest_bytes })?;
    let found = Verification::default();
    let mut back = Back { transfer, ledger, writer, failed: Vec::new(), found };
    let gap = (GAP_BYTES / block_bytes) as usize;
    back.all(Pieces { ledger, next: 0, most, gap }, stop)?;
    Ok(back.found)
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
    transfer: Transfer,
    ledger: &'a Ledger,
    writer: WriterId,
    /// Blocks that did not arrive.
    failed: Vec<usize>,
    found: Verification,
}

impl Back<'_> {
    /// Reads all pieces, and what did not arrive once more block by block: one bad block shall not hide its neighbours.
    fn all(&mut self, pieces: Pieces, stop: &AtomicBool) -> io::Result<()> {
        // Once something never came back, asking again would only wait as long again.
        if self.read(pieces, stop)? {
            let again = std::mem::take(&mut self.failed);
            self.read(again.into_iter().map(|first| Piece { first, blocks: 1 }), stop)?;
        }
        let unreadable = self.failed.len() as u64;
        self.found.checked += unreadable;
        self.found.unreadable += unreadable;
        Ok(())
    }

    /// Reads pieces; returns false if some never came back: these count as unreadable.
    fn read(&mut self, mut pieces: impl Iterator<Item = Piece>, stop: &AtomicBool) -> io::Result<bool> {
        let Self { transfer, ledger, writer, failed, found } = self;
        let block_bytes = ledger.block_bytes();
        let next = |slot, _: &mut [u8]| {
            let Piece { first, blocks } = pieces.next()?;
            let length_bytes = (blocks as u64 * block_bytes) as u32;
            Some(Request { slot, op: Op::Read, length_bytes, offset_bytes: ledger.offset_bytes(first) })
        };
        let blocks_of = |request: &Request| {
            let first = (request.offset_bytes - ledger.offset_bytes(0)) / block_bytes;
            (first..first + u64::from(request.length_bytes) / block_bytes).map(|block| block as usize)
        };
        let done = |request: Request, _: i32, bytes: &[u8]| {
            let mut arrived = bytes.chunks_exact(block_bytes as usize);
            for block in blocks_of(&request) {
                let bytes = arrived.next();
                let Some(generation) = ledger.expected(block) else { continue };
                match bytes {
                    None => failed.push(block),
                    Some(bytes) => {
                        let offset_bytes = ledger.offset_bytes(block);
                        judge::written(bytes, offset_bytes, *writer, generation).count(found);
                    }
                }
            }
        };
        let hung = transfer.run(next, done, stop)?;
        let written = |block: &usize| ledger.expected(*block).is_some();
        let unreadable = hung.iter().flat_map(blocks_of).filter(written).count() as u64;
        found.checked += unreadable;
        found.unreadable += unreadable;
        Ok(hung.is_empty())
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

//! Writing so that it can be read back: marks, the ledger, and never two outstanding writes to one block.

use iosonde_model::Op;

use super::{ledger::Ledger, mark::WriterId};
use crate::{
    buffer::BufferPool,
    engine::Request,
    offset::{Draw, Offsets},
};

/// Writes that wait for an earlier one to the same block while others go ahead. Only their order changes: drawing anew
/// instead would change the mix, and leave blocks out that are to be written once.
const WAITING: usize = 16;

/// Verification of the writes of one job.
#[derive(Debug)]
pub struct Writes {
    ledger: Ledger,
    marks: WriterId,
    waiting: Vec<Draw>,
}

impl Writes {
    /// Makes a verification before the first write.
    pub fn new(ledger: Ledger, marks: WriterId) -> Self {
        Self { ledger, marks, waiting: Vec::with_capacity(WAITING) }
    }

    /// Ledger of the blocks that were written.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Draws the next request that may be sent now; `None` while all drawn writes wait for earlier ones.
    #[inline]
    pub fn draw(&mut self, offsets: &mut Offsets) -> Option<Draw> {
        for n in 0..self.waiting.len() {
            let (_, offset_bytes, length_bytes) = self.waiting[n];
            // Those that wait for one block keep their order: the first that is free is the first that came.
            if self.ledger.is_free(offset_bytes, length_bytes) {
                return Some(self.waiting.remove(n));
            }
        }
        while self.waiting.len() < WAITING {
            let (op, offset_bytes, length_bytes) = offsets.draw();
            if op != Op::Write || self.ledger.is_free(offset_bytes, length_bytes) {
                return Some((op, offset_bytes, length_bytes));
            }
            self.waiting.push((op, offset_bytes, length_bytes));
        }
        None
    }

    /// Gives a write its generations and its buffer their marks.
    #[inline]
    pub fn issue(&mut self, buffers: &BufferPool, request: &Request) {
        let &Request { slot, op, length_bytes, offset_bytes } = request;
        if op != Op::Write {
            return;
        }
        let block_bytes = self.ledger.block_bytes() as usize;
        let writer = self.marks;
        // SAFETY: the request has not been sent, so neither the kernel nor anybody here looks at its buffer.
        let bytes = unsafe { buffers.bytes(slot, length_bytes as usize) };
        self.ledger.issue(offset_bytes, length_bytes, |at_bytes, generation| {
            let block = &mut bytes[at_bytes as usize..][..block_bytes];
            writer.write(block, offset_bytes + at_bytes, generation);
        });
    }

    /// Reverts [`Writes::issue`] for a request that was not sent after all.
    pub fn take_back(&mut self, request: &Request) {
        if request.op == Op::Write {
            self.ledger.take_back(request.offset_bytes, request.length_bytes);
        }
    }

    /// Records the completion of a request.
    #[inline]
    pub fn complete(&mut self, request: &Request, result: i32) {
        if request.op == Op::Write {
            self.ledger.complete(request.offset_bytes, request.length_bytes, result);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use iosonde_model::{Rw, TrialSpec};

    proptest! {
        #[test]
        fn no_block_is_written_twice_at_a_time_and_nothing_drawn_is_left_out(
            blocks in 1u64..40, depth in 1usize..40, seed: u64,
        ) {
            let span_bytes = blocks * 4096;
            let block_sizes = "4k:1,8k:1".parse().unwrap();
            let spec = TrialSpec { rw: Rw::RandRw, block_sizes, span_bytes, ..TrialSpec::default() };
            let spec = TrialSpec { block_size_bytes: 8192, span_bytes: span_bytes + 4096, ..spec };
            let (mut offsets, mut plain) = (Offsets::new(&spec, 0, seed), Offsets::new(&spec, 0, seed));
            let mut writes = Writes::new(Ledger::new(0..spec.span_bytes, 4096), WriterId { trial: 1, seed });
            let (mut out, mut sent): (VecDeque<Request>, Vec<Draw>) = (VecDeque::new(), Vec::new());
            let buffers = BufferPool::new(1, 8192).unwrap();
            for _ in 0..400 {
                let draw = if out.len() < depth { writes.draw(&mut offsets) } else { None };
                let Some((op, offset_bytes, length_bytes)) = draw else {
                    // Something is out, or it could have been sent.
                    let done = out.pop_front().unwrap();
                    writes.complete(&done, done.length_bytes as i32);
                    continue;
                };
                sent.push((op, offset_bytes, length_bytes));
                let request = Request { slot: 0, op, length_bytes, offset_bytes };
                let end_bytes = |r: &Request| r.offset_bytes + u64::from(r.length_bytes);
                let apart = |other: &Request| {
                    end_bytes(other) <= offset_bytes || end_bytes(&request) <= other.offset_bytes
                };
                prop_assert!(op == Op::Read || out.iter().all(|other| other.op == Op::Read || apart(other)));
                writes.issue(&buffers, &request);
                out.push_back(request);
            }
            // The draws are those without verification, in another order.
            let mut expected: Vec<Draw> = (0..sent.len() + writes.waiting.len()).map(|_| plain.draw()).collect();
            sent.extend(&writes.waiting);
            sent.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(sent, expected);
        }
    }
}

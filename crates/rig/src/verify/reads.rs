//! Judging blocks as they are read, where an earlier workload marked them.

use std::{fs::File, io};

use iosonde_model::{LoopNote, Op, TrialSpec, Verification, units::size};

use super::{
    Unfit, judge,
    mark::{BlockMark, SECTOR_BYTES},
    problem::block_bytes,
};
use crate::{buffer::BufferPool, engine::Request, platform::files};

/// Blocks looked at before the trial: so many at the beginning, and so many all over the span.
const LOOKED_AT: u64 = 16;

/// Verification of the reads of one job.
#[derive(Debug)]
pub struct Reads {
    block_bytes: u64,
    found: Verification,
}

impl Reads {
    /// Makes a verification of blocks of this size.
    pub fn new(block_bytes: u64) -> Self {
        Self { block_bytes, found: Verification::default() }
    }

    /// Judges the blocks that a completed read returned.
    #[inline]
    pub fn complete(&mut self, buffers: &BufferPool, request: &Request, result: i32) {
        if request.op != Op::Read {
            return;
        }
        if result < 0 {
            let blocks = u64::from(request.length_bytes) / self.block_bytes;
            self.found.unreadable += blocks;
            self.found.checked += blocks;
            return;
        }
        // SAFETY: the request has completed and its slot has not been given to another.
        let bytes = unsafe { buffers.bytes(request.slot, result as usize) };
        let mut offset_bytes = request.offset_bytes;
        for block in bytes.chunks_exact(self.block_bytes as usize) {
            judge::by_itself(block, offset_bytes).count(&mut self.found);
            offset_bytes += self.block_bytes;
        }
    }

    /// Blocks judged so far.
    pub fn found(&self) -> Verification {
        self.found
    }

    /// Returns a note on the blocks that could not be judged.
    pub fn note(&self) -> Option<LoopNote> {
        let Verification { unmarked, checked, .. } = self.found;
        (unmarked > 0).then_some(LoopNote::UnmarkedBlocks { unmarked, blocks: unmarked + checked })
    }
}

/// Content of a place in the span.
enum Place {
    /// The beginning of a marked block.
    Block { bytes: u64 },
    /// The middle of one.
    Within { bytes: u64 },
}

/// Reads the size of the blocks that an earlier workload marked, if this workload reads whole ones.
pub fn marked_bytes(file: &File, spec: &TrialSpec) -> io::Result<u64> {
    let buffer = BufferPool::new(1, spec.block_size_bytes)?;
    let (mut places, mut looked_at, mut failure) = (Vec::new(), 0, None);
    for offset_bytes in looked_at_bytes(spec) {
        // SAFETY: nothing is outstanding, and the reference ends with this turn.
        let bytes = unsafe { buffer.bytes(0, spec.block_size_bytes as usize) };
        match files::read_at(file, bytes, offset_bytes) {
            Ok(read) => {
                looked_at += 1;
                places.extend(place(&bytes[..read]));
            }
            Err(errno) => failure = Some(errno),
        }
    }
    let unit_bytes = block_bytes(spec);
    let fits = |place: &Place| match place {
        Place::Block { bytes } if unit_bytes.is_multiple_of(*bytes) => Some(*bytes),
        _ => None,
    };
    match (places.iter().find_map(fits), failure) {
        (Some(bytes), _) => Ok(bytes),
        (None, Some(errno)) if looked_at == 0 => Err(errno),
        _ => Err(Unfit(why(places.first(), looked_at)).into()),
    }
}

/// Offsets at which blocks are read.
fn looked_at_bytes(spec: &TrialSpec) -> impl Iterator<Item = u64> {
    let &TrialSpec { offset_bytes, span_bytes, block_size_bytes, .. } = spec;
    let blocks = span_bytes / block_size_bytes;
    let all_over =
        (1..LOOKED_AT).map(move |n| (u128::from(blocks) * u128::from(n) / u128::from(LOOKED_AT)) as u64);
    let beginning = (0..LOOKED_AT).filter(move |&block| block < blocks);
    beginning.chain(all_over).map(move |block| offset_bytes + block * block_size_bytes)
}

fn place(bytes: &[u8]) -> Option<Place> {
    let (mark, number) = BlockMark::of_sector(bytes.get(..SECTOR_BYTES)?)?;
    let bytes = u64::from(mark.sectors) * SECTOR_BYTES as u64;
    match number {
        _ if bytes == 0 => None,
        0 => Some(Place::Block { bytes }),
        _ => Some(Place::Within { bytes }),
    }
}

fn why(place: Option<&Place>, looked_at: u64) -> String {
    match place {
        Some(&Place::Block { bytes }) => format!(
            "the data was written with --verify in blocks of {0}, and these reads would cut them apart; read with \
             --bs {0} or a multiple of it, and leave --align and --stride out",
            size(bytes)
        ),
        Some(&Place::Within { bytes }) => format!(
            "the data was written with --verify in blocks of {}, and these reads begin within one; read with the \
             --offset that it was written with",
            size(bytes)
        ),
        None => format!(
            "none of the {looked_at} blocks looked at was written with --verify, so there is nothing to verify; write \
             them first with --rw write --verify, or leave --verify out"
        ),
    }
}

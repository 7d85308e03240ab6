//! The host's block layer: a request larger than the device takes at once goes down in pieces.
//!
//! Law: a request of b bytes becomes n = ceil(b / `max_transfer`) requests, in the order of their addresses and
//! all at one moment, and is done when the last of them is. Every part below, and the block layer's counters,
//! see pieces: a medium that serves s requests a second serves s / n such requests. (As Linux does with
//! `max_sectors_kb`; on the machine that this was measured on, 4 MiB were counted as two requests.) One
//! piece that fails makes the whole fail.
//!
//! ```toml
//! [link]
//! max_transfer = "128KiB"
//! ```

use iosonde_model::{FileError, Named, Op, units::SizeBytes};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    event::Leg,
    flow::{Flow, Id},
    part::{Part, PartKind, PartPosition, Settings, Step},
    reader::Reader,
};

/// Reads `max_transfer` of `[link]`.
pub(crate) struct Split;

impl Named for Split {
    fn name(&self) -> &'static str {
        "split"
    }
}

impl PartKind for Split {
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(link) = reader.section::<LinkKeys>("link")? else { return Ok(None) };
        let Some(SizeBytes(max_bytes)) = link.max_transfer else { return Ok(None) };
        // 4 KiB: every device takes a page of memory; 1 GiB: none takes more at once.
        if !(4096..=1 << 30).contains(&max_bytes) || max_bytes % 512 != 0 {
            let rule = "it is a whole number of 512-byte blocks, between 4KiB and 1GiB";
            return Err(reader.impossible("link.max_transfer", rule));
        }
        Ok(Some(Arc::new(SplitSettings { max_bytes: max_bytes as u32 })))
    }
}

#[derive(Deserialize)]
struct LinkKeys {
    max_transfer: Option<SizeBytes>,
}

#[derive(Debug, Clone, Copy)]
struct SplitSettings {
    max_bytes: u32,
}

impl Settings for SplitSettings {
    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        Box::new(Splitter { max_bytes: self.max_bytes, stage: place.stage })
    }

    fn split_bytes(&self) -> Option<u64> {
        Some(u64::from(self.max_bytes))
    }
}

struct Splitter {
    max_bytes: u32,
    stage: u8,
}

impl Part for Splitter {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = flow[id];
        // Trims move no bytes: devices take them as large as they come.
        if request.length_bytes <= self.max_bytes || !Op::TRANSFERS.contains(&request.op) {
            return Step::On(now_ns);
        }
        let pieces = request.length_bytes.div_ceil(self.max_bytes);
        flow[id].pieces_left = pieces;
        flow.counters.count_pieces(request.op, u64::from(pieces) - 1);
        for piece in 0..pieces {
            let from = piece * self.max_bytes;
            let length_bytes = self.max_bytes.min(request.length_bytes - from);
            let child =
                flow.spawn(self.stage, request.op, request.offset_bytes + u64::from(from), length_bytes);
            flow[child].parent = Some(id);
            flow.events.push(now_ns, child, Leg::Down(self.stage + 1));
        }
        Step::Kept
    }

    fn rises(&self) -> bool {
        true
    }

    fn up(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        if flow[id].owner != Some(self.stage) {
            return Step::On(now_ns);
        }
        if let Some(whole) = flow.close_piece(id) {
            flow.events.push(now_ns, whole, flow.leg_above(self.stage));
        }
        Step::Kept
    }
}

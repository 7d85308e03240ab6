//! The parallel units of flash: each does one thing at a time, first come, first served.

use super::{layout::Layout, log::Collected};
use crate::{flow::Flow, random::whole_ns};

/// How long units take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// To sense a page.
    pub(super) read_ns: f64,
    /// To program one.
    pub(super) program_ns: f64,
    /// To erase a block.
    pub(super) erase_ns: f64,
    pub(super) pages_per_block: u64,
    /// Whether a unit erases once every `pages_per_block` programs; otherwise collecting says when.
    pub(super) erases_in_turn: bool,
}

/// The units at work.
pub(super) struct Units {
    times: Times,
    page_bytes: u64,
    free_ns: Vec<u64>,
    /// Pages of each unit's open block that are still blank.
    blank_pages: Vec<u64>,
    /// Time that collecting will take before each unit's next program.
    owed_ns: Vec<f64>,
}

impl Units {
    pub(super) fn new(units: u32, times: Times, page_bytes: u64) -> Self {
        let count = u64::from(units);
        // Spread over a block: units that all erase at the same moment would stall the buffer's drain
        // together.
        let blank_pages = (0..count).map(|unit| times.pages_per_block - unit * times.pages_per_block / count);
        Self {
            times,
            page_bytes,
            free_ns: vec![0; units as usize],
            blank_pages: blank_pages.collect(),
            owed_ns: vec![0.0; units as usize],
        }
    }

    fn occupy(&mut self, now_ns: u64, unit: u32, ns: f64) -> u64 {
        let free_ns = &mut self.free_ns[unit as usize];
        *free_ns = now_ns.max(*free_ns) + whole_ns(ns);
        *free_ns
    }

    /// Senses a page; says when it is read.
    pub(super) fn sense(&mut self, now_ns: u64, unit: u32, stretch: f64) -> u64 {
        self.occupy(now_ns, unit, self.times.read_ns * stretch)
    }

    /// Collecting on a unit: its next program comes after the copies (gathered into whole pages) and the
    /// erases.
    pub(super) fn owe(&mut self, unit: u32, collected: &Collected, layout: &Layout, flow: &mut Flow) {
        let copied_bytes = collected.copied_slots * layout.mapping_unit_bytes;
        let copied_pages = copied_bytes as f64 / layout.page_bytes as f64;
        self.owed_ns[unit as usize] += collected.sensed_pages as f64 * self.times.read_ns
            + copied_pages * self.times.program_ns
            + collected.erased_blocks as f64 * self.times.erase_ns;
        flow.counters.programmed_bytes += copied_bytes;
        flow.counters.erased_blocks += collected.erased_blocks;
    }

    /// Programs a page, after an erase where the open block is full; says when it is written.
    pub(super) fn program(&mut self, now_ns: u64, unit: u32, stretch: f64, flow: &mut Flow) -> u64 {
        let mut ns = self.times.program_ns + std::mem::take(&mut self.owed_ns[unit as usize]);
        let blank_pages = &mut self.blank_pages[unit as usize];
        if self.times.erases_in_turn {
            if *blank_pages == 0 {
                *blank_pages = self.times.pages_per_block;
                ns += self.times.erase_ns;
                flow.counters.erased_blocks += 1;
            }
            *blank_pages -= 1;
        }
        flow.counters.programmed_bytes += self.page_bytes;
        self.occupy(now_ns, unit, ns * stretch)
    }
}

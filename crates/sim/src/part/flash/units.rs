//! The parallel units of flash: each does one thing at a time, first come, first served.

use super::{
    layout::Layout,
    log::Collected,
    slc::{Goes, Slc},
};
use crate::{flow::Flow, random::whole_ns};

/// Times of a unit's operations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// To sense a page.
    pub(super) read_ns: f64,
    /// To program one.
    pub(super) program_ns: f64,
    /// To erase a block.
    pub(super) erase_ns: f64,
    pub(super) pages_per_block: u64,
    /// True if a unit erases once every `pages_per_block` programs; otherwise collecting says when.
    pub(super) erases_in_turn: bool,
}

/// The units at work.
pub(super) struct Units {
    times: Times,
    page_bytes: u64,
    free_ns: Vec<u64>,
    /// Pages of each unit's open block that are still blank.
    blank_pages: Vec<u64>,
    pub(super) slc: Option<Slc>,
}

impl Units {
    pub(super) fn new(units: u32, times: Times, page_bytes: u64, slc: Option<Slc>) -> Self {
        let count = u64::from(units);
        // Spread over a block: units that all erase at the same moment would stall the buffer's drain
        // together.
        let blank_pages = (0..count).map(|unit| times.pages_per_block - unit * times.pages_per_block / count);
        Self { times, page_bytes, free_ns: vec![0; units as usize], blank_pages: blank_pages.collect(), slc }
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

    /// The time that collecting takes: copies, gathered into whole pages, and erases.
    pub(super) fn collecting_ns(&self, collected: &Collected, layout: &Layout, flow: &mut Flow) -> f64 {
        let copied_bytes = collected.copied_slots * layout.mapping_unit_bytes;
        flow.counters.programmed_bytes += copied_bytes;
        flow.counters.erased_blocks += collected.erased_blocks;
        collected.sensed_pages as f64 * self.times.read_ns
            + copied_bytes as f64 / layout.page_bytes as f64 * self.times.program_ns
            + collected.erased_blocks as f64 * self.times.erase_ns
    }

    /// Returns true if the next page on any unit goes to the fast cache.
    pub(super) fn is_fast(&self) -> bool {
        self.slc.as_ref().is_some_and(Slc::has_room)
    }

    /// Programs a page, after an erase where the open block is full, and works for so long on collecting;
    /// says when it is written.
    pub(super) fn program(
        &mut self,
        now_ns: u64,
        unit: u32,
        collecting_ns: f64,
        stretch: f64,
        flow: &mut Flow,
    ) -> u64 {
        let goes = self.slc.as_mut().map_or(Goes::Dense, |slc| slc.take(unit));
        flow.counters.programmed_bytes += self.page_bytes;
        let ns = match goes {
            Goes::Cache(program_ns) => program_ns,
            Goes::CacheAfterFolding(program_ns) => program_ns + self.folding_ns(unit, flow),
            Goes::Dense => self.dense_ns(unit, flow),
        };
        self.occupy(now_ns, unit, (ns + collecting_ns) * stretch)
    }

    /// Programs a page of the dense cells: this program, and an erase where it is due.
    fn dense_ns(&mut self, unit: u32, flow: &mut Flow) -> f64 {
        let blank_pages = &mut self.blank_pages[unit as usize];
        let mut ns = self.times.program_ns;
        if self.times.erases_in_turn {
            if *blank_pages == 0 {
                *blank_pages = self.times.pages_per_block;
                ns += self.times.erase_ns;
                flow.counters.erased_blocks += 1;
            }
            *blank_pages -= 1;
        }
        ns
    }

    fn folding_ns(&mut self, unit: u32, flow: &mut Flow) -> f64 {
        flow.counters.programmed_bytes += self.page_bytes;
        self.times.read_ns + self.dense_ns(unit, flow)
    }

    /// Folds one page on each unit that has any in the cache; says when the last is done.
    pub(super) fn fold(&mut self, now_ns: u64, flow: &mut Flow) -> u64 {
        let mut done_ns = now_ns;
        for unit in 0..self.free_ns.len() as u32 {
            if self.slc.as_mut().is_some_and(|slc| slc.fold(unit)) {
                let ns = self.folding_ns(unit, flow);
                done_ns = done_ns.max(self.occupy(now_ns, unit, ns));
            }
        }
        done_ns
    }
}

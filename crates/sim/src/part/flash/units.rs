//! The parallel units of flash: each does one thing at a time, first come, first served.

use crate::{flow::Flow, random::whole_ns};

/// How long units take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// To sense a page.
    pub(super) read_ns: f64,
    /// To program one.
    pub(super) program_ns: f64,
    /// To erase a block, once every `pages_per_block` programs of a unit.
    pub(super) erase_ns: f64,
    pub(super) pages_per_block: u64,
}

impl Times {
    /// What a program costs with its share of an erase.
    pub(super) fn program_mean_ns(&self) -> f64 {
        self.program_ns + self.erase_ns / self.pages_per_block as f64
    }
}

/// The units at work.
pub(super) struct Units {
    times: Times,
    page_bytes: u64,
    free_ns: Vec<u64>,
    /// Pages of each unit's open block that are still blank.
    blank_pages: Vec<u64>,
}

impl Units {
    pub(super) fn new(units: u32, times: Times, page_bytes: u64) -> Self {
        let count = u64::from(units);
        // Spread over a block: units that all erase at the same moment would stall the buffer's drain
        // together.
        let blank_pages = (0..count).map(|unit| times.pages_per_block - unit * times.pages_per_block / count);
        Self { times, page_bytes, free_ns: vec![0; units as usize], blank_pages: blank_pages.collect() }
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

    /// Programs a page, after an erase where the open block is full; says when it is written.
    pub(super) fn program(&mut self, now_ns: u64, unit: u32, stretch: f64, flow: &mut Flow) -> u64 {
        let blank_pages = &mut self.blank_pages[unit as usize];
        let mut ns = self.times.program_ns;
        if *blank_pages == 0 {
            *blank_pages = self.times.pages_per_block;
            ns += self.times.erase_ns;
            flow.counters.erased_blocks += 1;
        }
        *blank_pages -= 1;
        flow.counters.programmed_bytes += self.page_bytes;
        self.occupy(now_ns, unit, ns * stretch)
    }
}

//! What lies under a flash device's addresses: units at work, and the placement that sends addresses to them.

use std::ops::Range;

use super::{
    layout::Layout,
    log::{Collected, Log},
    units::Units,
};
use crate::flow::Flow;

/// Units and placement.
pub(super) struct Ground {
    pub(super) layout: Layout,
    pub(super) units: Units,
    /// Present when pages are placed by the order of writing.
    pub(super) log: Option<Log>,
}

impl Ground {
    /// Senses every page that holds bytes of a range; says when the last one is read.
    pub(super) fn sense(&mut self, now_ns: u64, range: &Range<u64>, stretch: f64) -> u64 {
        let Some(log) = &self.log else {
            let units = self.layout.units_of_pages(range);
            return units.map(|unit| self.units.sense(now_ns, unit, stretch)).max().unwrap_or(now_ns);
        };
        let (mut done_ns, mut sensed) = (now_ns, None);
        for piece in self.layout.pieces(range) {
            // What was never written is looked for where static placement would have put it.
            let place = log.find(piece).map(|(unit, page)| (unit, u64::from(page)));
            let place = place.unwrap_or_else(|| self.layout.static_place(piece));
            if sensed.replace(place) != Some(place) {
                done_ns = done_ns.max(self.units.sense(now_ns, place.0, stretch));
            }
        }
        done_ns
    }

    /// Senses the pages of which a written range gives only a part.
    pub(super) fn sense_before_write(&mut self, now_ns: u64, given: &Range<u64>, stretch: f64) -> u64 {
        if self.log.is_none() {
            let units = self.layout.units_read_before(given);
            return units.map(|unit| self.units.sense(now_ns, unit, stretch)).max().unwrap_or(now_ns);
        }
        let whole = self.layout.rewritten(given);
        let mut done_ns = now_ns;
        // The first and the last mapping unit, where they are not given whole.
        let piece = self.layout.mapping_unit_bytes;
        if whole.start < given.start {
            done_ns = self.sense(now_ns, &(whole.start..whole.start + piece), stretch);
        }
        if given.end < whole.end && (whole.end - piece > whole.start || whole.start == given.start) {
            done_ns = done_ns.max(self.sense(now_ns, &(whole.end - piece..whole.end), stretch));
        }
        done_ns
    }

    /// Places a range that is about to be programmed: calls back with each share's unit and bytes.
    pub(super) fn place(
        &mut self,
        whole: &Range<u64>,
        flow: &mut Flow,
        mut share: impl FnMut(u32, u64, &mut Flow),
    ) {
        let Some(log) = &mut self.log else {
            return self.layout.shares(whole).for_each(|(unit, bytes)| share(unit, bytes, flow));
        };
        for piece in self.layout.pieces(whole) {
            let (unit, collected) = log.write(piece);
            if collected != Collected::default() {
                self.units.owe(unit, &collected, &self.layout, flow);
            }
            share(unit, self.layout.mapping_unit_bytes, flow);
        }
    }
}

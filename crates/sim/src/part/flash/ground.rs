//! What lies under a flash device's addresses: units at work, and the placement that sends addresses to them.

use std::ops::Range;

use super::{
    layout::Layout,
    log::{Collected, Log, SlotState},
    trimmed::Trimmed,
    units::Units,
};
use crate::flow::Flow;

/// Units and placement.
pub(super) struct Ground {
    pub(super) layout: Layout,
    pub(super) units: Units,
    pub(super) placement: Placement,
}

/// Rule that maps addresses to units.
pub(super) enum Placement {
    /// Always on the same unit.
    Static(Trimmed),
    /// Where the log stood when they were written. Beside it, for each unit, the part of its latest collection that
    /// every mapping unit written there pays until the next: one that came all at once would keep reads waiting for
    /// a tenth of a second.
    Log(Log, Vec<f64>),
}

impl Ground {
    /// Senses every page that holds bytes of a range; says when the last one is read. What was given back is not
    /// sensed.
    pub(super) fn sense(&mut self, now_ns: u64, range: &Range<u64>, stretch: f64) -> u64 {
        let log = match &self.placement {
            Placement::Log(log, _) => log,
            Placement::Static(trimmed) => {
                if trimmed.covers(range) {
                    return now_ns;
                }
                let units = self.layout.units_of_pages(range);
                return units.map(|unit| self.units.sense(now_ns, unit, stretch)).max().unwrap_or(now_ns);
            }
        };
        let (mut done_ns, mut sensed) = (now_ns, None);
        for piece in self.layout.pieces(range) {
            let place = match log.find(piece) {
                SlotState::At(unit, page) => (unit, u64::from(page)),
                // Data that was never written is read where static placement would have put it.
                SlotState::Nowhere => self.layout.static_place(piece),
                SlotState::Trimmed => continue,
            };
            if sensed.replace(place) != Some(place) {
                done_ns = done_ns.max(self.units.sense(now_ns, place.0, stretch));
            }
        }
        done_ns
    }

    /// Senses the pages of which a written range gives only a part.
    pub(super) fn sense_before_write(&mut self, now_ns: u64, given: &Range<u64>, stretch: f64) -> u64 {
        if matches!(self.placement, Placement::Static(_)) {
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

    /// Places a range that is about to be programmed: calls back with each share's unit, bytes, and the time that is to
    /// be spent on collecting for it.
    pub(super) fn place(
        &mut self,
        whole: &Range<u64>,
        flow: &mut Flow,
        mut share: impl FnMut(u32, u64, f64, &mut Flow),
    ) {
        let (log, instalments_ns) = match &mut self.placement {
            Placement::Log(log, instalments_ns) => (log, instalments_ns),
            Placement::Static(trimmed) => {
                trimmed.remove(whole);
                return self.layout.shares(whole).for_each(|(unit, bytes)| share(unit, bytes, 0.0, flow));
            }
        };
        for piece in self.layout.pieces(whole) {
            let (unit, collected) = log.write(piece);
            share(unit, self.layout.mapping_unit_bytes, instalments_ns[unit as usize], flow);
            if collected != Collected::default() {
                let ns = self.units.collecting_ns(&collected, &self.layout, flow);
                instalments_ns[unit as usize] = ns / f64::from(log.slots_until_collecting(unit));
            }
        }
    }

    /// Gives back the mapping units that lie wholly in a range.
    pub(super) fn trim(&mut self, range: &Range<u64>) {
        let piece = self.layout.mapping_unit_bytes;
        let whole = range.start.div_ceil(piece)..range.end / piece;
        match &mut self.placement {
            Placement::Static(trimmed) => {
                trimmed.add(&(whole.start * piece..whole.end.max(whole.start) * piece))
            }
            Placement::Log(log, _) => whole.for_each(|piece| log.trim(piece)),
        }
    }
}

//! How addresses lie on flash: units, stripes, pages, mapping units.

use std::ops::Range;

/// Static placement: an address always lies on the same unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// Units that sense and program independently of each other.
    pub(super) units: u32,
    /// Neighbouring bytes on one unit before the next unit's turn.
    pub(super) stripe_bytes: u64,
    /// Unit that is sensed or programmed at once.
    pub(super) page_bytes: u64,
    /// The smallest piece that can be rewritten alone.
    pub(super) mapping_unit_bytes: u64,
}

impl Layout {
    fn unit_of(&self, offset_bytes: u64) -> u32 {
        (offset_bytes / self.stripe_bytes % u64::from(self.units)) as u32
    }

    /// The unit of each page that a range touches.
    pub(super) fn units_of_pages(&self, range: &Range<u64>) -> impl Iterator<Item = u32> + use<> {
        let layout = *self;
        self.pages(range).map(move |page| layout.unit_of(page * layout.page_bytes))
    }

    fn pages(&self, range: &Range<u64>) -> Range<u64> {
        range.start / self.page_bytes..range.end.div_ceil(self.page_bytes)
    }

    /// The mapping units that a range touches, by number.
    pub(super) fn pieces(&self, range: &Range<u64>) -> Range<u64> {
        range.start / self.mapping_unit_bytes..range.end.div_ceil(self.mapping_unit_bytes)
    }

    /// Where static placement has a mapping unit: its unit, and its page by number.
    pub(super) fn static_place(&self, piece: u64) -> (u32, u64) {
        let offset_bytes = piece * self.mapping_unit_bytes;
        (self.unit_of(offset_bytes), offset_bytes / self.page_bytes)
    }

    /// A written range, rounded outwards to what can be rewritten.
    pub(super) fn rewritten(&self, range: &Range<u64>) -> Range<u64> {
        let piece = self.mapping_unit_bytes;
        range.start / piece * piece..range.end.div_ceil(piece) * piece
    }

    /// The units of the pages that must be sensed before a range can be rewritten: those that hold bytes of a
    /// mapping unit which the range does not give.
    pub(super) fn units_read_before(&self, range: &Range<u64>) -> impl Iterator<Item = u32> + use<> {
        let (layout, given, whole) = (*self, range.clone(), self.rewritten(range));
        let pages = if whole == given { 0..0 } else { self.pages(&whole) };
        let lacks = move |page: &u64| {
            let needed_from = (page * layout.page_bytes).max(whole.start);
            let needed_to = ((page + 1) * layout.page_bytes).min(whole.end);
            needed_from < given.start || needed_to > given.end
        };
        pages.filter(lacks).map(move |page| layout.unit_of(page * layout.page_bytes))
    }

    /// The bytes of a range on each stripe that it touches, with the stripe's unit.
    pub(super) fn shares(&self, range: &Range<u64>) -> impl Iterator<Item = (u32, u64)> + use<> {
        let (layout, range) = (*self, range.clone());
        let stripes = range.start / layout.stripe_bytes..range.end.div_ceil(layout.stripe_bytes);
        stripes.map(move |stripe| {
            let from = (stripe * layout.stripe_bytes).max(range.start);
            let to = ((stripe + 1) * layout.stripe_bytes).min(range.end);
            (layout.unit_of(from), to - from)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1024;
    const LAYOUT: Layout =
        Layout { units: 4, stripe_bytes: 32 * KIB, page_bytes: 16 * KIB, mapping_unit_bytes: 4 * KIB };

    #[test]
    fn stripes_go_round_the_units() {
        let units: Vec<u32> = LAYOUT.units_of_pages(&(0..160 * KIB)).collect();
        assert_eq!(units, [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]);
        // One byte senses one page; two bytes across a page's edge sense two.
        assert_eq!(LAYOUT.units_of_pages(&(5..6)).count(), 1);
        assert_eq!(LAYOUT.units_of_pages(&(32 * KIB - 1..32 * KIB + 1)).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn shares_add_up_to_the_range() {
        let shares: Vec<_> = LAYOUT.shares(&(28 * KIB..100 * KIB)).collect();
        assert_eq!(shares, [(0, 4 * KIB), (1, 32 * KIB), (2, 32 * KIB), (3, 4 * KIB)]);
    }

    #[test]
    fn what_is_given_in_part_is_read_before() {
        let read = |layout: Layout, range: Range<u64>| layout.units_read_before(&range).collect::<Vec<_>>();
        assert_eq!(read(LAYOUT, 4 * KIB..8 * KIB), [0u32; 0]);
        assert_eq!(read(LAYOUT, 32 * KIB + 512..33 * KIB), [1]);
        assert_eq!(LAYOUT.rewritten(&(32 * KIB + 512..33 * KIB)), 32 * KIB..36 * KIB);
        // A mapping unit of 64 KiB, four pages: writing the first of them leaves three to be read.
        let coarse = Layout { mapping_unit_bytes: 64 * KIB, ..LAYOUT };
        assert_eq!(read(coarse, 0..16 * KIB), [0, 1, 1]);
        assert_eq!(read(coarse, 0..64 * KIB), [0u32; 0]);
        assert_eq!(coarse.rewritten(&(0..16 * KIB)), 0..64 * KIB);
    }
}

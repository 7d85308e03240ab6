//! Which pages a memory holds, the host's or a server's: a second-chance ring and the set of dirty pages.

use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasherDefault, Hasher},
    ops::Range,
};

/// The kernel's page.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Page numbers have 32 bits: a device with a simulated memory is smaller than this.
pub(crate) const PAGED_CAPACITY_LIMIT_BYTES: u64 = 16 << 40;

/// A page's number. What lies beyond the limit is capped: the file was checked.
pub(crate) fn page_number(page: u64) -> u32 {
    page.min(u64::from(u32::MAX) - 1) as u32
}

/// The pages that a range of bytes touches.
pub(crate) fn pages_of(offset_bytes: u64, bytes: u32) -> Range<u32> {
    let end_bytes = offset_bytes + u64::from(bytes);
    page_number(offset_bytes / PAGE_BYTES)..page_number(end_bytes.div_ceil(PAGE_BYTES))
}

/// The page number of an empty slot.
const NOBODY: u32 = u32::MAX;

const REFERENCED: u8 = 1;
const DIRTY: u8 = 2;

/// Multiplicative hashing of 16 neighbours at a time: page numbers are no secret, a lookup a page must be cheap, and
/// requests ask for neighbours, which then lie in one cache line of the table instead of in 16.
#[derive(Default)]
pub(crate) struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }
    fn write_u32(&mut self, value: u32) {
        // 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
        let spread = |value: u64| value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let value = self.0 ^ u64::from(value);
        // The table's place comes from the low bits; the highest 7 tell neighbours apart.
        let place = spread(value >> 4) >> 32 << 4 | value & 15;
        self.0 = place | spread(value) >> 57 << 57;
    }
}

/// A map keyed by page number.
pub(crate) type ByPage<T> = HashMap<u32, T, BuildHasherDefault<PageHasher>>;

/// The pages in memory. Replacement is second chance (Corbató 1968): the hand passes over pages that were
/// used since it came by last, and over dirty ones. Uniformly random use of w pages finds c of them in memory
/// in a share c / w of all cases, as under every policy that does not know the future; a pass over more than
/// c pages in turn finds none.
#[derive(Debug)]
pub(crate) struct Pages {
    capacity: usize,
    slots: Vec<u32>,
    marks: Vec<u8>,
    empty: Vec<u32>,
    by_page: ByPage<u32>,
    hand: usize,
    dirty: BTreeSet<u32>,
}

impl Pages {
    /// Room for so many pages, none of them there.
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            slots: Vec::new(),
            marks: Vec::new(),
            empty: Vec::new(),
            by_page: ByPage::default(),
            hand: 0,
            dirty: BTreeSet::new(),
        }
    }

    /// Returns true if a page is there.
    pub(crate) fn holds(&self, page: u32) -> bool {
        self.by_page.contains_key(&page)
    }

    /// A page is used.
    pub(crate) fn touch(&mut self, page: u32) {
        if let Some(&slot) = self.by_page.get(&page) {
            self.marks[slot as usize] |= REFERENCED;
        }
    }

    /// A page comes in, clean; what was there stays as it was.
    pub(crate) fn insert(&mut self, page: u32) {
        if !self.holds(page) {
            self.take_in(page);
        }
    }

    /// A page that is not there comes in; its slot.
    fn take_in(&mut self, page: u32) -> usize {
        let slot = match self.empty.pop() {
            Some(slot) => slot as usize,
            None if self.slots.len() < self.capacity => {
                self.slots.push(NOBODY);
                self.marks.push(0);
                self.slots.len() - 1
            }
            None => self.make_room(),
        };
        self.slots[slot] = page;
        self.marks[slot] = 0;
        self.by_page.insert(page, slot as u32);
        slot
    }

    fn make_room(&mut self) -> usize {
        // Two turns clear every reference; a third takes a dirty page, which only a request larger than all
        // of memory can bring about.
        let mut steps_left = 3 * self.slots.len();
        loop {
            let slot = self.hand;
            self.hand = (self.hand + 1) % self.slots.len();
            steps_left = steps_left.saturating_sub(1);
            let mark = self.marks[slot];
            if mark & DIRTY != 0 && steps_left > self.slots.len() {
                continue;
            }
            if mark & REFERENCED != 0 && steps_left > 0 {
                self.marks[slot] &= !REFERENCED;
                continue;
            }
            let page = self.slots[slot];
            self.by_page.remove(&page);
            self.dirty.remove(&page);
            return slot;
        }
    }

    /// A page is written: it is there, and newer than what the device has.
    pub(crate) fn soil(&mut self, page: u32) {
        let slot = match self.by_page.get(&page) {
            Some(&slot) => slot as usize,
            None => self.take_in(page),
        };
        if self.marks[slot] & DIRTY == 0 {
            self.marks[slot] |= DIRTY;
            self.dirty.insert(page);
        }
    }

    /// A page goes, with whatever was in it.
    pub(crate) fn remove(&mut self, page: u32) {
        if let Some(slot) = self.by_page.remove(&page) {
            self.slots[slot as usize] = NOBODY;
            self.marks[slot as usize] = 0;
            self.empty.push(slot);
            self.dirty.remove(&page);
        }
    }

    /// Number of dirty pages.
    pub(crate) fn dirty_pages(&self) -> u64 {
        self.dirty.len() as u64
    }

    /// The next run of neighbouring dirty pages from `cursor` on and around the end. It ends at a multiple of `most`,
    /// so that one that began in between brings the next into line.
    pub(crate) fn dirty_run(&self, cursor: u32, most: u32) -> Option<Range<u32>> {
        let first = *self.dirty.range(cursor..).next().or_else(|| self.dirty.first())?;
        let boundary = (first / most + 1).saturating_mul(most);
        let neighbours =
            self.dirty.range(first..boundary).zip(first..).take_while(|(page, next)| *page == next);
        Some(first..first + neighbours.count() as u32)
    }

    /// These dirty pages count as clean from now on.
    pub(crate) fn clean(&mut self, run: &Range<u32>) {
        for page in run.clone() {
            self.dirty.remove(&page);
            if let Some(&slot) = self.by_page.get(&page) {
                self.marks[slot as usize] &= !DIRTY;
            }
        }
    }

    /// Number of cached pages in a range.
    pub(crate) fn count_in(&self, range: Range<u32>) -> u64 {
        let inside = |page: &&u32| **page != NOBODY && range.contains(*page);
        // Whichever is quicker: a look at every slot in turn, or a search for each page, which takes ten times as long.
        let count = if range.len() > self.slots.len() / 10 {
            self.slots.iter().filter(inside).count()
        } else {
            range.clone().filter(|page| self.holds(*page)).count()
        };
        count as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_used_gets_a_second_chance() {
        let mut pages = Pages::new(3);
        (0..3).for_each(|page| pages.insert(page));
        pages.touch(0);
        pages.insert(3);
        assert_eq!([0, 1, 2, 3].map(|page| pages.holds(page)), [true, false, true, true]);
    }

    #[test]
    fn a_pass_over_more_than_memory_finds_nothing() {
        let mut pages = Pages::new(100);
        let mut hits = 0;
        for page in (0..101).cycle().take(1000) {
            hits += u32::from(pages.holds(page));
            pages.touch(page);
            pages.insert(page);
        }
        assert_eq!(hits, 0);
    }

    #[test]
    fn dirty_pages_stay_and_leave_in_runs() {
        let mut pages = Pages::new(8);
        [5, 6, 7, 2].into_iter().for_each(|page| pages.soil(page));
        (10..30).for_each(|page| pages.insert(page));
        assert!([2, 5, 6, 7].iter().all(|page| pages.holds(*page)));
        let mut take = |cursor, most| {
            let run = pages.dirty_run(cursor, most)?;
            pages.clean(&run);
            Some(run)
        };
        // Runs end at multiples of the most.
        assert_eq!(take(3, 2), Some(5..6));
        assert_eq!(take(6, 2), Some(6..8));
        assert_eq!(take(8, 9), Some(2..3));
        assert_eq!(take(0, 9), None);
    }

    proptest! {
        #[test]
        fn never_more_than_memory_and_always_the_last_one(
            uses in prop::collection::vec((0u32..40, 0u8..4), 1..300),
            capacity in 1usize..20,
        ) {
            let mut pages = Pages::new(capacity);
            for (page, what) in uses {
                match what {
                    0 => pages.insert(page),
                    1 => pages.soil(page),
                    2 => pages.remove(page),
                    _ => pages.touch(page),
                }
                if what < 2 {
                    prop_assert!(pages.holds(page));
                }
                let there = (0..40).filter(|page| pages.holds(*page)).count() as u64;
                prop_assert!(there <= capacity as u64);
                prop_assert_eq!(pages.count_in(0..40), there);
                prop_assert!(pages.dirty.iter().all(|page| pages.holds(*page)));
            }
        }
    }
}

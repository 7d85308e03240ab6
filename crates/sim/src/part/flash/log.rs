//! Flash written as a log: every mapping unit goes where the log stands, and blocks are collected to make
//! room.
//!
//! Pages fill one unit after another in the order of writing. On each unit the log runs through blocks; what
//! was written before becomes garbage where it lay. When a unit's last free block is opened, a block is
//! collected: what is still valid in it is copied to the log, and it is erased. `greedy` takes the block with
//! the least valid, `fifo` the one that was filled first.

use std::collections::VecDeque;

/// No slot, or nobody's slot.
const NONE: u32 = u32::MAX;

/// Which block is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    Greedy,
    Fifo,
}

/// The sizes of a log, in mapping units ("slots").
#[derive(Debug, Clone, Copy)]
pub(super) struct LogSize {
    /// Mapping units that the user sees.
    pub(super) user_slots: u64,
    /// Parallel units of the device.
    pub(super) units: u32,
    /// Blocks of each unit.
    pub(super) blocks_per_unit: u32,
    /// Mapping units in a block.
    pub(super) slots_per_block: u32,
    /// Mapping units in a page.
    pub(super) slots_per_page: u32,
}

/// What collecting cost a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Collected {
    /// Pages that were sensed for what was still valid in them.
    pub(super) sensed_pages: u64,
    /// Mapping units that were copied.
    pub(super) copied_slots: u64,
    /// Blocks that were erased.
    pub(super) erased_blocks: u64,
}

/// The log of one unit.
#[derive(Debug)]
struct UnitLog {
    /// The block being filled, and how far.
    open: u32,
    filled: u32,
    free: Vec<u32>,
    /// Full blocks, the first filled first.
    full: VecDeque<u32>,
    valid_slots: u64,
}

/// Where every mapping unit lies.
#[derive(Debug)]
pub(super) struct Log {
    size: LogSize,
    policy: Policy,
    slot_of: Vec<u32>,
    owner_of: Vec<u32>,
    valid_in: Vec<u32>,
    units: Vec<UnitLog>,
    /// The unit whose page is being filled, and how many mapping units still fit in that page.
    turn: u32,
    room_in_page: u32,
}

impl Log {
    /// Everything blank.
    pub(super) fn new(size: LogSize, policy: Policy) -> Self {
        let blocks = size.units * size.blocks_per_unit;
        let unit_log = |unit: u32| UnitLog {
            open: unit * size.blocks_per_unit,
            filled: 0,
            free: (1..size.blocks_per_unit).rev().map(|block| unit * size.blocks_per_unit + block).collect(),
            full: VecDeque::new(),
            valid_slots: 0,
        };
        Self {
            size,
            policy,
            slot_of: vec![NONE; size.user_slots as usize],
            owner_of: vec![NONE; blocks as usize * size.slots_per_block as usize],
            valid_in: vec![0; blocks as usize],
            units: (0..size.units).map(unit_log).collect(),
            turn: 0,
            room_in_page: size.slots_per_page,
        }
    }

    /// The unit and the page that hold a mapping unit; `None` if it was never written.
    pub(super) fn find(&self, logical: u64) -> Option<(u32, u32)> {
        let slot = self.slot_of.get(logical as usize).copied().filter(|slot| *slot != NONE)?;
        let unit = slot / self.size.slots_per_block / self.size.blocks_per_unit;
        Some((unit, slot / self.size.slots_per_page))
    }

    /// Writes a mapping unit; says on which unit, and what had to be collected there.
    pub(super) fn write(&mut self, logical: u64) -> (u32, Collected) {
        let unit = self.next_unit();
        self.drop_old(logical);
        let mut collected = Collected::default();
        self.append(unit, logical as u32);
        if self.units[unit as usize].filled == self.size.slots_per_block {
            self.open_block(unit);
            // The last free block is open: collect until there is another one.
            while self.units[unit as usize].free.is_empty() {
                self.collect(unit, &mut collected);
            }
        }
        (unit, collected)
    }

    /// Page by page in turn; a unit that holds as much as it can without its reserve is passed over.
    fn next_unit(&mut self) -> u32 {
        if self.room_in_page == 0 {
            self.room_in_page = self.size.slots_per_page;
            let most = u64::from(self.size.blocks_per_unit - 2) * u64::from(self.size.slots_per_block)
                - u64::from(self.size.slots_per_page);
            for _ in 0..self.size.units {
                self.turn = (self.turn + 1) % self.size.units;
                if self.units[self.turn as usize].valid_slots <= most {
                    break;
                }
            }
        }
        self.room_in_page -= 1;
        self.turn
    }

    fn drop_old(&mut self, logical: u64) {
        let old = std::mem::replace(&mut self.slot_of[logical as usize], NONE);
        if old != NONE {
            self.owner_of[old as usize] = NONE;
            let block = old / self.size.slots_per_block;
            self.valid_in[block as usize] -= 1;
            self.units[(block / self.size.blocks_per_unit) as usize].valid_slots -= 1;
        }
    }

    fn append(&mut self, unit: u32, logical: u32) {
        let log = &mut self.units[unit as usize];
        let slot = log.open * self.size.slots_per_block + log.filled;
        log.filled += 1;
        log.valid_slots += 1;
        self.valid_in[log.open as usize] += 1;
        self.owner_of[slot as usize] = logical;
        self.slot_of[logical as usize] = slot;
    }

    fn open_block(&mut self, unit: u32) {
        let log = &mut self.units[unit as usize];
        log.full.push_back(log.open);
        log.open = log.free.pop().expect("a block is collected as soon as the last free one is opened");
        log.filled = 0;
    }

    fn collect(&mut self, unit: u32, collected: &mut Collected) {
        let victim = self.choose(unit);
        let first = victim * self.size.slots_per_block;
        let mut sensed_page = NONE;
        for slot in first..first + self.size.slots_per_block {
            let logical = self.owner_of[slot as usize];
            if logical == NONE {
                continue;
            }
            if slot / self.size.slots_per_page != sensed_page {
                sensed_page = slot / self.size.slots_per_page;
                collected.sensed_pages += 1;
            }
            collected.copied_slots += 1;
            self.drop_old(u64::from(logical));
            self.append(unit, logical);
        }
        collected.erased_blocks += 1;
        let log = &mut self.units[unit as usize];
        log.free.push(victim);
        // A victim that was all valid filled the open block and freed itself: the next one is chosen.
        if log.filled == self.size.slots_per_block {
            self.open_block(unit);
        }
    }

    fn choose(&mut self, unit: u32) -> u32 {
        let full = &mut self.units[unit as usize].full;
        let place = match self.policy {
            Policy::Fifo => 0,
            Policy::Greedy => {
                let valid = |place: &usize| self.valid_in[full[*place] as usize];
                (0..full.len()).min_by_key(valid).expect("all blocks but two are full")
            }
        };
        full.remove(place).expect("it was just found")
    }
}

/// The share of a block that is still valid when it is collected first in, first out, under uniformly random
/// writes: the root of (u - 1) / ln u = user / physical. Of the physical blocks of a unit one is always free,
/// and the one being filled is half full on average.
pub(super) fn valid_when_collected(size: &LogSize) -> f64 {
    let blocks = f64::from(size.units) * (f64::from(size.blocks_per_unit) - 1.5);
    let physical = blocks * f64::from(size.slots_per_block);
    let used = size.user_slots as f64 / physical;
    let (mut low, mut high) = (0.0f64, 1.0f64);
    // 60 halvings: below the last bit.
    for _ in 0..60 {
        let u = (low + high) / 2.0;
        if (u - 1.0) / u.ln() < used { low = u } else { high = u }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use proptest::prelude::*;
    use rand::RngExt;

    fn size(spare: f64) -> LogSize {
        let blocks_per_unit = 1024;
        let user_slots = (f64::from(blocks_per_unit * 256) / (1.0 + spare)) as u64;
        LogSize { user_slots, units: 1, blocks_per_unit, slots_per_block: 256, slots_per_page: 1 }
    }

    /// Write amplification of uniform random writes in the steady state, on one unit of 256 slots a block.
    fn amplification(policy: Policy, spare: f64) -> f64 {
        let user_slots = size(spare).user_slots;
        let mut log = Log::new(size(spare), policy);
        let mut random = stream(11, "test");
        (0..user_slots).for_each(|logical| {
            log.write(logical);
        });
        let mut run = |writes: u64| {
            let mut write = |_| log.write(random.random_range(0..user_slots)).1.copied_slots;
            1.0 + (0..writes).map(&mut write).sum::<u64>() as f64 / writes as f64
        };
        run(6 * user_slots);
        run(2 * user_slots)
    }

    #[test]
    fn the_formula_at_a_known_point() {
        // user / physical = 680 / (8.5 x 100) = 0.8, and (0.6286 - 1) / ln 0.6286 = 0.8000.
        let size = LogSize { user_slots: 680, blocks_per_unit: 10, slots_per_block: 100, ..size(0.5) };
        assert!((valid_when_collected(&size) - 0.6286).abs() < 1e-4, "{}", valid_when_collected(&size));
    }

    #[test]
    fn first_in_first_out_amplifies_as_the_formula_says() {
        for spare in [0.07, 0.15, 0.28] {
            let theory = 1.0 / (1.0 - valid_when_collected(&size(spare)));
            let got = amplification(Policy::Fifo, spare);
            assert!((got / theory - 1.0).abs() < 0.05, "spare {spare}: {got} for {theory}");
        }
    }

    #[test]
    fn greedy_amplifies_a_little_less() {
        // Xiang and Kurkoski (2012): for large blocks greedy tends to the same formula; at 256 slots it is a
        // few percent below. The simple (1 + s) / 2 s would be 2.29 at 28 %, 7 % too low.
        for spare in [0.07, 0.15, 0.28] {
            let theory = 1.0 / (1.0 - valid_when_collected(&size(spare)));
            let got = amplification(Policy::Greedy, spare) / theory;
            assert!(got < 1.0 && got > 0.96, "spare {spare}: {got} of {theory}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(writes in prop::collection::vec(0u64..200, 0..4000), greedy: bool) {
            // 200 slots of 4 a page, 16 a block, on 2 units of 9 blocks: 288.
            let size = LogSize {
                user_slots: 200,
                units: 2,
                blocks_per_unit: 9,
                slots_per_block: 16,
                slots_per_page: 4,
            };
            let mut log = Log::new(size, if greedy { Policy::Greedy } else { Policy::Fifo });
            let mut written = std::collections::BTreeSet::new();
            for logical in writes {
                log.write(logical);
                written.insert(logical);
            }
            for logical in 0..200u64 {
                prop_assert_eq!(log.find(logical).is_some(), written.contains(&logical));
                if let Some(slot) = log.slot_of.get(logical as usize).filter(|slot| **slot != NONE) {
                    prop_assert_eq!(u64::from(log.owner_of[*slot as usize]), logical);
                }
            }
            let valid: u64 = log.units.iter().map(|unit| unit.valid_slots).sum();
            prop_assert_eq!(valid, written.len() as u64);
            prop_assert_eq!(log.valid_in.iter().map(|v| u64::from(*v)).sum::<u64>(), valid);
        }
    }
}

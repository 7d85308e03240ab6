//! Flash written as a log: every mapping unit goes where the log stands, and blocks are collected to make
//! room.
//!
//! Pages fill one unit after another in the order of writing. On each unit the log runs through blocks; what
//! was written before becomes garbage where it lay. When a unit's last free block is opened, a block is
//! collected: what is still valid in it is copied to the log, and it is erased. `greedy` takes the block with
//! the least valid, of several the one that was filled first; `fifo` the one that was filled first.

use rand::RngExt;
use serde::Deserialize;

use super::{
    map::{NOWHERE, Owners, SlotOf, TRIMMED},
    victim::Victims,
};
use crate::random::Random;

/// Which block is collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Policy {
    #[default]
    Greedy,
    Fifo,
}

/// The sizes of a log, in mapping units ("slots").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// Work of one garbage collection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Collected {
    /// Pages that were sensed for what was still valid in them.
    pub(super) sensed_pages: u64,
    /// Mapping units that were copied.
    pub(super) copied_slots: u64,
    /// Blocks that were erased.
    pub(super) erased_blocks: u64,
}

/// Place of a mapping unit, as the log knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotState {
    /// Never written.
    Nowhere,
    /// Given back: there is nothing to sense.
    Trimmed,
    /// On this unit, in this page.
    At(u32, u32),
}

/// The log of one unit.
#[derive(Debug, Clone)]
struct UnitLog {
    /// The block being filled, and how far.
    open: u32,
    filled: u32,
    free: Vec<u32>,
    /// Full blocks, counted from the unit's first.
    victims: Victims,
    valid_slots: u64,
}

/// Places of all mapping units.
#[derive(Debug, Clone)]
pub(super) struct Log {
    size: LogSize,
    policy: Policy,
    slot_of: SlotOf,
    owners: Vec<Owners>,
    valid_in: Vec<u32>,
    units: Vec<UnitLog>,
    /// The unit whose page is being filled, and how many mapping units still fit in that page.
    turn: u32,
    room_in_page: u32,
    /// Blocks are packed once half of them is garbage: worth its time only where there are very many.
    packs: bool,
}

/// Slots from which on blocks are packed: 64 GiB at 4 KiB.
const PACKED_FROM_SLOTS: u64 = 1 << 24;

impl Log {
    /// Everything blank.
    pub(super) fn new(size: LogSize, policy: Policy) -> Self {
        let blocks = size.units as usize * size.blocks_per_unit as usize;
        let unit_log = |unit: u32| UnitLog {
            open: unit * size.blocks_per_unit,
            filled: 0,
            free: (1..size.blocks_per_unit).rev().map(|block| unit * size.blocks_per_unit + block).collect(),
            victims: Victims::new(size.blocks_per_unit),
            valid_slots: 0,
        };
        Self {
            size,
            policy,
            slot_of: SlotOf::new(size.user_slots),
            owners: vec![Owners::default(); blocks],
            valid_in: vec![0; blocks],
            units: (0..size.units).map(unit_log).collect(),
            turn: 0,
            room_in_page: size.slots_per_page,
            packs: size.user_slots > PACKED_FROM_SLOTS && size.slots_per_block <= 1 << 16,
        }
    }

    /// Writes a share of all mapping units, once and in sequence.
    pub(super) fn fill(&mut self, share: f64) {
        for logical in 0..(self.size.user_slots as f64 * share) as u64 {
            self.write(logical);
        }
    }

    /// Place of a mapping unit.
    pub(super) fn find(&self, logical: u64) -> SlotState {
        match self.slot_of.get(logical) {
            NOWHERE => SlotState::Nowhere,
            TRIMMED => SlotState::Trimmed,
            slot => {
                let unit = slot / self.size.slots_per_block / self.size.blocks_per_unit;
                SlotState::At(unit, slot / self.size.slots_per_page)
            }
        }
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

    /// Gives a mapping unit back: what lay there is garbage.
    pub(super) fn trim(&mut self, logical: u64) {
        self.drop_old(logical);
        self.slot_of.set(logical, TRIMMED);
    }

    /// How many mapping units a unit that has just collected can take before it collects again.
    pub(super) fn slots_until_collecting(&self, unit: u32) -> u32 {
        self.size.slots_per_block - self.units[unit as usize].filled
    }

    /// Takes a blank block of a unit and fills it with `valid` of the given mapping units, at random places among
    /// garbage. Only for a log that is being laid out.
    pub(super) fn put_full_block(
        &mut self,
        unit: u32,
        valid: u32,
        logicals: &mut impl Iterator<Item = u32>,
        random: &mut Random,
    ) {
        let slots = self.size.slots_per_block;
        let block = self.units[unit as usize].free.pop().expect("all but the open block are blank");
        let mut left = valid;
        for place in 0..slots {
            if random.random_range(0..slots - place) < left {
                let logical = logicals.next().expect("as many mapping units as the levels add up to");
                self.owners[block as usize].set(place, slots, logical);
                self.slot_of.set(u64::from(logical), block * slots + place);
                left -= 1;
            }
        }
        self.valid_in[block as usize] = valid;
        self.units[unit as usize].valid_slots += u64::from(valid);
        self.is_full(unit, block);
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
        let old = self.slot_of.get(logical);
        if old == NOWHERE || old == TRIMMED {
            return;
        }
        let block = old / self.size.slots_per_block;
        let unit = &mut self.units[(block / self.size.blocks_per_unit) as usize];
        unit.valid_slots -= 1;
        let valid = &mut self.valid_in[block as usize];
        *valid -= 1;
        if self.policy == Policy::Greedy {
            unit.victims.shrink(block % self.size.blocks_per_unit, *valid);
        }
        if self.packs && *valid == self.size.slots_per_block / 2 && unit.open != block {
            self.slot_of.set(logical, NOWHERE);
            let first = block * self.size.slots_per_block;
            let slot_of = &self.slot_of;
            self.owners[block as usize].pack(|slot, owner| slot_of.get(u64::from(owner)) == first + slot);
        } else if *valid == 0 && unit.open != block {
            self.owners[block as usize] = Owners::Blank;
        }
    }

    fn append(&mut self, unit: u32, logical: u32) {
        let log = &mut self.units[unit as usize];
        let slot = log.open * self.size.slots_per_block + log.filled;
        self.owners[log.open as usize].set(log.filled, self.size.slots_per_block, logical);
        log.filled += 1;
        log.valid_slots += 1;
        self.valid_in[log.open as usize] += 1;
        self.slot_of.set(u64::from(logical), slot);
    }

    fn open_block(&mut self, unit: u32) {
        self.is_full(unit, self.units[unit as usize].open);
        let log = &mut self.units[unit as usize];
        log.open = log.free.pop().expect("a block is collected as soon as the last free one is opened");
        log.filled = 0;
    }

    fn collect(&mut self, unit: u32, collected: &mut Collected) {
        let log = &mut self.units[unit as usize];
        let victim =
            log.victims.take().expect("all blocks but two are full") + unit * self.size.blocks_per_unit;
        let first = victim * self.size.slots_per_block;
        let owners = std::mem::take(&mut self.owners[victim as usize]);
        let (mut sensed_page, mut copied) = (NOWHERE, 0);
        owners.each(|place, logical| {
            let slot = first + place;
            if self.slot_of.get(u64::from(logical)) != slot {
                return;
            }
            if slot / self.size.slots_per_page != sensed_page {
                sensed_page = slot / self.size.slots_per_page;
                collected.sensed_pages += 1;
            }
            copied += 1;
            self.append(unit, logical);
        });
        // The memory serves the block's next filling.
        self.owners[victim as usize] = owners;
        collected.copied_slots += copied;
        collected.erased_blocks += 1;
        self.valid_in[victim as usize] = 0;
        let log = &mut self.units[unit as usize];
        log.valid_slots -= copied;
        log.free.push(victim);
        // A victim that was all valid filled the open block and freed itself: the next one is chosen.
        if log.filled == self.size.slots_per_block {
            self.open_block(unit);
        }
    }

    /// From now on a block may be collected.
    fn is_full(&mut self, unit: u32, block: u32) {
        let valid = match self.policy {
            Policy::Greedy => self.valid_in[block as usize],
            Policy::Fifo => 0,
        };
        self.units[unit as usize].victims.enter(block % self.size.blocks_per_unit, valid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// 200 slots of 4 a page, 16 a block, on 2 units of 9 blocks: 288.
    const SIZE: LogSize =
        LogSize { user_slots: 200, units: 2, blocks_per_unit: 9, slots_per_block: 16, slots_per_page: 4 };

    proptest! {
        #[test]
        fn nothing_is_lost(
            steps in prop::collection::vec((0u64..200, prop::bool::weighted(0.2)), 0..4000),
            greedy: bool,
            packs: bool,
        ) {
            let mut log = Log::new(SIZE, if greedy { Policy::Greedy } else { Policy::Fifo });
            log.packs = packs;
            let (mut written, mut trimmed) = (BTreeSet::new(), BTreeSet::new());
            for (logical, trims) in steps {
                if trims {
                    log.trim(logical);
                    written.remove(&logical);
                    trimmed.insert(logical);
                } else {
                    log.write(logical);
                    written.insert(logical);
                    trimmed.remove(&logical);
                }
            }
            for logical in 0..200u64 {
                let found = log.find(logical);
                prop_assert_eq!(matches!(found, SlotState::At(..)), written.contains(&logical));
                prop_assert_eq!(found == SlotState::Trimmed, trimmed.contains(&logical));
                if let SlotState::At(..) = found {
                    let slot = log.slot_of.get(logical);
                    let mut owner = None;
                    log.owners[(slot / 16) as usize].each(|place, logical| {
                        if place == slot % 16 {
                            owner = Some(u64::from(logical));
                        }
                    });
                    prop_assert_eq!(owner, Some(logical));
                }
            }
            let valid: u64 = log.units.iter().map(|unit| unit.valid_slots).sum();
            prop_assert_eq!(valid, written.len() as u64);
            prop_assert_eq!(log.valid_in.iter().map(|v| u64::from(*v)).sum::<u64>(), valid);
        }
    }

    #[test]
    fn what_was_given_back_is_not_copied() {
        let copied = |trims: bool| {
            let mut log = Log::new(SIZE, Policy::Greedy);
            log.fill(1.0);
            if trims {
                (100..200).for_each(|logical| log.trim(logical));
            }
            (0..2_000u64).map(|k| log.write(k * 37 % 100).1.copied_slots).sum::<u64>()
        };
        // Half of the device is left to write 100 mapping units over and over.
        assert!(copied(true) * 5 < copied(false), "{} {}", copied(true), copied(false));
    }
}

//! Where every mapping unit lies, and whose slot every slot is: made piece by piece as a device is written, so that
//! a device of terabytes takes memory only for what it holds.

/// Never written.
pub(super) const NOWHERE: u32 = u32::MAX;
/// Written once and given back since.
pub(super) const TRIMMED: u32 = u32::MAX - 1;

/// Mapping units in a chunk: 16 KiB of memory.
const CHUNK: usize = 4096;

/// The slot of every mapping unit: `NOWHERE`, `TRIMMED`, or a number below both.
#[derive(Debug, Clone)]
pub(super) struct SlotOf {
    chunks: Vec<Option<Box<[u32; CHUNK]>>>,
}

impl SlotOf {
    pub(super) fn new(mapping_units: u64) -> Self {
        let mut chunks = Vec::new();
        chunks.resize_with(mapping_units.div_ceil(CHUNK as u64) as usize, || None);
        Self { chunks }
    }

    /// Also for a mapping unit beyond the end: nowhere.
    pub(super) fn get(&self, logical: u64) -> u32 {
        let chunk = self.chunks.get(logical as usize / CHUNK).and_then(Option::as_ref);
        chunk.map_or(NOWHERE, |chunk| chunk[logical as usize % CHUNK])
    }

    pub(super) fn set(&mut self, logical: u64, slot: u32) {
        let chunk = &mut self.chunks[logical as usize / CHUNK];
        chunk.get_or_insert_with(|| Box::new([NOWHERE; CHUNK]))[logical as usize % CHUNK] = slot;
    }
}

/// The mapping units that were written to a block's slots. Whether one is still valid only `SlotOf` knows: it is
/// if it still points here, so that nothing need be undone when something is written anew elsewhere.
#[derive(Debug, Clone, Default)]
pub(super) enum Owners {
    /// Nothing valid: no memory.
    #[default]
    Blank,
    /// One for each slot.
    All(Box<[u32]>),
    /// Slot within the block, and owner, of those that were valid when it was packed.
    Few(Box<[u16]>, Box<[u32]>),
}

impl Owners {
    /// Writes a slot of a block that is being filled.
    pub(super) fn set(&mut self, slot: u32, slots: u32, logical: u32) {
        if !matches!(self, Self::All(_)) {
            *self = Self::All(vec![0; slots as usize].into());
        }
        if let Self::All(owners) = self {
            owners[slot as usize] = logical;
        }
    }

    /// Every slot that may be valid, with its owner, in the order of slots.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, u32)) {
        match self {
            Self::Blank => {}
            Self::All(owners) => (0u32..).zip(owners.iter()).for_each(|(slot, owner)| visit(slot, *owner)),
            Self::Few(slots, owners) => {
                slots.iter().zip(owners.iter()).for_each(|(slot, owner)| visit(u32::from(*slot), *owner));
            }
        }
    }

    /// Keeps only what is still valid: 6 bytes for each instead of 4 for every slot.
    pub(super) fn pack(&mut self, is_valid: impl Fn(u32, u32) -> bool) {
        let (mut slots, mut owners) = (Vec::new(), Vec::new());
        self.each(|slot, owner| {
            if is_valid(slot, owner) {
                slots.push(slot as u16);
                owners.push(owner);
            }
        });
        *self = if owners.is_empty() { Self::Blank } else { Self::Few(slots.into(), owners.into()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_where_something_is() {
        let mut map = SlotOf::new(1 << 30);
        assert_eq!((map.get(7), map.get(1 << 40)), (NOWHERE, NOWHERE));
        map.set(1 << 29, 5);
        assert_eq!((map.get(1 << 29), map.get((1 << 29) + 1)), (5, NOWHERE));
        assert_eq!(map.chunks.iter().flatten().count(), 1);
    }

    #[test]
    fn packing_keeps_what_is_valid_in_order() {
        let mut owners = Owners::default();
        (0..8).for_each(|slot| owners.set(slot, 8, 100 + slot));
        owners.pack(|slot, owner| owner == 100 + slot && slot % 3 == 1);
        let mut seen = Vec::new();
        owners.each(|slot, owner| seen.push((slot, owner)));
        assert_eq!(seen, [(1, 101), (4, 104), (7, 107)]);
        owners.pack(|_, _| false);
        assert!(matches!(owners, Owners::Blank));
    }
}

//! What was given back of a device with static placement: ranges of bytes that need not be sensed.

use std::{collections::BTreeMap, ops::Range};

/// Ranges that do not touch: where each begins, and where it ends.
#[derive(Debug, Default)]
pub(super) struct Trimmed {
    ranges: BTreeMap<u64, u64>,
}

impl Trimmed {
    /// Gives a range back.
    pub(super) fn add(&mut self, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut from, mut to) = (range.start, range.end);
        // Ranges that it touches are merged with it.
        while let Some((&start, &end)) = self.ranges.range(..=to).next_back().filter(|(_, end)| **end >= from)
        {
            self.ranges.remove(&start);
            (from, to) = (from.min(start), to.max(end));
        }
        self.ranges.insert(from, to);
    }

    /// A range is written.
    pub(super) fn remove(&mut self, range: &Range<u64>) {
        if range.is_empty() {
            return;
        }
        while let Some((&start, &end)) =
            self.ranges.range(..range.end).next_back().filter(|(_, end)| **end > range.start)
        {
            self.ranges.remove(&start);
            if start < range.start {
                self.ranges.insert(start, range.start);
            }
            if end > range.end {
                self.ranges.insert(range.end, end);
            }
        }
    }

    /// Returns true if all of a range was given back.
    pub(super) fn covers(&self, range: &Range<u64>) -> bool {
        let before = self.ranges.range(..=range.start).next_back();
        before.is_some_and(|(_, end)| *end >= range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_sets_of_bytes(steps in prop::collection::vec((any::<bool>(), 0u64..50, 0u64..20), 1..60)) {
            let mut trimmed = Trimmed::default();
            let mut bytes = [false; 80];
            for (adds, from, length) in steps {
                let range = from..from + length;
                if adds { trimmed.add(&range) } else { trimmed.remove(&range) }
                range.for_each(|byte| bytes[byte as usize] = adds);
                for from in 0..70u64 {
                    for length in [1, 5] {
                        let expected = (from..from + length).all(|byte| bytes[byte as usize]);
                        prop_assert_eq!(trimmed.covers(&(from..from + length)), expected);
                    }
                }
            }
            prop_assert!(trimmed.ranges.iter().all(|(from, to)| from < to));
        }
    }
}

//! How long the next request is: one size, or several drawn by weight.

use iosonde_model::TrialSpec;

use super::{
    alias::Alias,
    random::{Random, scaled},
};

/// A length, and where requests of it may begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) length_bytes: u32,
    /// Multiples of the alignment at which such a request lies wholly inside.
    pub(super) places: u64,
    /// These places as a share of those of the smallest size, in units of 2^-64; 0 for all of them.
    share: u64,
}

impl Size {
    fn new(bytes: u64, (part_bytes, align_bytes): (u64, u64), most_places: u64) -> Self {
        let length_bytes = u32::try_from(bytes).expect("a request has less than 4 GiB");
        let places = (part_bytes - bytes) / align_bytes + 1;
        let share = if places < most_places {
            ((u128::from(places) << 64) / u128::from(most_places)) as u64
        } else {
            0
        };
        Self { length_bytes, places, share }
    }

    /// Moves a place that was drawn for the smallest size to one where this size fits. Order and shares are
    /// kept, and the request still holds the small block that was drawn: popular blocks are the same for all
    /// sizes.
    #[inline]
    pub(super) fn fit(&self, place: u64) -> u64 {
        if self.share == 0 { place } else { scaled(place, self.share) }
    }
}

/// The sizes of a workload.
#[derive(Debug, Clone)]
pub(super) enum Sizes {
    One(Size),
    Several(Alias<Size>),
}

impl Sizes {
    /// The sizes of a workload over a part that holds the largest of them.
    pub(super) fn new(spec: &TrialSpec, part_bytes: u64, align_bytes: u64) -> Self {
        let most_places = (part_bytes - spec.smallest_block_bytes()) / align_bytes + 1;
        let size = |bytes| Size::new(bytes, (part_bytes, align_bytes), most_places);
        if spec.block_sizes.is_one() {
            return Self::One(size(spec.block_size_bytes));
        }
        let sizes: Vec<_> = spec.block_sizes.iter().map(|one| (size(one.bytes), one.percent)).collect();
        Self::Several(Alias::new(&sizes))
    }

    /// Places of the smallest size.
    pub(super) fn places(&self) -> u64 {
        match self {
            Self::One(size) => size.places,
            Self::Several(sizes) => sizes.values().map(|size| size.places).max().unwrap_or(1),
        }
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> Size {
        match self {
            Self::One(size) => *size,
            Self::Several(sizes) => Self::one_of(sizes, random),
        }
    }

    #[inline(never)]
    fn one_of(sizes: &Alias<Size>, random: &mut Random) -> Size {
        sizes.draw(random)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::testing::*, *};

    #[test]
    fn each_size_has_its_places() {
        let block_sizes = "4k:60,64k:40".parse().unwrap();
        let sizes = Sizes::new(&TrialSpec { block_sizes, ..TrialSpec::default() }, 1 << 20, 4096);
        assert_eq!(sizes.places(), 256);
        let mut random = random(7);
        let mut large = 0;
        for _ in 0..10_000 {
            let size = sizes.draw(&mut random);
            assert_eq!(size.places, if size.length_bytes == 4096 { 256 } else { 241 });
            large += u32::from(size.length_bytes == 65_536);
        }
        // Standard deviation 49.
        assert!(large.abs_diff(4000) < 250, "{large}");
    }

    proptest! {
        #[test]
        fn a_larger_request_holds_the_small_block_that_was_drawn(
            blocks in 1u64..5000, larger in 1u64..40, place: u64,
        ) {
            let (large, small) = (larger.min(blocks) * 4096, 4096);
            let part = (blocks * 4096, 4096);
            let size = Size::new(large, part, Size::new(small, part, 0).places);
            let place = place % blocks;
            let moved = size.fit(place);
            prop_assert!(moved < size.places);
            prop_assert!(moved <= place && place < moved + large / 4096, "{} went to {}", place, moved);
        }
    }
}

//! Random streams: one for each purpose, all from one seed, so that adding noise of one kind leaves the draws
//! of every other kind as they were.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator behind every draw: small, fast, and equidistributed in four dimensions.
pub(crate) type Random = Xoshiro256PlusPlus;

/// The stream for one purpose, such as `noise.rate`.
pub(crate) fn stream(seed: u64, purpose: &str) -> Random {
    // FNV-1a over the purpose; seed_from_u64 then spreads the bits (SplitMix64).
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    for byte in purpose.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    Random::seed_from_u64(hash)
}

/// The numbers below `length` in a random order, each found from its place alone: a shuffled list of millions would be
/// the largest thing in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permutation {
    length: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// An order drawn at random.
    pub(crate) fn new(length: u64, random: &mut Random) -> Self {
        let bits = u64::BITS - length.max(2).saturating_sub(1).leading_zeros();
        Self { length, half_bits: bits.div_ceil(2), keys: std::array::from_fn(|_| random.next_u64()) }
    }

    /// The number at a place below `length`: four rounds of a Feistel network (Luby and Rackoff 1988), and again
    /// until it lies below `length`, which takes fewer than four turns on average.
    pub(crate) fn at(&self, place: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let mut number = place;
        loop {
            let (mut left, mut right) = (number >> self.half_bits, number & mask);
            for key in self.keys {
                // 2^64 divided by the golden ratio; the upper bits of a product are the well mixed ones.
                let mixed = (right ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                (left, right) = (right, left ^ (mixed >> 40 & mask));
            }
            number = left << self.half_bits | right;
            if number < self.length {
                return number;
            }
        }
    }
}

/// Rounds a duration to whole nanoseconds; what is negative or not a number is nothing.
pub(crate) fn whole_ns(ns: f64) -> u64 {
    (ns + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_purpose_alone() {
        let first = |seed, purpose| stream(seed, purpose).next_u64();
        assert_eq!(first(1, "queue"), first(1, "queue"));
        assert_ne!(first(1, "queue"), first(2, "queue"));
        assert_ne!(first(1, "queue"), first(1, "noise.tail"));
    }

    #[test]
    fn a_permutation_has_every_number_once_and_no_order() {
        for length in [1, 2, 3, 100, 4096, 5000] {
            let order = Permutation::new(length, &mut stream(3, "test"));
            let mut all: Vec<u64> = (0..length).map(|place| order.at(place)).collect();
            // The mean distance of neighbours in a random order is a third.
            let steps: u64 = all.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
            let mean = steps as f64 / length as f64 / length as f64;
            assert!(length < 100 || (0.28..0.38).contains(&mean), "{length}: {mean}");
            all.sort_unstable();
            assert!(all.into_iter().eq(0..length), "{length}");
        }
    }
}

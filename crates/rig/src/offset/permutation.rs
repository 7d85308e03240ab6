//! An order in which each of n places comes exactly once, in constant memory: a keyed permutation.
//!
//! It works on the numbers below the next power of two. Adding a key, multiplying by an odd one and folding
//! the upper half of the bits onto the lower can each be undone, so that no two numbers meet (Kensler 2013
//! shuffles samples in this way; a Feistel network of equal quality took five times as long). What falls
//! beyond n is sent through again until it does not ("cycle walking", Black and Rogaway 2002): less than
//! twice in the mean. 5..10 ns, and up to 30 where n lies just above a power of two and the processor guesses
//! wrong every other time.

use rand::Rng;

use super::random::Random;

/// With so many, 4 million successive pairs, pairs two apart and distances look random for more than [`FEW`]
/// numbers; with three they do not.
const ROUNDS: usize = 4;
/// With so many besides, they do for any number.
const MORE_ROUNDS: usize = 8;
/// Where there are so few numbers, requests are large or the span is a toy's: nobody minds 20 ns more.
const FEW: u64 = 512;

/// Addend and odd multiplier of one round.
type Key = (u64, u64);

/// A permutation of the numbers below n.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    n: u64,
    mask: u64,
    half: u32,
    keys: [Key; ROUNDS],
    more_keys: [Key; MORE_ROUNDS],
}

impl Permutation {
    /// One of the permutations of the numbers below `n`, which is not 0.
    pub(super) fn new(n: u64, random: &mut Random) -> Self {
        let bits = (u64::BITS - (n - 1).leading_zeros()).max(1);
        let (mask, half) = (u64::MAX >> (u64::BITS - bits), bits.div_ceil(2));
        let mut permutation =
            Self { n, mask, half, keys: [(0, 1); ROUNDS], more_keys: [(0, 1); MORE_ROUNDS] };
        permutation.shuffle(random);
        permutation
    }

    /// Becomes another one.
    pub(super) fn shuffle(&mut self, random: &mut Random) {
        for key in self.keys.iter_mut().chain(&mut self.more_keys) {
            *key = (random.next_u64(), random.next_u64() | 1);
        }
    }

    /// Where `number`, which is below n, is sent.
    #[inline]
    pub(super) fn of(&self, number: u64) -> u64 {
        let mut number = number;
        loop {
            number = self.turned(number, &self.keys);
            if self.n <= FEW {
                number = self.turned(number, &self.more_keys);
            }
            if number < self.n {
                return number;
            }
        }
    }

    #[inline]
    fn turned<const N: usize>(&self, mut number: u64, keys: &[Key; N]) -> u64 {
        for (addend, factor) in keys {
            number = number.wrapping_add(*addend).wrapping_mul(*factor) & self.mask;
            number ^= number >> self.half;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::{super::testing::*, *};

    /// Numbers of places: few, many, powers of two and their neighbours.
    const SOME: [u64; 12] =
        [3, 10, 16, 37, 100, 512, 1000, 4096, 65_537, 1 << 20, (1 << 20) + 1, 3_000_000_000];

    proptest! {
        #[test]
        fn each_number_comes_once(n in 1u64..3000, seed: u64) {
            let order = Permutation::new(n, &mut random(seed));
            let mut seen = vec![false; n as usize];
            for number in 0..n {
                let at = order.of(number) as usize;
                prop_assert!(!std::mem::replace(&mut seen[at], true), "{} comes twice", at);
            }
        }

        #[test]
        fn many_numbers_do_not_meet_either(n in 1u64..=u64::MAX, seed: u64, from: u64) {
            let order = Permutation::new(n, &mut random(seed));
            let numbers: HashSet<u64> = (0..500).map(|k| (from % n + k) % n).collect();
            let sent: HashSet<u64> = numbers.iter().map(|&number| order.of(number)).collect();
            prop_assert_eq!(sent.len(), numbers.len());
            prop_assert!(sent.iter().all(|&number| number < n));
        }
    }

    #[test]
    fn each_number_is_sent_anywhere() {
        for n in SOME {
            let (mut random, cells) = (random(n), n.min(50));
            let mut order = Permutation::new(n, &mut random);
            let (mut first, mut middle) = (vec![0u64; cells as usize], vec![0u64; cells as usize]);
            for _ in 0..20_000 {
                order.shuffle(&mut random);
                first[cell(order.of(0), n, cells)] += 1;
                middle[cell(order.of(n / 2), n, cells)] += 1;
            }
            let shares = cell_sizes(n, cells).map(|size| size / n as f64);
            assert_fits(&format!("the first of {n}"), &first, shares.clone());
            assert_fits(&format!("the middle of {n}"), &middle, shares);
        }
    }

    #[test]
    fn successive_numbers_are_sent_to_unrelated_places() {
        for n in SOME {
            for lag in [1, 2] {
                let (mut random, cells) = (random(n + lag), n.min(16));
                let mut order = Permutation::new(n, &mut random);
                let mut pairs = vec![0u64; (cells * cells) as usize];
                let a_pass = (n - lag).min(20_000);
                for _ in 0..200_000 / a_pass {
                    order.shuffle(&mut random);
                    for number in 0..a_pass {
                        let (one, other) = (order.of(number), order.of(number + lag));
                        pairs[cell(one, n, cells) * cells as usize + cell(other, n, cells)] += 1;
                    }
                }
                // The second is any but the first.
                let sizes: Vec<f64> = cell_sizes(n, cells).collect();
                let pair = |one: usize, other: usize| {
                    sizes[one] * (sizes[other] - f64::from(u8::from(one == other)))
                        / (n as f64 * (n - 1) as f64)
                };
                let shares = (0..pairs.len()).map(|at| pair(at / cells as usize, at % cells as usize));
                assert_fits(&format!("pairs {lag} apart of {n}"), &pairs, shares);
            }
        }
    }

    /// Neighbours in the order are equally often at any distance: an order that steps through the span has
    /// few.
    #[test]
    fn distances_are_even() {
        for n in SOME {
            let (mut random, cells) = (random(n), (n - 1).min(64));
            let mut order = Permutation::new(n, &mut random);
            let mut distances = vec![0u64; cells as usize];
            let a_pass = (n - 1).min(20_000);
            for _ in 0..200_000 / a_pass {
                order.shuffle(&mut random);
                for number in 0..a_pass {
                    let distance = (order.of(number + 1) + n - order.of(number)) % n;
                    distances[cell(distance - 1, n - 1, cells)] += 1;
                }
            }
            if cells > 1 {
                let shares = cell_sizes(n - 1, cells).map(|size| size / (n - 1) as f64);
                assert_fits(&format!("distances among {n}"), &distances, shares);
            }
        }
    }

    fn cell(number: u64, n: u64, cells: u64) -> usize {
        (u128::from(number) * u128::from(cells) / u128::from(n)) as usize
    }

    /// Number of numbers in each cell.
    fn cell_sizes(n: u64, cells: u64) -> impl Iterator<Item = f64> + Clone {
        let from = move |cell: u64| (u128::from(cell) * u128::from(n)).div_ceil(u128::from(cells));
        (0..cells).map(move |cell| (from(cell + 1) - from(cell)) as f64)
    }
}

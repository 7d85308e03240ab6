//! Random numbers of the offset generators.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random number generator of all offsets.
pub(super) type Random = Xoshiro256PlusPlus;

/// A uniform integer below `bound` without division (Lemire 2019, without the rejection: at 2^40 blocks the
/// bias is 2^-24, far below anything measurable here).
#[inline]
pub(super) fn below(random: &mut Random, bound: u64) -> u64 {
    scaled(random.next_u64(), bound)
}

/// `value * factor / 2^64`.
#[inline]
pub(super) fn scaled(value: u64, factor: u64) -> u64 {
    ((u128::from(value) * u128::from(factor)) >> 64) as u64
}

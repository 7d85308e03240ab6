//! Random streams: one for each purpose, all from one seed, so that adding noise of one kind leaves the draws
//! of every other kind as they were.

use rand::SeedableRng;
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

/// Rounds a duration to whole nanoseconds; what is negative or not a number is nothing.
pub(crate) fn whole_ns(ns: f64) -> u64 {
    (ns + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn a_stream_depends_on_seed_and_purpose_alone() {
        let first = |seed, purpose| stream(seed, purpose).next_u64();
        assert_eq!(first(1, "queue"), first(1, "queue"));
        assert_ne!(first(1, "queue"), first(2, "queue"));
        assert_ne!(first(1, "queue"), first(1, "noise.tail"));
    }
}

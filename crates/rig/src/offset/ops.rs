//! Which requests of a mix read: exact to the request, however long it runs.
//!
//! Each request adds its share of a read to an account; when a whole read is owed, the next request reads.
//! The account is kept in whole numbers: after n requests, reads = (phase + n · share) / [`WHOLE`] rounded
//! down, without any rounding on the way. What is left is the rounding of the share itself, less than 2^-56
//! of a percent: 10^9 requests are off by less than 10^-9 of one.

use iosonde_model::{Op, TrialSpec};

use super::random::{Random, below};

/// 100 %, in units of 2^-56 of a percent: the finest that leaves room for one addition in 64 bits.
const WHOLE: u64 = 100 << 56;

/// The kind of each request.
#[derive(Debug, Clone)]
pub(super) enum Ops {
    /// All of one kind.
    One(Op),
    /// Reads and writes.
    Mix {
        /// Amount that each request adds to `owed`: the share of reads.
        share: u64,
        /// Always less than a whole read.
        owed: u64,
    },
}

impl Ops {
    pub(super) fn new(spec: &TrialSpec, random: &mut Random) -> Self {
        if spec.rw.is_mixed() {
            let percent = spec.read_percent.unwrap_or(50.0).clamp(0.0, 100.0);
            // A random phase: jobs and trials of one mix shall not read and write in step.
            Self::Mix { share: (percent * 2f64.powi(56)).round() as u64, owed: below(random, WHOLE) }
        } else if spec.rw.trims() {
            Self::One(Op::Trim)
        } else {
            Self::One(if spec.rw.reads() { Op::Read } else { Op::Write })
        }
    }

    #[inline]
    pub(super) fn draw(&mut self) -> Op {
        match self {
            Self::One(op) => *op,
            Self::Mix { share, owed } => {
                // Below 2 · WHOLE = 1.44e19, which is less than 2^64.
                *owed += *share;
                let reads = *owed >= WHOLE;
                *owed -= if reads { WHOLE } else { 0 };
                if reads { Op::Read } else { Op::Write }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Rw;
    use proptest::prelude::*;

    use super::{super::testing::random, *};

    fn mix(percent: f64, seed: u64) -> Ops {
        let spec = TrialSpec { rw: Rw::RandRw, read_percent: Some(percent), ..TrialSpec::default() };
        Ops::new(&spec, &mut random(seed))
    }

    fn reads(ops: &mut Ops, n: u64) -> u64 {
        (0..n).filter(|_| ops.draw() == Op::Read).count() as u64
    }

    proptest! {
        #[test]
        fn a_mix_is_exact_to_the_request(percent in 0.0f64..=100.0, seed: u64, n in 1u64..5000) {
            let seen = reads(&mut mix(percent, seed), n) as f64;
            prop_assert!((seen - percent / 100.0 * n as f64).abs() < 1.0 + 1e-9);
        }

        /// Nothing is ever rounded: the sum that was added equals what reads took plus what is still owed.
        #[test]
        fn the_account_balances(percent in 0.0f64..=100.0, seed: u64, n in 1u64..5000) {
            let mut ops = mix(percent, seed);
            let Ops::Mix { share, owed: phase } = ops else { panic!("no mix") };
            let reads = reads(&mut ops, n);
            let Ops::Mix { owed, .. } = ops else { panic!("no mix") };
            prop_assert!(owed < WHOLE);
            let added = u128::from(phase) + u128::from(n) * u128::from(share);
            prop_assert_eq!(added, u128::from(reads) * u128::from(WHOLE) + u128::from(owed));
            // 2^56 times any percentage from 0.1 on is a whole number: the share is not rounded either.
            prop_assert!(percent < 0.1 || share as f64 / 2f64.powi(56) == percent);
        }
    }

    #[test]
    fn a_long_run_does_not_drift() {
        for (percent, expected) in
            [(70.0, 35_000_000u64), (33.3, 16_650_000), (0.1, 50_000), (99.9, 49_950_000)]
        {
            let seen = reads(&mut mix(percent, 3), 50_000_000);
            assert!(seen.abs_diff(expected) <= 1, "{percent} %: {seen}");
        }
    }

    #[test]
    fn the_ends_of_the_scale_are_one_kind() {
        assert_eq!(reads(&mut mix(0.0, 1), 1000), 0);
        assert_eq!(reads(&mut mix(100.0, 1), 1000), 1000);
    }

    #[test]
    fn mixes_of_several_jobs_are_not_in_step() {
        let first = |seed| mix(50.0, seed).draw();
        let reads = (0..1000).filter(|&seed| first(seed) == Op::Read).count();
        assert!((420..580).contains(&reads), "{reads}: 500 expected, standard deviation 16");
    }
}

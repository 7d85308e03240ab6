//! `once`: every place exactly once a pass, in an order that differs from pass to pass.
//!
//! Jobs in the same range deal out the passes among themselves like cards: together they visit every place
//! once, and none waits for another. With `once:job` each job has passes of its own: a share of one of one.

use super::{permutation::Permutation, random::Random};

/// One job's share of the passes.
#[derive(Debug, Clone)]
pub(super) struct Once {
    order: Permutation,
    places: u64,
    /// Position in the pass of this job's next request.
    next: u64,
    jobs: u64,
    /// Gives the keys of the passes, the same ones to each job.
    keys: Random,
}

impl Once {
    /// Passes over `places`, of which `job` of `jobs` takes its share.
    pub(super) fn new(places: u64, (job, jobs): (u32, u32), mut keys: Random) -> Self {
        let order = Permutation::new(places, &mut keys);
        Self { order, places, next: u64::from(job), jobs: u64::from(jobs), keys }
    }

    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        // A loop, since there may be more jobs than places: then a pass can be over before it is this job's
        // turn.
        while self.next >= self.places {
            self.next -= self.places;
            self.order.shuffle(&mut self.keys);
        }
        let place = self.order.of(self.next);
        self.next += self.jobs;
        place
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::testing::*, *};

    fn pass(once: &mut Once, places: u64) -> Vec<u64> {
        (0..places).map(|_| once.draw()).collect()
    }

    proptest! {
        #[test]
        fn each_pass_is_a_permutation(places in 1u64..2000, seed: u64) {
            let mut once = Once::new(places, (0, 1), random(seed));
            for _ in 0..4 {
                let mut seen = pass(&mut once, places);
                seen.sort_unstable();
                prop_assert!(seen.into_iter().eq(0..places));
            }
        }

        #[test]
        fn passes_differ(places in 20u64..2000, seed: u64) {
            let mut once = Once::new(places, (0, 1), random(seed));
            prop_assert_ne!(pass(&mut once, places), pass(&mut once, places));
        }

        #[test]
        fn jobs_deal_out_the_same_passes(places in 1u64..100, jobs in 1u32..12, seed: u64) {
            let once = |share| Once::new(places, share, random(seed));
            let mut dealt: Vec<Once> = (0..jobs).map(|job| once((job, jobs))).collect();
            let mut alone = once((0, 1));
            for _ in 0..3 * places {
                for job in &mut dealt {
                    prop_assert_eq!(job.draw(), alone.draw());
                }
            }
        }
    }

    #[test]
    fn an_order_says_nothing_of_the_next() {
        // A random order leaves one of n places where it was on average, with variance 1.
        let mut once = Once::new(1000, (0, 1), random(5));
        let mut last = pass(&mut once, 1000);
        let mut kept = 0;
        for _ in 0..400 {
            let next = pass(&mut once, 1000);
            kept += last.iter().zip(&next).filter(|(a, b)| a == b).count();
            last = next;
        }
        assert!(kept.abs_diff(400) < 80, "{kept}: 400 expected, standard deviation 20");
    }
}

//! One after another: by a fixed step, or each where the last ended.
//!
//! Every trial begins elsewhere: if all began at 0, every round would read the same first bytes again, and a
//! cache outside our sight would serve them. Jobs in the same range begin at equal distances.

use super::random::{Random, below};

/// Requests of one size at a fixed distance; at the end a pass begins again, at the same offsets or shifted.
#[derive(Debug, Clone)]
pub(super) struct Step {
    next_bytes: u64,
    step_bytes: u64,
    /// Offset at which this pass began.
    shift_bytes: u64,
    /// How much further on the next one begins; 0 for the same place.
    shift_by_bytes: u64,
    /// The last offset at which a request lies wholly inside.
    last_bytes: u64,
    /// Offset of the last request of a pass, from which requests go backwards; `None` forwards.
    backwards_from_bytes: Option<u64>,
}

impl Step {
    /// `step_bytes` from start to start; each pass begins `shift_by_bytes` further on than the last.
    pub(super) fn new(
        (step_bytes, shift_by_bytes): (u64, u64),
        last_bytes: u64,
        share: (u32, u32),
        random: &mut Random,
    ) -> Self {
        // A longer step wraps at once all the same, and none would never end.
        let step_bytes = step_bytes.clamp(1, last_bytes + 1);
        let steps = last_bytes / step_bytes + 1;
        let passes = if shift_by_bytes == 0 { 1 } else { step_bytes.div_ceil(shift_by_bytes) };
        let nth = beginning(steps * passes, share, random);
        let (shift_bytes, within_bytes) = (nth % passes * shift_by_bytes, nth / passes * step_bytes);
        let fits = shift_bytes + within_bytes <= last_bytes;
        let next_bytes = if fits { shift_bytes + within_bytes } else { shift_bytes };
        let backwards_from_bytes = None;
        Self { next_bytes, step_bytes, shift_bytes, shift_by_bytes, last_bytes, backwards_from_bytes }
    }

    /// Goes through the same places from the last to the first.
    pub(super) fn backwards(mut self) -> Self {
        self.backwards_from_bytes = Some(self.last_bytes / self.step_bytes * self.step_bytes);
        self
    }

    pub(super) fn restart(&mut self) {
        (self.next_bytes, self.shift_bytes) = (0, 0);
    }

    #[inline]
    pub(super) fn draw(&mut self) -> u64 {
        let at_bytes = self.next_bytes;
        self.next_bytes += self.step_bytes;
        if self.next_bytes > self.last_bytes {
            self.shift_bytes += self.shift_by_bytes;
            // Once a pass would begin where the first one took its second step, all blocks have been visited.
            if self.shift_bytes >= self.step_bytes || self.shift_bytes > self.last_bytes {
                self.shift_bytes = 0;
            }
            self.next_bytes = self.shift_bytes;
        }
        self.backwards_from_bytes.map_or(at_bytes, |last_bytes| last_bytes - at_bytes)
    }
}

/// Requests of several sizes, each beginning where the last one ended; what does not fit goes to the
/// beginning.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    next_bytes: u64,
    end_bytes: u64,
}

impl Chain {
    pub(super) fn new(align_bytes: u64, end_bytes: u64, share: (u32, u32), random: &mut Random) -> Self {
        let next_bytes = beginning(end_bytes.div_ceil(align_bytes), share, random) * align_bytes;
        Self { next_bytes, end_bytes }
    }

    pub(super) fn restart(&mut self) {
        self.next_bytes = 0;
    }

    #[inline]
    pub(super) fn draw(&mut self, length_bytes: u32) -> u64 {
        let length_bytes = u64::from(length_bytes);
        let fits = self.next_bytes + length_bytes <= self.end_bytes;
        let at_bytes = if fits { self.next_bytes } else { 0 };
        self.next_bytes = at_bytes + length_bytes;
        at_bytes
    }
}

/// Where a job begins on a round of `steps`: a random place, and equal distances from there for the jobs of a
/// stream, which all draw the same one.
fn beginning(steps: u64, (job, jobs): (u32, u32), random: &mut Random) -> u64 {
    let distance = u128::from(steps) * u128::from(job) / u128::from(jobs);
    ((u128::from(below(random, steps)) + distance) % u128::from(steps)) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{super::testing::random, *};

    /// A pattern over blocks of one byte, from the start.
    fn steps(step: u64, shift: u64, blocks: u64, draws: usize) -> Vec<u64> {
        let mut steps = Step::new((step, shift), blocks - 1, (0, 1), &mut random(1));
        steps.restart();
        (0..draws).map(|_| steps.draw()).collect()
    }

    #[test]
    fn a_stride_begins_again_at_the_same_offsets() {
        assert_eq!(steps(3, 0, 8, 7), [0, 3, 6, 0, 3, 6, 0]);
    }

    #[test]
    fn a_shifted_stride_begins_one_block_further() {
        assert_eq!(steps(3, 1, 8, 10), [0, 3, 6, 1, 4, 7, 2, 5, 0, 3]);
        // A stride beyond the end leaves one block a pass.
        assert_eq!(steps(10, 1, 3, 5), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn backwards_are_the_same_places_from_the_last_to_the_first() {
        let mut steps = Step::new((3, 0), 7, (0, 1), &mut random(1)).backwards();
        steps.restart();
        let drawn: Vec<u64> = (0..5).map(|_| steps.draw()).collect();
        assert_eq!(drawn, [6, 3, 0, 6, 3]);
    }

    proptest! {
        #[test]
        fn shifted_passes_visit_every_block_once(
            stride in 1u64..50, blocks in 1u64..500, block in 1u64..9, seed: u64,
        ) {
            let last = (blocks - 1) * block;
            let mut steps = Step::new((stride * block, block), last, (0, 1), &mut random(seed));
            // From wherever it begins: the cycle has as many requests as there are blocks.
            let mut seen: Vec<u64> = (0..blocks).map(|_| steps.draw()).collect();
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq((0..blocks).map(|n| n * block)));
        }

        #[test]
        fn the_beginning_is_one_of_the_cycle(
            stride in 0u64..50, shift in 0u64..9, blocks in 1u64..200, seed: u64,
        ) {
            let mut begun = Step::new((stride, shift), blocks - 1, (0, 1), &mut random(seed));
            let first = begun.draw();
            let cycle = steps(stride, shift, blocks, 2 * blocks as usize + 2);
            prop_assert!(cycle.contains(&first), "{} is none of {:?}", first, cycle);
        }

        #[test]
        fn jobs_begin_at_equal_distances(blocks in 1u64..10_000, jobs in 1u32..20, seed: u64) {
            let first = |job| Step::new((1, 0), blocks - 1, (job, jobs), &mut random(seed)).draw();
            for job in 1..jobs {
                let distance = (first(job) + blocks - first(0)) % blocks;
                prop_assert_eq!(distance, blocks * u64::from(job) / u64::from(jobs));
            }
        }

        #[test]
        fn each_begins_where_the_last_ended(lengths in prop::collection::vec(1u32..30, 1..200), seed: u64) {
            let mut chain = Chain::new(1, 100, (0, 1), &mut random(seed));
            let mut end = None;
            for length in lengths {
                let at = chain.draw(length);
                let fits = end.is_none_or(|end| end + u64::from(length) <= 100);
                prop_assert_eq!(at, end.filter(|_| fits).unwrap_or(if end.is_some() { 0 } else { at }));
                end = Some(at + u64::from(length));
                prop_assert!(end <= Some(100));
            }
        }
    }

    #[test]
    fn trials_begin_anywhere() {
        let first = |seed| Step::new((4, 1), 999, (0, 1), &mut random(seed)).draw();
        let firsts: Vec<u64> = (0..4000).map(first).collect();
        let mean = firsts.iter().sum::<u64>() as f64 / 4000.0;
        // Uniform below 1,000: standard deviation 289, of the mean 4.6.
        assert!((mean - 499.5).abs() < 20.0, "{mean}");
        assert!((0..4).all(|rest| firsts.iter().any(|first| first % 4 == rest)));
    }
}

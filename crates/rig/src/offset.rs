//! Where the next request goes: the access patterns.
//!
//! A generator is a function of its seed alone and allocates nothing after its making.

use iosonde_model::{Op, TrialSpec};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Draws offsets and directions of one job.
#[derive(Debug, Clone)]
pub struct Offsets {
    random: Xoshiro256PlusPlus,
    pattern: Pattern,
    trims: bool,
    mix: Mix,
    base_bytes: u64,
    block_bytes: u64,
}

#[derive(Debug, Clone)]
enum Pattern {
    /// Uniform over the blocks of the span, with replacement.
    Random { blocks: u64 },
    /// A fixed step, wrapping around at the end of the span.
    Step { next_bytes: u64, step_bytes: u64, end_bytes: u64 },
}

/// Which requests of a mix read. Exact in the long run: the error never exceeds one request.
#[derive(Debug, Clone)]
struct Mix {
    read_share: f64,
    owed: f64,
}

impl Mix {
    fn draw(&mut self) -> Op {
        self.owed += self.read_share;
        if self.owed >= 1.0 {
            self.owed -= 1.0;
            Op::Read
        } else {
            Op::Write
        }
    }
}

/// A uniform integer below `bound` without division (Lemire 2019, without the rejection: at 2^40 blocks the bias
/// is 2^-24, far below anything measurable here).
#[inline]
fn below(random: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

impl Offsets {
    /// A generator for one job of a workload whose span holds at least one block.
    pub fn new(spec: &TrialSpec, _job: u32, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let block_bytes = spec.block_size_bytes;
        let blocks = spec.span_bytes / block_bytes;
        assert!(blocks > 0, "a span of {} B holds no block of {block_bytes} B", spec.span_bytes);
        let pattern = if spec.rw.is_random() {
            Pattern::Random { blocks }
        } else {
            let step_bytes = spec.stride_bytes.unwrap_or(block_bytes);
            let end_bytes = blocks * block_bytes;
            // Every trial begins elsewhere: if all began at 0, every round would read the same first bytes again,
            // and a cache outside our sight would serve them.
            let start = below(&mut random, end_bytes.div_ceil(step_bytes)) * step_bytes;
            let next_bytes = if start + block_bytes <= end_bytes { start } else { 0 };
            Pattern::Step { next_bytes, step_bytes, end_bytes }
        };
        let read_share = match (spec.rw.reads(), spec.rw.writes()) {
            (true, true) => spec.read_percent.unwrap_or(50.0) / 100.0,
            (reads, _) => f64::from(u8::from(reads)),
        };
        // A random phase: jobs and trials of one mix shall not read and write in step.
        let owed =
            if spec.rw.is_mixed() { below(&mut random, 1 << 20) as f64 / f64::from(1 << 20) } else { 0.0 };
        Self {
            random,
            pattern,
            trims: spec.rw.trims(),
            mix: Mix { read_share, owed },
            base_bytes: spec.offset_bytes,
            block_bytes,
        }
    }

    /// Makes a sequential generator begin at the start of the span, as filling needs.
    #[must_use]
    pub fn from_start(mut self) -> Self {
        if let Pattern::Step { next_bytes, .. } = &mut self.pattern {
            *next_bytes = 0;
        }
        self
    }

    /// The next request: its direction, its byte offset in the target, its length in bytes.
    #[inline]
    pub fn draw(&mut self) -> (Op, u64, u32) {
        let op = if self.trims { Op::Trim } else { self.mix.draw() };
        let within = match &mut self.pattern {
            Pattern::Random { blocks } => below(&mut self.random, *blocks) * self.block_bytes,
            Pattern::Step { next_bytes, step_bytes, end_bytes } => {
                let at = *next_bytes;
                *next_bytes += *step_bytes;
                if *next_bytes + self.block_bytes > *end_bytes {
                    *next_bytes = 0;
                }
                at
            }
        };
        (op, self.base_bytes + within, self.block_bytes as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::Rw;
    use proptest::prelude::*;

    fn spec(rw: Rw, block: u64, span: u64) -> TrialSpec {
        TrialSpec {
            rw,
            block_size_bytes: block,
            queue_depth: 1,
            jobs: 1,
            read_percent: None,
            stride_bytes: None,
            offset_bytes: 0,
            span_bytes: span,
            engine: String::new(),
            direct: true,
            ..TrialSpec::default()
        }
    }

    #[test]
    fn a_pass_from_the_start_visits_each_block_once_in_order() {
        let mut offsets = Offsets::new(&spec(Rw::Write, 4096, 10 * 4096 + 17), 0, 3).from_start();
        let seen: Vec<u64> = (0..11).map(|_| offsets.draw().1 / 4096).collect();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
    }

    #[test]
    fn a_stride_wraps_at_the_end_of_the_span() {
        let strided = TrialSpec { stride_bytes: Some(3 * 4096), ..spec(Rw::Read, 4096, 8 * 4096) };
        let mut offsets = Offsets::new(&strided, 0, 3).from_start();
        let seen: Vec<u64> = (0..5).map(|_| offsets.draw().1 / 4096).collect();
        assert_eq!(seen, [0, 3, 6, 0, 3]);
    }

    #[test]
    fn random_offsets_cover_the_blocks_evenly() {
        let mut offsets = Offsets::new(&spec(Rw::RandRead, 4096, 64 * 4096), 0, 11);
        let mut counts = [0u32; 64];
        (0..64_000).for_each(|_| counts[(offsets.draw().1 / 4096) as usize] += 1);
        // 1,000 expected in each, standard deviation 31; 5 sigma.
        assert!(counts.iter().all(|&n| (845..1155).contains(&n)), "{counts:?}");
    }

    #[test]
    fn trials_of_one_point_begin_at_different_places() {
        let starts: std::collections::HashSet<u64> =
            (0..20).map(|seed| Offsets::new(&spec(Rw::Read, 4096, 1 << 30), 0, seed).draw().1).collect();
        assert!(starts.len() > 15, "{starts:?}");
    }

    proptest! {
        #[test]
        fn every_request_lies_in_the_span_and_on_a_block(
            rw in prop::sample::select(Rw::ALL.to_vec()), block in 1u64..100, blocks in 1u64..50, rest in 0u64..100,
            stride in prop::option::of(1u64..500), offset in 0u64..1000, seed: u64,
        ) {
            let block_bytes = block * 512;
            let span = blocks * block_bytes + rest % block_bytes;
            let spec = TrialSpec {
                stride_bytes: stride.map(|s| s * 512), offset_bytes: offset * 512, ..spec(rw, block_bytes, span)
            };
            let mut offsets = Offsets::new(&spec, 0, seed);
            for _ in 0..200 {
                let (op, at, _) = offsets.draw();
                prop_assert!(rw.has(op));
                prop_assert!(at >= spec.offset_bytes && at + block_bytes <= spec.offset_bytes + span);
                prop_assert_eq!((at - spec.offset_bytes) % 512, 0);
            }
        }

        #[test]
        fn a_mix_is_exact_to_the_request(percent in 0.0f64..=100.0, seed: u64, n in 1usize..5000) {
            let spec = TrialSpec { read_percent: Some(percent), ..spec(Rw::RandRw, 4096, 1 << 20) };
            let mut offsets = Offsets::new(&spec, 0, seed);
            let reads = (0..n).filter(|_| offsets.draw().0 == Op::Read).count() as f64;
            prop_assert!((reads - percent / 100.0 * n as f64).abs() <= 1.0 + 1e-6);
        }
    }
}

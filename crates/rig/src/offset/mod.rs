//! Access patterns: generators of request offsets, one in each file.
//!
//! A generator is a function of workload, job and seed alone. It allocates nothing after its making and
//! divides nothing while it draws: of the 50 ns that the loop may spend on a request, a uniform draw takes
//! less than 3.
//!
//! Random patterns draw a *place*: the n-th multiple of the alignment at which a request may begin. Popular
//! places (`zipf`, `pareto`) are scattered over the span by a permutation, so that neighbours are not popular
//! together.

mod alias;
mod hot;
mod near;
mod normal;
mod once;
mod ops;
mod part;
mod permutation;
mod popularity;
mod problem;
mod random;
mod sequential;
mod sizes;
#[cfg(test)]
mod testing;

use iosonde_model::{Distribution, Op, Phase, Ranges, StridePass, TrialSpec};
use rand::SeedableRng;

use crate::placement::{Lane, Placement};

pub(crate) use part::{JobRange, largest_bytes};
pub use problem::span_problem;

use self::{
    hot::Hot,
    near::Near,
    normal::Normal,
    once::Once,
    ops::Ops,
    permutation::Permutation,
    popularity::Popularity,
    random::{Random, below},
    sequential::{Chain, Step},
    sizes::{Size, Sizes},
};

/// The odd constant of Weyl sequences (golden ratio): nearby numbers give unrelated seeds.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Keeps what the jobs of a stream share apart from what the first of them draws.
const SHARED: u64 = 0x0f5e_75a1_1ed0_b10c;

/// One request of a workload: kind, byte offset in the target, length in bytes.
pub type Draw = (Op, u64, u32);

/// Generator of the requests of one job.
#[derive(Debug, Clone)]
pub struct Offsets {
    random: Random,
    ops: Ops,
    sizes: Sizes,
    pattern: Pattern,
    /// The requests of a random pattern that go on where the request before ended.
    near: Option<Near>,
    lane: Lane,
    align_bytes: u64,
}

/// The patterns; random ones give places, sequential ones bytes from the beginning of the job's part.
#[derive(Debug, Clone)]
enum Pattern {
    /// Every place equally often, drawn anew each time.
    Uniform,
    Once(Once),
    /// Ranks by popularity, and the place of each.
    Popular(Popularity, Permutation),
    Normal(Normal),
    Hot(Hot),
    Step(Step),
    Chain(Chain),
}

/// The seed of the n-th job of a trial. Seeds differ, so that no two jobs visit the same offsets at the same
/// time; what the jobs of one stream share (where popular blocks lie) follows from the distance between them.
pub fn job_seed(seed: u64, n: u64) -> u64 {
    seed.wrapping_add(n.wrapping_mul(SEED_STEP))
}

impl Offsets {
    /// Makes a generator for one job of a workload whose ranges hold a block; [`span_problem`] reports other problems.
    pub fn new(spec: &TrialSpec, job: u32, seed: u64) -> Self {
        Self::placed(spec, job, seed, Placement::default().lane(Phase::Measure, spec, job))
    }

    /// Makes a generator for one job whose part lies in this lane.
    pub fn placed(spec: &TrialSpec, job: u32, seed: u64, lane: Lane) -> Self {
        let mut random = Random::seed_from_u64(seed);
        let alone = spec.ranges == Ranges::Disjoint || spec.distribution == Distribution::OncePerJob;
        let stream_seed =
            if alone { seed } else { seed.wrapping_sub(u64::from(job).wrapping_mul(SEED_STEP)) };
        let mut shared = Random::seed_from_u64(stream_seed ^ SHARED);
        let ops = Ops::new(spec, &mut random);
        let align_bytes = part::align_bytes(spec);
        let sizes = Sizes::new(spec, lane.length_bytes, align_bytes);
        let pattern = if spec.rw.is_random() {
            scattered(spec, job, sizes.places(), &mut shared)
        } else {
            // Jobs in the same range begin at equal distances, so that none follows in the wake of another.
            let share = if spec.ranges == Ranges::Shared { (job, spec.jobs) } else { (0, 1) };
            sequential(spec, lane.length_bytes, share, &mut shared)
        };
        let near = Near::new(spec.randomness, lane.length_bytes);
        Self { random, ops, sizes, pattern, near, lane, align_bytes }
    }

    /// Makes a sequential generator begin at the start of its range, as filling needs.
    #[must_use]
    pub fn from_start(mut self) -> Self {
        match &mut self.pattern {
            Pattern::Step(step) => step.restart(),
            Pattern::Chain(chain) => chain.restart(),
            _ => {}
        }
        self
    }

    /// Draws the next request.
    #[inline]
    pub fn draw(&mut self) -> Draw {
        let op = self.ops.draw();
        let size = self.sizes.draw(&mut self.random);
        let within_bytes = match (&self.near, &mut self.pattern) {
            (None, Pattern::Uniform) => below(&mut self.random, size.places) * self.align_bytes,
            (None, Pattern::Step(step)) => step.draw(),
            _ => self.general(op, size),
        };
        (op, self.lane.at(op, within_bytes), size.length_bytes)
    }

    /// Draws the place of a request by any pattern. It stands apart from the two usual ones, whose code stays small
    /// enough to be part of the loop.
    #[inline(never)]
    fn general(&mut self, op: Op, size: Size) -> u64 {
        let random = &mut self.random;
        if let Some(at_bytes) = self.near.as_mut().and_then(|near| near.draw(random, op, size.length_bytes)) {
            return at_bytes;
        }
        let within_bytes = match &mut self.pattern {
            Pattern::Uniform => below(random, size.places) * self.align_bytes,
            Pattern::Step(step) => step.draw(),
            Pattern::Chain(chain) => chain.draw(size.length_bytes),
            Pattern::Once(once) => size.fit(once.draw()) * self.align_bytes,
            Pattern::Popular(ranks, place) => size.fit(place.of(ranks.draw(random))) * self.align_bytes,
            Pattern::Normal(normal) => size.fit(normal.draw(random)) * self.align_bytes,
            Pattern::Hot(hot) => size.fit(hot.draw(random)) * self.align_bytes,
        };
        if let Some(near) = &mut self.near {
            near.follow(op, within_bytes, size.length_bytes);
        }
        within_bytes
    }
}

fn scattered(spec: &TrialSpec, job: u32, places: u64, shared: &mut Random) -> Pattern {
    match spec.distribution {
        Distribution::Uniform => Pattern::Uniform,
        Distribution::Once => {
            let share = if spec.ranges == Ranges::Shared { (job, spec.jobs) } else { (0, 1) };
            Pattern::Once(Once::new(places, share, shared.clone()))
        }
        Distribution::OncePerJob => Pattern::Once(Once::new(places, (0, 1), shared.clone())),
        Distribution::Zipf { theta } => {
            Pattern::Popular(Popularity::zipf(places, theta), Permutation::new(places, shared))
        }
        Distribution::Pareto { share } => {
            Pattern::Popular(Popularity::pareto(places, share), Permutation::new(places, shared))
        }
        Distribution::Normal { deviation } => Pattern::Normal(Normal::new(places, deviation)),
        Distribution::Hot(ranges) => Pattern::Hot(Hot::new(places, &ranges)),
    }
}

fn sequential(spec: &TrialSpec, length_bytes: u64, share: (u32, u32), shared: &mut Random) -> Pattern {
    let block_bytes = part::largest_bytes(spec);
    match spec.stride_bytes {
        None if !spec.block_sizes.is_one() => {
            Pattern::Chain(Chain::new(part::align_bytes(spec), length_bytes, share, shared))
        }
        stride_bytes => {
            let step_bytes = stride_bytes.unwrap_or(block_bytes);
            let shift_bytes = if spec.stride_pass == StridePass::Shifted { block_bytes } else { 0 };
            let step = Step::new((step_bytes, shift_bytes), length_bytes - block_bytes, share, shared);
            Pattern::Step(if spec.backwards { step.backwards() } else { step })
        }
    }
}

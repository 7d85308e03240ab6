//! Points that are held at one value of one quantity, and the evidence that a limit holds them.

use std::collections::BTreeSet;

use iosonde_judge::evidence::Evidence;
use iosonde_model::{Estimate, Histogram, Inconclusive, Op, Trial, TrialSpec, detail::Counted};
use iosonde_stats::robust;

use super::{
    super::{group::of_the_device, over_trials},
    portions::{Cycles, Portions},
};

/// Trials of a point from which on its median is one.
pub(super) const TRIALS_MIN: usize = 3;
/// How closely points at a limit agree. Blk-throttle keeps a rate to 0.3 %.
const ALIKE: f64 = 0.004;
/// Variance between trials over that of a medium, below which something else sets the pace. With few trials a point
/// and the third of points that scatter most left out, a medium shows 0.25 and less in up to a tenth of cases by
/// chance: the plateau and its corner are required as well. `bench/limits` measures what all together claim wrongly.
const SCATTER_MAX: f64 = 0.25;
/// Trials that the scatter is judged from.
const SCATTER_TRIALS_MIN: usize = 16;
/// Points whose scatter is left out, one in so many: near the depth where a limit sets in, the medium is felt.
const LEFT_OUT_ONE_IN: usize = 3;
/// Coefficient of variation of latencies below which a histogram's buckets (1.6 %) decide it.
const LATENCY_CV_MIN: f64 = 0.02;
/// Relative standard deviation between trials of points whose latencies say nothing of the scatter that a medium has.
const STEADY: f64 = 0.005;
/// Deviations above the median of a normal distribution's 90th percentile.
const NORMAL_P90: f64 = 1.2816;
/// What a point would get without a limit over the limit, from which on it must lie at it: jitter rounds the corner.
const BEYOND: f64 = 1.5;
/// Factor between the smallest and the largest of three queue depths.
const DEPTHS_APART: u64 = 4;
/// Share of a request's time that a fixed cost must have to be missed.
const FIXED_SHARE_MIN: f64 = 0.01;
/// Time of a large request over that of a small one, from which on something holds the large one. Storage whose
/// requests take the same time whatever their size gives equal rates to four times the size and to four times the
/// depth.
const WAITED: f64 = 1.1;
/// Bytes per second of larger requests over those at a limit of requests: the bytes are not what is limited.
const MORE_BYTES: f64 = 1.1;
/// How closely points agree, at the worst, whose whole portions scatter: a trial has two, and a large request more or
/// less is in each.
const ALIKE_PORTIONS: f64 = 0.02;
/// Request over those of a trial's whole portions from which on a point tells nothing: trials begin with a portion, so
/// that all of them are off by the same part of a request.
const GRAIN_MAX: f64 = 0.1;
/// Share of a request that 95 % of counts of whole portions are off by at most: what is left of a portion at the
/// beginning and at the end is anything below one (the difference of two uniform figures).
const OFF_BY: f64 = 0.776;
/// Share of the trials' time above a limit, by the volume's own count, that proves it. At the depth where the limit
/// sets in, no request waits for it.
const COUNTED_MIN: f64 = 0.5;
/// What a point would get in the time that its stalls leave, over the limit, and over the least such rate of another
/// point: a medium that stalls by itself gives the same share of each of these rates, not the same rate.
const SERVED_OVER_LIMIT: f64 = 2.0;
const SERVED_APART: f64 = 1.5;
/// Half an interval's width from which on a value is none that a limit holds.
const WIDEST: f64 = 0.1;
/// Parts of requests that are tried, in powers of two.
const CHUNKS: std::ops::RangeInclusive<u32> = 13..=20;

/// Points from which on their medians are enough for an interval; of fewer, their trials are taken.
const POINTS_MIN: usize = 5;

/// A limit and the points at it.
#[derive(Clone)]
pub(super) struct Limit {
    pub(super) counted: Counted,
    /// The direction that has it alone.
    pub(super) op: Option<Op>,
    pub(super) shared: Option<bool>,
    /// Height of the plateau of these points.
    pub(super) level: f64,
    /// Places of the points at it.
    pub(super) places: Vec<usize>,
    pub(super) apart_share: f64,
    pub(super) scatter_ratio: Option<f64>,
    /// Time between two portions, where it lets its budget pass in portions.
    pub(super) portions_s: Option<f64>,
    /// Share of the trials' time that the volume's controller counts above it.
    pub(super) exceeded_share: Option<f64>,
    /// What each of these points, or of their trials where points are few, says, and the share that it may be off by.
    values: Vec<(f64, f64)>,
}

impl Limit {
    /// The value with its interval.
    pub(super) fn estimate(&self, confidence: f64) -> Result<Estimate, Inconclusive> {
        over_trials::valid_weighted_mean(&self.values, OFF_BY, confidence)
    }
}

/// Whether a point's workload can be held by a limit: one stream of reads, writes or both, of one size, without a rate
/// that was requested.
pub(super) fn usable(evidence: &Evidence) -> bool {
    let spec = &evidence.point.spec;
    spec.rate_iops.is_none()
        && spec.streams().count() == 1
        && spec.block_sizes.is_one()
        && (spec.rw.reads() || spec.rw.writes())
        && !spec.rw.trims()
}

/// The limits that hold points, those of the most points first.
pub(super) fn limits(points: &[&Evidence]) -> Vec<Limit> {
    let in_portions = Portions::of(points).map(|portions| limits_of(points, Some(portions)));
    in_portions.filter(|found| !found.is_empty()).unwrap_or_else(|| limits_of(points, None))
}

fn limits_of(points: &[&Evidence], portions: Option<Portions>) -> Vec<Limit> {
    let mut found: Vec<Limit> = Vec::new();
    loop {
        let explained: BTreeSet<usize> = found.iter().flat_map(|limit| limit.places.clone()).collect();
        let taken = |counted: Counted, op: Option<Op>| {
            found.iter().any(|limit| {
                limit.counted == counted && (limit.op == op || limit.op.is_none() || op.is_none())
            })
        };
        let fresh = |limit: &Limit| limit.places.iter().filter(|place| !explained.contains(place)).count();
        let mut candidates: Vec<Limit> = Vec::new();
        for op in [None, Some(Op::Read), Some(Op::Write)] {
            for counted in quantities() {
                if taken(counted, op) {
                    continue;
                }
                candidates.extend(
                    Plateau::highest(points, (counted, op), portions).and_then(|p| p.limit(&explained)),
                );
            }
        }
        // Of limits that explain as many points the simplest: requests before bytes, bytes before parts, both
        // directions before one.
        let Some(best) = candidates.into_iter().rev().max_by_key(fresh) else { break };
        found.push(best);
    }
    if let Some(joined) = joined(&found, points, portions) {
        found = joined;
    }
    // What only writes show is a buffer that drains as well.
    let reads = found.iter().any(|limit| limit.op != Some(Op::Write));
    found.retain(|limit| reads || limit.op != Some(Op::Write) || limit.exceeded_share.is_some());
    found
}

/// The limits with those of reads and of writes that are one: of the same height, and no mix of both has more. A limit
/// that both have shows in each of them; whether the two together show it as clearly is a matter of chance.
fn joined(found: &[Limit], points: &[&Evidence], portions: Option<Portions>) -> Option<Vec<Limit>> {
    let of = |op: Op| found.iter().filter(move |limit| limit.op == Some(op));
    let mut pairs = of(Op::Read).flat_map(|read| of(Op::Write).map(move |write| (read, write)));
    let one = pairs.find_map(|(read, write)| {
        let alike = read.counted == write.counted && (read.level / write.level - 1.0).abs() <= ALIKE;
        let one = alike.then(|| read.with(write, points, portions))??;
        Some((read.counted, one))
    });
    let (counted, one) = one?;
    let others = found.iter().filter(|limit| limit.counted != counted).cloned();
    Some(others.chain([one]).collect())
}

impl Limit {
    /// The limit of both directions, of which this one of reads and that one of writes were found; `None` where a mix
    /// exceeds it.
    fn with(&self, write: &Self, points: &[&Evidence], portions: Option<Portions>) -> Option<Self> {
        let both = points.iter().enumerate();
        let both =
            both.filter_map(|(place, evidence)| amount(place, evidence, (self.counted, None), portions));
        let all: Vec<Amount> = both.collect();
        let mixes = || all.iter().filter(|one| one.spec.rw.is_mixed());
        let level = (self.level + write.level) / 2.0;
        if mixes().any(|one| one.median > level * (1.0 + one.at_most_apart())) {
            return None;
        }
        let at_level = |one: &&Amount| one.is_at(level);
        let is_alone = |one: &&Amount| self.places.contains(&one.place) || write.places.contains(&one.place);
        let held: Vec<&Amount> = all.iter().filter(is_alone).chain(mixes().filter(at_level)).collect();
        let mixed = mixes().any(|one| one.is_at(level));
        Some(Self {
            op: None,
            shared: mixed.then_some(true),
            level,
            places: held.iter().map(|one| one.place).collect(),
            apart_share: apart_share(&held, level),
            // Both were proved: the weaker proof is told.
            scatter_ratio: self.scatter_ratio.zip(write.scatter_ratio).map(|(read, write)| read.max(write)),
            exceeded_share: self
                .exceeded_share
                .zip(write.exceeded_share)
                .map(|(read, write)| read.min(write)),
            values: values(&held),
            ..self.clone()
        })
    }
}

/// How far the points lie from the height of the limit, at most.
fn apart_share(held: &[&Amount], level: f64) -> f64 {
    held.iter().map(|one| (one.median / level - 1.0).abs()).fold(0.0, f64::max)
}

/// What each point says, or each trial where points are few, and the share that it may be off by.
fn values(held: &[&Amount]) -> Vec<(f64, f64)> {
    if held.len() >= POINTS_MIN {
        return held.iter().map(|one| (one.median, one.grain)).collect();
    }
    held.iter().flat_map(|one| one.rates.iter().map(|rate| (*rate, one.grain))).collect()
}

fn quantities() -> impl Iterator<Item = Counted> {
    let chunks = CHUNKS.map(|power| Counted::Chunks { chunk_bytes: 1 << power });
    [Counted::Requests, Counted::Bytes].into_iter().chain(chunks)
}

/// A point's amount of one quantity per second.
struct Amount<'e> {
    place: usize,
    spec: &'e TrialSpec,
    trials: Vec<&'e Trial>,
    /// Values by trial.
    rates: Vec<f64>,
    /// Their median; of portions of few requests their mean.
    median: f64,
    /// Standard deviation between trials, over their mean.
    scatter: f64,
    /// Share by which the count of any trial may be off: a trial begins and ends with requests of either direction, and
    /// of whole portions the first and the last have a part of a request more or less.
    grain: f64,
    /// Whole portions of the trials, where the storage lets its budget pass in portions and enough trials have any.
    cycles: Vec<Cycles>,
    /// Whether it can lie at a limit: where a budget passes in portions, trials without whole ones do not tell.
    is_known: bool,
    /// Share by which the rate may be off where a budget passes in portions and few trials have whole ones: by one.
    slack: f64,
}

impl Amount<'_> {
    /// How far the point may lie from a limit that holds it.
    fn tolerance(&self) -> f64 {
        let at_worst = if self.cycles.is_empty() { ALIKE } else { ALIKE_PORTIONS };
        ALIKE + self.grain + (2.0 * self.scatter / (self.rates.len() as f64).sqrt()).min(at_worst)
    }

    /// Whether a limit of this height holds it.
    fn is_at(&self, level: f64) -> bool {
        self.is_known && (self.median / level - 1.0).abs() <= self.tolerance()
    }

    /// How far it may lie from it as far as is known.
    fn at_most_apart(&self) -> f64 {
        self.tolerance() + self.slack
    }

    /// Median latency of the median trial: where the storage stalls, rare requests make most of the mean.
    fn usual_latency_ns(&self, op: Op) -> Option<f64> {
        let medians = self.trials.iter().filter_map(|trial| trial.direction(op)?.histogram.quantile_ns(0.5));
        robust::median(&medians.collect::<Vec<_>>())
    }

    /// Mean latency of the median trial.
    fn latency_ns(&self, op: Op) -> Option<f64> {
        let means = self.trials.iter().filter_map(|trial| trial.direction(op)?.latency_ns.mean);
        robust::median(&means.collect::<Vec<_>>())
    }
}

impl Amount<'_> {
    /// The same by whole portions, or with what their absence leaves unknown.
    fn in_portions(self, portions: Portions, counted: Counted, op: Option<Op>) -> Self {
        let cycles: Vec<Cycles> = self.trials.iter().filter_map(|trial| portions.cycles(trial)).collect();
        let requests: f64 = cycles.iter().map(|one| whole(one, Counted::Requests, op)).sum();
        let grain = cycles.len() as f64 / requests.max(1.0);
        let lengths: Vec<f64> = self.trials.iter().map(|trial| trial.measured_s).collect();
        let of_length = portions.period_s / robust::median(&lengths).unwrap_or(portions.period_s);
        let few = cycles.len() < TRIALS_MIN;
        // One whole portion of many requests is exact to a request. That it was one is less sure: such a point may lie
        // at a limit, and need not. So may one of few requests.
        if cycles.is_empty() || (few && grain >= ALIKE) || grain > GRAIN_MAX {
            return Self { is_known: false, slack: of_length.max(grain), ..self };
        }
        let rates: Vec<f64> = cycles.iter().map(|one| whole(one, counted, op) / one.length_s()).collect();
        let amount: f64 = cycles.iter().map(|one| whole(one, counted, op)).sum();
        let mean = amount / cycles.iter().map(Cycles::length_s).sum::<f64>();
        // Few requests of a portion make steps of a median; of many, it is the better one: a stall of the storage, or
        // of a processor that was late, begins or ends a portion anywhere.
        let middle = if grain < ALIKE { robust::median(&rates).unwrap_or(mean) } else { mean };
        // What scatters by more was not let pass in portions: other I/O took a part of the time.
        let apart: Vec<f64> = rates.iter().map(|rate| rate / middle - 1.0).collect();
        let usual = robust::median_absolute_deviation(&apart).unwrap_or(0.0) * robust::SIGMA_PER_MAD;
        let agree = 2.0 * usual / (rates.len() as f64).sqrt() <= ALIKE + grain + ALIKE_PORTIONS;
        if !agree {
            return Self { is_known: false, slack: of_length.max(grain), ..self };
        }
        let slack = if few { of_length } else { 0.0 };
        Self { median: middle, scatter: scatter(&rates), rates, cycles, grain, slack, ..self }
    }
}

/// Standard deviation over the mean; none of one value.
fn scatter(rates: &[f64]) -> f64 {
    if rates.len() < 2 {
        return 0.0;
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares: f64 = rates.iter().map(|rate| (rate / mean - 1.0).powi(2)).sum();
    (squares / (rates.len() - 1) as f64).sqrt()
}

/// The highest level of one quantity that no point exceeds, and the points at it.
struct Plateau<'e> {
    counted: Counted,
    op: Option<Op>,
    portions: Option<Portions>,
    all: Vec<Amount<'e>>,
    level: f64,
    /// Places in `all`.
    at: Vec<usize>,
}

fn ops(op: Option<Op>) -> impl Iterator<Item = Op> {
    Op::TRANSFERS.into_iter().filter(move |own| op.is_none_or(|op| op == *own))
}

fn rate(trial: &Trial, counted: Counted, op: Option<Op>) -> f64 {
    let lanes = ops(op).filter_map(|op| trial.direction(op));
    match counted {
        Counted::Bytes => lanes.map(|lane| lane.bytes_per_s).sum(),
        Counted::Requests => lanes.map(|lane| lane.iops).sum(),
        Counted::Chunks { chunk_bytes } => {
            let parts = trial.spec.block_size_bytes.div_ceil(chunk_bytes) as f64;
            lanes.map(|lane| lane.iops * parts).sum()
        }
    }
}

fn requests(trial: &Trial, op: Option<Op>) -> u64 {
    ops(op).filter_map(|op| trial.direction(op)).map(|lane| lane.ios).sum()
}

/// What passed in whole portions, in the same quantity.
fn whole(cycles: &Cycles, counted: Counted, op: Option<Op>) -> f64 {
    let of = |op: Op| match counted {
        Counted::Bytes => cycles.bytes(op),
        Counted::Requests => cycles.requests(op),
        Counted::Chunks { chunk_bytes } => cycles.parts(op, chunk_bytes),
    };
    ops(op).map(of).sum()
}

fn amount<'e>(
    place: usize,
    evidence: &'e Evidence,
    (counted, op): (Counted, Option<Op>),
    portions: Option<Portions>,
) -> Option<Amount<'e>> {
    let spec = &evidence.point.spec;
    if !ops(op).any(|op| spec.rw.has(op)) {
        return None;
    }
    let timed = |trial: &&Trial| {
        let rate = rate(trial, counted, op);
        trial.measured_s > 0.0 && rate > 0.0 && rate.is_finite()
    };
    let trials: Vec<&Trial> = match portions {
        Some(_) => evidence.trials.iter().copied().filter(timed).collect(),
        None => of_the_device(evidence).filter(timed).collect(),
    };
    if trials.len() < TRIALS_MIN {
        return None;
    }
    let rates: Vec<f64> = trials.iter().map(|trial| rate(trial, counted, op)).collect();
    let scatter = scatter(&rates);
    let fewest = trials.iter().map(|trial| requests(trial, op)).min().unwrap_or(1).max(1);
    let grain = if op.is_some() && spec.rw.is_mixed() { 1.0 / fewest as f64 } else { 0.0 };
    let all = Amount {
        place,
        spec,
        median: robust::median(&rates)?,
        rates,
        trials,
        scatter,
        grain,
        cycles: Vec::new(),
        is_known: true,
        slack: 0.0,
    };
    Some(match portions {
        Some(portions) => all.in_portions(portions, counted, op),
        None => all,
    })
}

impl<'e> Plateau<'e> {
    fn highest(
        points: &[&'e Evidence],
        (counted, op): (Counted, Option<Op>),
        portions: Option<Portions>,
    ) -> Option<Self> {
        let all: Vec<Amount> = points
            .iter()
            .enumerate()
            .filter_map(|(place, evidence)| amount(place, evidence, (counted, op), portions))
            .collect();
        let at =
            |level: f64| -> Vec<usize> { (0..all.len()).filter(|&place| all[place].is_at(level)).collect() };
        let exceeded = |level: f64| all.iter().any(|one| one.median > level * (1.0 + one.at_most_apart()));
        let levels = all.iter().filter(|one| one.is_known && !exceeded(one.median));
        // Of levels with as many points that of the surest one.
        let level = levels
            .max_by(|a, b| at(a.median).len().cmp(&at(b.median).len()).then(b.grain.total_cmp(&a.grain)))?
            .median;
        let at = at(level);
        Some(Self { counted, op, portions, all, level, at })
    }

    fn held(&self) -> impl Iterator<Item = &Amount<'e>> {
        self.at.iter().map(|&place| &self.all[place])
    }

    /// The limit, if the points that nothing else explains yet show one.
    fn limit(&self, explained: &BTreeSet<usize>) -> Option<Limit> {
        let fresh: Vec<&Amount> = self.held().filter(|one| !explained.contains(&one.place)).collect();
        let fits = self.is_of_this_quantity(&fresh) && self.both_directions(&fresh);
        if fresh.len() < 2 || !fits || !self.has_a_sharp_corner() {
            return None;
        }
        let scatter_ratio = if self.portions.is_some() { None } else { self.scatter_ratio() };
        let exceeded_share = self.exceeded_share();
        let held = match scatter_ratio {
            _ if exceeded_share.is_some() => true,
            Some(ratio) => ratio <= SCATTER_MAX,
            // In portions, trials scatter by the slices that they begin and end in.
            None if self.portions.is_some() => self.stalls_make_it_equal(),
            // Large requests are too few to show their scatter; that their fixed cost is missed tells a limit.
            None => self.counted == Counted::Bytes && self.is_steady(),
        };
        if !held {
            return None;
        }
        let held_amounts: Vec<&Amount> = self.held().collect();
        let limit = Limit {
            counted: self.counted,
            op: self.op,
            shared: match self.op {
                Some(_) => Some(false),
                None => fresh.iter().any(|one| one.spec.rw.is_mixed()).then_some(true),
            },
            level: self.level,
            places: held_amounts.iter().map(|one| one.place).collect(),
            apart_share: apart_share(&held_amounts, self.level),
            scatter_ratio,
            portions_s: self.portions.map(|portions| portions.period_s),
            exceeded_share,
            values: values(&held_amounts),
        };
        let half_width = limit.estimate(0.95).ok().and_then(|value| value.relative_half_width());
        half_width.is_none_or(|half_width| half_width <= WIDEST).then_some(limit)
    }

    /// A limit of both directions holds each of them, at values that agree: where points are known to a large request
    /// or two, limits 13 % apart lay at one level.
    fn both_directions(&self, fresh: &[&Amount]) -> bool {
        let has = |op: Op| fresh.iter().any(|one| one.spec.rw.has(op));
        let ends = |op: Op| {
            let own = |one: &&Amount| one.spec.rw.has(op) && !one.spec.rw.is_mixed();
            let alone: Vec<&Amount> = self.held().filter(own).collect();
            over_trials::valid_weighted_mean(&values(&alone), OFF_BY, 0.95).ok()
        };
        let agree = || {
            let both = ends(Op::Read).zip(ends(Op::Write));
            both.is_none_or(|(read, write)| read.low <= write.high && write.low <= read.high)
        };
        self.op.is_some() || (has(Op::Read) && has(Op::Write) && agree())
    }

    /// Whether the points tell this quantity from others, and from what a link or a queue would do.
    fn is_of_this_quantity(&self, fresh: &[&Amount]) -> bool {
        let sizes: BTreeSet<u64> = fresh.iter().map(|one| one.spec.block_size_bytes).collect();
        let smallest = sizes.first().copied().unwrap_or(1);
        match self.counted {
            // A link has no stalls.
            Counted::Bytes => {
                // One request at a time may take time in proportion to its bytes for reasons of its own, as with
                // units that share a large one: a deeper queue would get more of these.
                let depths: BTreeSet<u64> = fresh.iter().map(|one| one.spec.asked_in_flight()).collect();
                let is_no_link = || depths.len() > 1 && self.absorbs_the_fixed_cost(fresh);
                sizes.len() > 1 && (self.portions.is_some() || is_no_link())
            }
            Counted::Requests => {
                (sizes.len() > 1 || self.at_several_depths(fresh)) && self.larger_ones_move_more(smallest)
            }
            // Sizes above a part, or it is one of requests; and one below it, or it is one of bytes.
            Counted::Chunks { chunk_bytes } => {
                sizes.len() > 2
                    && smallest < chunk_bytes
                    && sizes.last().is_some_and(|&size| size > chunk_bytes)
            }
        }
    }

    /// Whether queue depths, or directions, differ enough for an equal rate to say something.
    fn at_several_depths(&self, fresh: &[&Amount]) -> bool {
        let depths: BTreeSet<u64> = fresh.iter().map(|one| one.spec.asked_in_flight()).collect();
        let (least, most) = (depths.first().copied().unwrap_or(1), depths.last().copied().unwrap_or(1));
        let apart = most >= DEPTHS_APART * least;
        match self.op {
            // Named only beside a limit of reads.
            Some(Op::Write) => apart,
            _ => depths.len() > 2 && apart,
        }
    }

    /// Whether bytes per second go on rising with the size: then a link is not what holds the smallest requests.
    fn larger_ones_move_more(&self, smallest_bytes: u64) -> bool {
        let bytes_per_s = |one: &Amount| one.median * one.spec.block_size_bytes as f64;
        let own = self.level * smallest_bytes as f64;
        // Short trials may have a portion more.
        let surely = |one: &Amount| bytes_per_s(one) / (1.0 + one.slack);
        self.all.iter().any(|one| surely(one) > MORE_BYTES * own)
    }

    /// Whether a point at queue depth 1 lies at the limit although each request has a fixed cost, which a link would
    /// add to the time of its bytes.
    fn absorbs_the_fixed_cost(&self, fresh: &[&Amount]) -> bool {
        let absorbs = |one: &Amount| {
            let op = ops(self.op).find(|&op| one.spec.rw.has(op))?;
            let bytes = one.spec.block_size_bytes;
            let small = self.alone(op, |size| size < bytes)?;
            let rest = (bytes - small.spec.block_size_bytes) as f64;
            let at_limit_ns = bytes as f64 / self.level * 1e9;
            let small_ns = small.usual_latency_ns(op)?;
            let fixed_ns = small_ns + rest / self.level * 1e9 - at_limit_ns;
            let latency_ns = one.latency_ns(op)?;
            let missed = latency_ns < at_limit_ns + fixed_ns / 2.0;
            Some(missed && latency_ns > WAITED * small_ns && fixed_ns > FIXED_SHARE_MIN * at_limit_ns)
        };
        fresh.iter().filter(|one| one.spec.asked_in_flight() == 1).any(|one| absorbs(one) == Some(true))
    }

    /// Point of the smallest such requests of one direction at QD 1.
    fn alone(&self, op: Op, size: impl Fn(u64) -> bool) -> Option<&Amount<'e>> {
        let own = |one: &&Amount| {
            one.spec.asked_in_flight() == 1 && one.spec.rw.has(op) && size(one.spec.block_size_bytes)
        };
        self.all.iter().filter(own).min_by_key(|one| one.spec.block_size_bytes)
    }

    /// Share of the trials' time that the controller of the volume counts above its limit of this quantity, where that
    /// proves it.
    fn exceeded_share(&self) -> Option<f64> {
        let of = |trial: &&Trial| {
            let counted = trial.witnesses.volume_statistics?;
            let exceeded_s = match self.counted {
                Counted::Bytes => counted.volume_throughput_exceeded_s,
                Counted::Requests | Counted::Chunks { .. } => counted.volume_iops_exceeded_s,
            };
            let length_s = trial.witnesses.to_s - trial.witnesses.from_s;
            Some((exceeded_s? / length_s).min(1.0)).filter(|share| share.is_finite())
        };
        let shares: Vec<f64> = self.held().flat_map(|one| one.trials.iter().filter_map(of)).collect();
        robust::median(&shares).filter(|share| *share >= COUNTED_MIN)
    }

    /// Whether trials agree more closely than any medium's do.
    fn is_steady(&self) -> bool {
        let scatters: Vec<f64> = self.held().map(|one| one.scatter).collect();
        robust::median(&scatters).is_some_and(|scatter| scatter <= STEADY)
    }

    /// Whether the points would get quite different rates in the time that their stalls leave them, and get the same
    /// one with them.
    fn stalls_make_it_equal(&self) -> bool {
        let requests = |cycles: &Cycles| whole(cycles, Counted::Requests, self.op);
        let rates = self.held().filter_map(|one| {
            let served_s: f64 = one.cycles.iter().map(Cycles::served_s).sum();
            let in_flight = one.spec.asked_in_flight();
            let amount = |cycles: &Cycles| whole(cycles, self.counted, self.op);
            let surely = |cycles: &Cycles| amount(cycles) * cycles.served_share(requests(cycles), in_flight);
            let per_s = |amount: f64| amount / served_s;
            let [least, most] =
                [one.cycles.iter().map(surely).sum::<f64>(), one.cycles.iter().map(amount).sum::<f64>()];
            (served_s > 0.0).then(|| [per_s(least), per_s(most)])
        });
        let rates: Vec<[f64; 2]> = rates.collect();
        let slowest = rates.iter().map(|rate| rate[1]).fold(f64::MAX, f64::min);
        let fastest = rates.iter().map(|rate| rate[0]).fold(0.0, f64::max);
        // A limit of writes is named only beside one of reads.
        let apart = self.op == Some(Op::Write) || fastest > SERVED_APART * slowest;
        fastest > SERVED_OVER_LIMIT * self.level && apart
    }

    /// Whether a point's rate follows from its latency alone until the limit holds it, so that no medium is felt: of
    /// the sizes at the limit, what would be well above it without one lies at it.
    fn has_a_sharp_corner(&self) -> bool {
        let sizes: BTreeSet<u64> = self.held().map(|one| one.spec.block_size_bytes).collect();
        let below = |(place, one): (usize, &Amount)| {
            let op = ops(self.op).find(|&op| one.spec.rw.has(op) && !one.spec.rw.is_mixed())?;
            let bytes = one.spec.block_size_bytes;
            let alone = self.alone(op, |size| size == bytes).filter(|_| sizes.contains(&bytes))?;
            let unlimited = alone.median * one.spec.asked_in_flight() as f64;
            let may_be_at = (one.median / self.level - 1.0).abs() <= one.at_most_apart();
            Some(unlimited > BEYOND * self.level && !self.at.contains(&place) && !may_be_at)
        };
        !self.all.iter().enumerate().any(|point| below(point) == Some(true))
    }

    /// Variance between the trials of the points over that of a medium with the same latencies, without the points that
    /// scatter most. `None` where too few trials have latencies that scatter.
    fn scatter_ratio(&self) -> Option<f64> {
        let mut points: Vec<(f64, usize)> = self.held().filter_map(|one| self.scatter_of(one)).collect();
        points.sort_by(|a, b| (a.0 / (a.1 - 1) as f64).total_cmp(&(b.0 / (b.1 - 1) as f64)));
        points.truncate(points.len() - points.len() / LEFT_OUT_ONE_IN);
        let squares: f64 = points.iter().map(|(squares, _)| squares).sum();
        let trials: usize = points.iter().map(|(_, trials)| trials).sum();
        // A limit of writes is named only beside one of reads.
        let needed = SCATTER_TRIALS_MIN / if self.op == Some(Op::Write) { 2 } else { 1 };
        (trials >= needed).then(|| squares / (trials - points.len()) as f64)
    }

    /// Squares of the deviations of a point's trials over the variance that a medium gives them, and how many they are.
    ///
    /// A medium whose requests scatter by cv completes n of them with a scatter of cv / √n, or more. The cv is that of
    /// one request at a time: what waits in a queue tells more of the queue.
    fn scatter_of(&self, one: &Amount) -> Option<(f64, usize)> {
        let bytes = one.spec.block_size_bytes;
        let own = ops(self.op).filter(|&op| one.spec.rw.has(op));
        let cvs = own.filter_map(|op| latency_cv(self.alone(op, |size| size == bytes)?, op));
        let cv = cvs.reduce(f64::min).filter(|&cv| cv >= LATENCY_CV_MIN)?;
        let mean = one.rates.iter().sum::<f64>() / one.rates.len() as f64;
        let both = one.trials.iter().zip(&one.rates);
        let squares = both
            .map(|(trial, rate)| (rate / mean - 1.0).powi(2) * requests(trial, self.op) as f64 / (cv * cv));
        Some((squares.sum(), one.rates.len()))
    }
}

/// Coefficient of variation of one direction's latencies over all trials, without what rare slow requests add to it: a
/// trial may have none.
fn latency_cv(one: &Amount, op: Op) -> Option<f64> {
    let mut all = Histogram::new();
    for lane in one.trials.iter().filter_map(|trial| trial.direction(op)) {
        all.merge(&lane.histogram);
    }
    let (mean, median) = (all.mean_ns().filter(|&mean| mean > 0.0)?, all.quantile_ns(0.5)?);
    let whole = all.stddev_ns()? / mean;
    // Of a normal distribution, 10 % lie 1.2816 deviations above the middle.
    let middle = (all.quantile_ns(0.9)? - median) / NORMAL_P90 / median;
    Some(whole.min(middle))
}

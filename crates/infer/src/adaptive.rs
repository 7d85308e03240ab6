//! Points between the grid's, where they narrow a finding: the queue depth at saturation, the block sizes just below
//! and just above the edge of the plateau, the span at the edge of a cache, the loads around a latency limit.
//!
//! The plain grid is measured in any case, so that runs stay comparable; what is added comes after some rounds of it,
//! is marked `adaptive`, and follows from the trials of these rounds alone, so that resuming changes nothing.
//!
//! Deeper queues than the grid's are added where throughput still rises at its deepest point, after half as many
//! rounds: a curve that is not flat where it ends has neither a saturation point nor a maximum. How deep follows from
//! these
//! rounds: 19 times the queue depth that the deepest point's throughput needs at the latency of QD 1. There, random
//! addresses on equal units, with N / (N + N* − 1) of the maximum, reach 95 %.
//!
//! A flat curve gets one deeper queue where the grid is too shallow for its plateau to be seen. Where the grid has no
//! queue depth near the saturation point, one is added just beyond it: this is what will be advised, so its latency is
//! measured. Between the least depth that gives nearly all of the highest throughput and the next lower one, the powers
//! of two are added: on a grid of 16 and 128, "128 is enough" would hide that 32 is.
//!
//! A limit that holds reads and writes at one value gets a mix of both, unless one was measured at it: the sum of the
//! two says whether they share it.
//!
//! The remaining visits may go to the queue depths that determine the saturation point best (see
//! `finding/closed_loop/design.rs`); the others stay as the first rounds left them. This needs two things: these queue
//! depths are a third of a study or more, and the time is far too short for the requested precision, so that nearly all
//! points will end with the budget.

mod mix_at_limit;

use iosonde_judge::{
    estimate::{FEWEST_TRIALS, Voids},
    standing,
};
use iosonde_model::{
    Adaptive, Finding, FindingName, Op, Point, Run, RunInfo, Status, Study, Trial, TrialSpec,
};
use iosonde_plan::{points, schedule::Schedule};

use crate::{
    conclude::{self, PlanError},
    enough_depth::least_enough,
    finding::closed_loop::{
        BEYOND_KNEE_MIN, DEPTHS_MIN,
        design::{self, Level},
    },
};

/// Rounds of the grid before anything is added: an interval needs five trials, and one may be an outlier.
pub const GRID_ROUNDS: u32 = 6;
/// Rounds of the grid before deeper queues are added: that leaves enough rounds for their intervals.
const DEEPER_AFTER_ROUNDS: u32 = 3;
/// Rise of the throughput over the last step of the grid from which on deeper queues are added.
const RISING: f64 = 1.05;
/// Deepest queue over the saturation point at which a random choice of units gives 95 % of the highest throughput.
const KNEES: f64 = 19.0;
/// Deepest queue that is added: as deep as the experiment asks by itself.
const DEEPEST: u32 = 1024;
/// Rounds left from which on depths between the grid's are added: with the last seconds of a run, which go to what is
/// known least, they make the five trials of an interval.
const ROUNDS_LEFT_MIN: f64 = FEWEST_TRIALS as f64 - 1.0;
/// How far below and above the saturation point a queue depth may lie whose latency says what it costs to be there.
const NEAR_KNEE: [f64; 2] = [1.5, 2.0];
/// Points added at most: each costs as much as one of the grid. Two for each edge of reads and writes, in order and at
/// random.
const ADDED_MAX: usize = 8;
/// How far beyond the ends of its interval an edge is enclosed: later rounds move the estimate a little.
const BEYOND: f64 = 1.015;
/// A point nearer than this to one of the grid tells nothing that the grid does not: its interval is wider.
const NEAR: f64 = 0.15;

/// What follows the first rounds of the grid.
#[derive(Debug, Clone, Default, PartialEq)]
struct Following {
    /// Ids go on after the plan's.
    added: Vec<Point>,
    /// The share of the coming rounds that visit a point, by its id, where it is not all of them.
    shares: Vec<(usize, f64)>,
}

impl Following {
    /// Two loads between those on both sides of a latency limit; the loads beyond these stay as the first rounds left
    /// them.
    fn around_limit(&mut self, finding: &Finding, run: &Run) {
        let (Some(low), Some(high)) = (finding.low, finding.high) else { return };
        let own: Vec<&Point> =
            own(finding, &run.points).filter(|point| point.spec.rate_iops.is_some()).collect();
        let load = |point: &&Point| point.spec.rate_iops.unwrap_or(0.0);
        let Some(base) = own.first() else { return };
        // The finding counts all jobs, and of a mix the reads.
        let share =
            if base.spec.rw.is_mixed() { base.spec.read_percent.unwrap_or(50.0) / 100.0 } else { 1.0 };
        let counted = share * f64::from(base.spec.jobs);
        let (low, high) = (low / counted, high / counted);
        let below = own.iter().map(load).filter(|load| *load <= low).fold(0.0, f64::max);
        let above = own.iter().map(load).filter(|load| *load >= high).fold(f64::INFINITY, f64::min);
        if high < (1.0 + NEAR) * low || below == 0.0 || above.is_infinite() {
            return;
        }
        for share in [1.0 / 3.0, 2.0 / 3.0] {
            let rate_iops = Some((low * (high / low).powf(share)).round());
            let spec = TrialSpec { rate_iops, ..base.spec.clone() };
            if self.added.len() < ADDED_MAX {
                let id = run.points.len() + self.added.len();
                self.added.push(points::adaptive(id, &finding.experiment, spec));
            }
        }
        let is_far = |point: &&&Point| !(below..=above).contains(&load(point)) && point.also.is_empty();
        self.shares.extend(own.iter().filter(is_far).map(|point| (point.id, 0.0)));
    }

    /// Without the points that cannot be afforded; the ids of the others go on after the plan's.
    fn only(self, planned: usize, mut is_affordable: impl FnMut(&TrialSpec) -> bool) -> Self {
        let mut out = Self::default();
        let is_planned = |(id, _): &&(usize, f64)| *id < planned;
        out.shares.extend(self.shares.iter().filter(is_planned));
        for point in self.added.into_iter().filter(|point| is_affordable(&point.spec)) {
            let id = planned + out.added.len();
            let own = self.shares.iter().filter(|(of, _)| *of == point.id);
            out.shares.extend(own.map(|(_, share)| (id, *share)));
            out.added.push(points::adaptive(id, &point.experiment, point.spec));
        }
        out
    }
}

/// Rounds of the grid before anything is added; `None` where nothing is.
pub fn grid_rounds(adaptive: Adaptive) -> Option<u32> {
    match adaptive {
        Adaptive::No => None,
        Adaptive::Deeper => Some(DEEPER_AFTER_ROUNDS),
        Adaptive::All => Some(GRID_ROUNDS),
    }
}

/// Whether the first rounds are done, after which points may be added, or were: a run that was killed says so by its
/// trials alone.
pub fn is_due(trials: &[Trial], voids: &Voids, schedule: &Schedule, grid_rounds: u32) -> bool {
    let beyond = |trial: &Trial| trial.point.is_some_and(|point| point >= schedule.points().len());
    let early: Vec<Trial> = trials.iter().filter(|trial| trial.round <= grid_rounds).cloned().collect();
    trials.iter().any(beyond) || schedule.rounds(&early, voids) >= grid_rounds
}

/// The points to add to a run of which the first rounds were measured, and the schedule that goes on with them.
/// `is_affordable` says of one after the other whether the run may still write what it needs.
///
/// # Errors
/// The study's text that the run carries cannot be planned on the run's device.
pub fn added(
    info: &RunInfo,
    trials: &[Trial],
    schedule: &Schedule,
    is_affordable: impl FnMut(&TrialSpec) -> bool,
) -> Result<(Vec<Point>, Schedule), PlanError> {
    let adaptive = Study::parse(&info.study_source, &info.study)?.adaptive;
    let grid_rounds = grid_rounds(adaptive).unwrap_or(GRID_ROUNDS);
    let run = early(info, trials, grid_rounds)?;
    let voids = standing::voids(&run);
    // A point with fewer trials than an interval needs would be useless, and cost the others their time. Where the time
    // ends the run, its last seconds go to what is known least, which is what was added.
    let fit = schedule.rounds_to_come(&run.trials).is_none_or(|rounds| rounds as usize >= FEWEST_TRIALS);
    let rounds = || Rounds {
        left: schedule.rounds_left(&run.trials, &voids),
        short: schedule.rounds_short(&run.trials, &voids),
    };
    let following = (fit && adaptive != Adaptive::No).then(|| following(&run, adaptive, rounds()));
    let Following { added, shares } = following.unwrap_or_default().only(run.points.len(), is_affordable);
    let mut of_all = vec![1.0; run.points.len() + added.len()];
    shares.into_iter().for_each(|(point, share)| of_all[point] = share);
    let more = schedule.with_points(added.clone()).with_emphasis(grid_rounds, of_all);
    Ok((added, more))
}

/// The first rounds, concluded from.
fn early(info: &RunInfo, trials: &[Trial], grid_rounds: u32) -> Result<Run, PlanError> {
    let early = |trial: &&Trial| trial.round <= grid_rounds;
    let mut run = Run::new(info.clone(), trials.iter().filter(early).cloned().collect());
    conclude::conclude(&mut run, None)?;
    Ok(run)
}

/// What time is left.
#[derive(Clone, Copy)]
struct Rounds {
    /// Rounds that fit into it.
    left: f64,
    /// The same, where they are too few for the points' own precision.
    short: Option<f64>,
}

/// Deeper queues, and what narrows the findings.
fn following(run: &Run, adaptive: Adaptive, rounds: Rounds) -> Following {
    let rounds_left = rounds.short;
    let mut out = Following::default();
    let mixes = mix_at_limit::mixes(run);
    for (experiment, spec) in depths(run, adaptive, rounds.left).into_iter().chain(mixes) {
        out.added.push(points::adaptive(run.points.len() + out.added.len(), &experiment, spec));
    }
    if adaptive != Adaptive::All {
        return out;
    }
    for finding in run.findings.iter().filter(|finding| finding.status == Status::Found) {
        // Where it is one of many questions, the saturation point must not cost the intervals of its points.
        let is_asked_for = own(finding, &run.points).count() * 3 >= run.points.len();
        let rounds_left = rounds_left.filter(|_| is_asked_for);
        if finding.name == FindingName::IopsAtLatency {
            out.around_limit(finding, run);
            continue;
        }
        let designed = rounds_left.and_then(|rounds| knee_visits(finding, run, rounds));
        let wanted = match &designed {
            Some(visits) => visits.added(finding),
            None => candidates(finding, run),
        };
        let mut ids = Vec::new();
        for (experiment, spec) in wanted {
            let known = run.points.iter().chain(&out.added).any(|point| point.spec == spec);
            if !known && out.added.len() < ADDED_MAX {
                let id = run.points.len() + out.added.len();
                ids.push((u64::from(spec.queue_depth), id));
                out.added.push(points::adaptive(id, &experiment, spec));
            }
        }
        if let Some(visits) = designed {
            out.shares.extend(visits.shares(&ids));
        }
    }
    out
}

/// Queue depths to add to each curve.
fn depths(run: &Run, adaptive: Adaptive, rounds_left: f64) -> Vec<(String, TrialSpec)> {
    let at = |point: &Point, queue_depth: u32| TrialSpec { queue_depth, ..point.spec.clone() };
    let alone = run.points.iter().filter(|point| {
        point.spec.asked_in_flight() == 1 && !point.spec.rw.is_mixed() && point.spec.rate_iops.is_none()
    });
    let mut out = Vec::new();
    for one in alone {
        let mut curve: Vec<&Point> = run.points.iter().filter(|point| at(point, 1) == at(one, 1)).collect();
        curve.sort_by_key(|point| point.spec.queue_depth);
        let [.., before, deepest] = curve.as_slice() else { continue };
        // At a queue depth of 1 a curve may belong to other experiments too; at its deepest it is its own.
        if curve.len() < DEPTHS_MIN {
            continue;
        }
        let rates = [one, *before, *deepest].map(rate);
        let [Some(alone), Some(before), Some(last)] = rates else { continue };
        let knee = last / alone;
        let deepest_in_grid = deepest.spec.queue_depth;
        let is_rising = last >= RISING * before;
        let needed = power(knee * if is_rising { KNEES } else { BEYOND_KNEE_MIN });
        let halfway = is_rising.then(|| power((f64::from(needed) * f64::from(deepest_in_grid)).sqrt()));
        let beyond = halfway.filter(|depth| *depth < needed).into_iter().chain([needed]);
        let beyond = beyond.filter(|depth| *depth > deepest_in_grid);
        let measured: Vec<u32> = curve.iter().map(|point| point.spec.queue_depth).collect();
        let [half, advised] = at_the_knee(knee, &measured);
        let between = match adaptive {
            // There, visits are designed around the saturation point.
            Adaptive::All | Adaptive::No => Vec::new(),
            // Slow storage: the others would lose the rounds that their intervals need.
            Adaptive::Deeper if rounds_left < ROUNDS_LEFT_MIN => Vec::new(),
            Adaptive::Deeper if is_rising => half.into_iter().collect(),
            Adaptive::Deeper => between_enough(&curve),
        };
        let mut more: Vec<u32> = advised.into_iter().chain(between).chain(beyond).collect();
        more.sort_unstable();
        more.dedup();
        out.extend(more.into_iter().map(|depth| (deepest.experiment.clone(), at(deepest, depth))));
    }
    out
}

/// The power of two at or above a queue depth.
fn power(depth: f64) -> u32 {
    (depth.ceil().min(f64::from(DEEPEST)) as u32).next_power_of_two()
}

/// The queue depth that will be advised for a saturation point, and half of it, where no measured one is near and they
/// lie between those that were measured: half of it shows that the one that is enough was not too deep.
fn at_the_knee(knee: f64, measured: &[u32]) -> [Option<u32>; 2] {
    let (Some(least), Some(most)) = (measured.iter().min(), measured.iter().max()) else { return [None; 2] };
    let near = knee / NEAR_KNEE[0]..=knee * NEAR_KNEE[1];
    let is_near = measured.iter().any(|depth| near.contains(&f64::from(*depth)));
    // Storage that stalls may give less at a deep queue than QD 1: a knee below 1.
    let is_new = |depth: &u32| (least..most).contains(&depth) && !measured.contains(depth);
    let advised = Some(power(knee)).filter(|depth| !is_near && is_new(depth));
    [advised.map(|depth| depth / 2).filter(is_new), advised]
}

/// The powers of two between the least depth that gives nearly all of a curve and the next lower one, so that what is
/// called enough is never more than twice too deep.
fn between_enough(curve: &[&Point]) -> Vec<u32> {
    let measured = || {
        curve.iter().filter_map(|point| {
            let depth = point.spec.queue_depth;
            Some((depth, u64::from(depth), rate(point)?))
        })
    };
    let highest_iops = measured().map(|(_, _, iops)| iops).fold(0.0, f64::max);
    let Some(enough) = least_enough(measured(), highest_iops) else { return Vec::new() };
    let Some(below) = measured().map(|(depth, ..)| depth).filter(|depth| *depth < enough).max() else {
        return Vec::new();
    };
    std::iter::successors(Some((below + 1).next_power_of_two()), |depth| Some(2 * depth))
        .take_while(|depth| *depth < enough)
        .collect()
}

/// Completions per second of a point with valid trials.
fn rate(point: &Point) -> Option<f64> {
    let op = if point.spec.rw.reads() { Op::Read } else { Op::Write };
    point.direction(op).filter(|_| point.left_out < point.trials).map(|direction| direction.iops.value)
}

/// Distribution of the remaining visits over the queue depths of a saturation point.
struct KneeVisits<'a> {
    own: Vec<&'a Point>,
    /// Queue depths with their visits.
    design: Vec<(u32, usize)>,
}

fn knee_visits<'a>(finding: &Finding, run: &'a Run, rounds: f64) -> Option<KneeVisits<'a>> {
    if finding.name != FindingName::QueueDepthKnee {
        return None;
    }
    let own: Vec<&Point> = own(finding, &run.points).collect();
    let level = |point: &&Point| {
        let side = if point.spec.rw.reads() { &point.read } else { &point.write };
        let visits = f64::from(point.trials - point.left_out);
        Some(Level { in_flight: point.spec.queue_depth, iops: side.as_ref()?.iops, visits })
    };
    let levels: Option<Vec<Level>> = own.iter().map(level).collect();
    let more = (rounds * own.len() as f64) as usize;
    let design = design::design(&levels?, more, standing::confidence(run))?;
    Some(KneeVisits { own, design })
}

impl KneeVisits<'_> {
    /// The workload of a queue depth that the grid does not have.
    fn added(&self, finding: &Finding) -> Vec<(String, TrialSpec)> {
        let has = |depth: u32| self.own.iter().any(|point| point.spec.queue_depth == depth);
        let missing = self.design.iter().filter(|(depth, _)| !has(*depth));
        let spec = |&(queue_depth, _): &(u32, usize)| TrialSpec { queue_depth, ..self.own[0].spec.clone() };
        missing.map(|one| (finding.experiment.clone(), spec(one))).collect()
    }

    /// The most visited in every round, the others in their share of them. A point that other experiments use too is
    /// visited for them in any case.
    fn shares(&self, added: &[(u64, usize)]) -> Vec<(usize, f64)> {
        let most = self.design.iter().map(|(_, visits)| *visits).max().unwrap_or(1).max(1) as f64;
        let visits = |depth: u64| {
            let of = self.design.iter().find(|(number, _)| u64::from(*number) == depth);
            of.map_or(0, |(_, visits)| *visits) as f64 / most
        };
        let alone = self.own.iter().filter(|point| point.also.is_empty());
        let grid = alone.map(|point| (u64::from(point.spec.queue_depth), point.id));
        grid.chain(added.iter().copied()).map(|(depth, id)| (id, visits(depth))).collect()
    }
}

/// What a finding varies: its value in a workload, and a workload with another value.
type Varied = (fn(&TrialSpec) -> u64, fn(&mut TrialSpec, u64));

/// The workloads that would narrow a finding.
fn candidates(finding: &Finding, run: &Run) -> Vec<(String, TrialSpec)> {
    match edge_by_law(finding, run) {
        Some((low_bytes, high_bytes)) => enclosing(finding, &run.points, low_bytes, high_bytes),
        None => candidate(finding, &run.points).into_iter().collect(),
    }
}

/// Where the plateau begins by the law of a cost and a rate, which knows it far better than the grid does: 95 % of the
/// rate are reached at 19 half sizes.
fn edge_by_law(finding: &Finding, run: &Run) -> Option<(f64, f64)> {
    let same = |half: &&Finding| {
        half.name == FindingName::HalfSize
            && half.status == Status::Found
            && half.experiment == finding.experiment
            && half.trials == finding.trials
    };
    let half = run.findings.iter().find(same).filter(|_| finding.name == FindingName::PlateauBlockSize)?;
    Some((19.0 * half.low?, 19.0 * half.high?))
}

/// A size just below and one just above where an edge lies, unless the grid has them.
fn enclosing(
    finding: &Finding,
    points: &[Point],
    low_bytes: f64,
    high_bytes: f64,
) -> Vec<(String, TrialSpec)> {
    let own: Vec<&Point> = own(finding, points).collect();
    let levels = || own.iter().map(|point| point.spec.block_size_bytes);
    let (Some(first), Some(last), Some(base)) = (levels().min(), levels().max(), own.first()) else {
        return Vec::new();
    };
    let below = (low_bytes / BEYOND / 4096.0).floor() as u64 * 4096;
    let above = (high_bytes * BEYOND / 4096.0).ceil() as u64 * 4096;
    let has = |from: f64, to: f64| levels().any(|level| (from..=to).contains(&(level as f64)));
    let wanted = [(below, has(below as f64, low_bytes)), (above, has(high_bytes, above as f64))];
    let missing = wanted.into_iter().filter(|&(bytes, has)| !has && bytes > first && bytes < last);
    let one = |(bytes, _)| {
        let mut spec = base.spec.clone();
        spec.block_size_bytes = bytes;
        (finding.experiment.clone(), spec)
    };
    missing.map(one).collect()
}

/// The points that a finding is about.
fn own<'p>(finding: &Finding, points: &'p [Point]) -> impl Iterator<Item = &'p Point> {
    points.iter().filter(|point| point.belongs_to(&finding.experiment) && finding.trials_are_of(point))
}

fn candidate(finding: &Finding, points: &[Point]) -> Option<(String, TrialSpec)> {
    let varied: Varied = match finding.name {
        FindingName::QueueDepthKnee => {
            (|spec| u64::from(spec.queue_depth), |spec, value| spec.queue_depth = value as u32)
        }
        FindingName::PlateauBlockSize => {
            (|spec| spec.block_size_bytes, |spec, value| spec.block_size_bytes = value)
        }
        FindingName::CacheBytes => (|spec| spec.span_bytes, |spec, value| spec.span_bytes = value),
        _ => return None,
    };
    let (of, set) = varied;
    let own: Vec<&Point> = own(finding, points).collect();
    let mut levels: Vec<u64> = own.iter().map(|point| of(&point.spec)).collect();
    levels.sort_unstable();
    levels.dedup();
    let value = match finding.name {
        FindingName::QueueDepthKnee => finding.value?.round() as u64,
        // The edge lies between the finding's size and the next smaller one, in the middle on a logarithmic scale.
        _ => {
            let upper = finding.high? as u64;
            let lower = levels.iter().rev().find(|&&level| level < upper)?;
            ((*lower as f64 * upper as f64).sqrt() / 4096.0).round() as u64 * 4096
        }
    };
    let (first, last) = (*levels.first()?, *levels.last()?);
    let near = |level: &u64| (*level as f64 / value as f64).ln().abs() < NEAR;
    if value <= first || value >= last || levels.iter().any(near) {
        return None;
    }
    let base = own.first()?;
    let mut spec = base.spec.clone();
    set(&mut spec, value);
    // Not the first experiment that shares the base: it has no use for a point that varies something else.
    Some((finding.experiment.clone(), spec))
}

trait TrialsOf {
    /// Whether the finding is about this point's direction, order and whatever else it holds fixed.
    fn trials_are_of(&self, point: &Point) -> bool;
}

impl TrialsOf for Finding {
    fn trials_are_of(&self, point: &Point) -> bool {
        let (conditions, spec) = (&self.conditions, &point.spec);
        let op = if spec.rw.reads() { Op::Read } else { Op::Write };
        let varies = |name: FindingName| self.name == name;
        let same = |wanted: Option<u64>, is: u64| wanted.is_none_or(|wanted| wanted == is);
        // Of a mix only the reads' latency has a finding of one direction.
        (!spec.rw.is_mixed() || varies(FindingName::IopsAtLatency))
            && conditions.op.is_none_or(|wanted| wanted == op)
            && conditions.random.is_none_or(|random| random == spec.rw.is_random())
            && (varies(FindingName::PlateauBlockSize)
                || same(conditions.block_size_bytes, spec.block_size_bytes))
            && (varies(FindingName::QueueDepthKnee)
                || same(conditions.queue_depth.map(u64::from), spec.asked_in_flight()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pretend;

    const AMPLE: Rounds = Rounds { left: 100.0, short: None };
    const STUDY: &str = "name = \"x\"\nquestion = \"?\"\nadaptive = true\n[[experiment]]\nkind = \"queue-depth\"\n\
         rw = \"randread\"\ndepth = \"1..256*4\"\n[[experiment]]\nkind = \"block-size\"\nrw = \"randread\"\n\
         block_size = \"4k..16M*4\"\n";

    #[test]
    fn a_knee_and_an_edge_get_a_point_between_the_grids() {
        let run = Pretend { cv: 0.01, ..Pretend::usual() }.run(STUDY, 3);
        let Following { added, shares } =
            following(&early(&run.info, &run.trials, GRID_ROUNDS).unwrap(), Adaptive::All, AMPLE);
        assert!(shares.is_empty());
        // The knee lies at 8.33, between 4 and 16; the plateau begins at 19 x 100,000 B, between 1 and 4 MiB.
        let depths: Vec<_> =
            added.iter().map(|point| point.spec.queue_depth).filter(|&depth| depth > 1).collect();
        assert!(matches!(depths[..], [7..=10]), "{depths:?}");
        let sizes: Vec<_> =
            added.iter().filter(|p| p.spec.queue_depth == 1).map(|p| p.spec.block_size_bytes).collect();
        // 19 x 100,000 B, give or take what five rounds know of it.
        assert!(matches!(sizes[..], [1_700_000..1_900_000, 1_900_000..2_100_000]), "{sizes:?}");
        assert!(
            added.iter().all(|point| point.planned == iosonde_model::Planned::Adaptive && point.id >= 11)
        );
        assert_eq!(added[0].id + 1, added[1].id);
    }

    const SHORT: &str = "name = \"x\"\nquestion = \"?\"\nadaptive = \"deeper\"\n\
         [[experiment]]\nkind = \"queue-depth\"\n\
         rw = \"randread\"\ndepth = \"1..DEEPEST*2\"\n[[experiment]]\nkind = \"block-size\"\nrw = \"randread\"\n\
         block_size = \"4k..16M*4\"\n";

    #[test]
    fn a_curve_that_still_rises_at_its_end_goes_deeper_and_one_that_is_flat_does_not() {
        let added = |deepest: &str| {
            let study = SHORT.replace("DEEPEST", deepest);
            let run = Pretend { cv: 0.01, ..Pretend::usual() }.run(&study, 3);
            let run = early(&run.info, &run.trials, DEEPER_AFTER_ROUNDS).unwrap();
            let added = following(&run, Adaptive::Deeper, AMPLE).added;
            assert!(added.iter().all(|point| point.belongs_to("queue-depth")), "{added:?}");
            added.iter().map(|point| point.spec.queue_depth).collect::<Vec<_>>()
        };
        // The saturation point is 8.33 with a sharp corner: QD 8 gives 7.7 times the IOPS of QD 1, and 19 times that is
        // 146.
        let deeper = added("8");
        assert_eq!(deeper, [64, 256]);
        assert_eq!(added("256"), [0; 0]);
        // Flat from 16 on, and four times 8.33 is more than 32.
        assert_eq!(added("32"), [64]);
    }

    #[test]
    fn a_grid_that_steps_over_the_knee_gets_the_queue_depth_that_will_be_advised() {
        let study = SHORT.replace("\"1..DEEPEST*2\"", "[1, 2, 4, 256]");
        let run = Pretend { cv: 0.01, ..Pretend::usual() }.run(&study, 3);
        let run = early(&run.info, &run.trials, DEEPER_AFTER_ROUNDS).unwrap();
        let added = following(&run, Adaptive::Deeper, AMPLE).added;
        assert_eq!(added.iter().map(|point| point.spec.queue_depth).collect::<Vec<_>>(), [8, 16]);
    }

    #[test]
    fn at_a_knee_only_depths_between_the_measured_ones_are_added() {
        assert_eq!(at_the_knee(8.33, &[1, 2, 4, 256]), [Some(8), Some(16)]);
        assert_eq!(at_the_knee(8.33, &[1, 4, 8, 256]), [None, None]);
        // A deep queue gave 0.4 of what QD 1 gives: that is measured, and there is no QD 0.
        assert_eq!(at_the_knee(0.4, &[1, 2, 4, 8]), [None, None]);
        assert_eq!(at_the_knee(300.0, &[1, 2, 4, 8]), [None, None]);
    }

    #[test]
    fn a_grid_that_steps_over_the_depth_that_is_enough_gets_those_between() {
        let study = SHORT.replace("\"1..DEEPEST*2\"", "[1, 4, 64, 256]");
        let run = Pretend { cv: 0.01, ..Pretend::usual() }.run(&study, 3);
        let run = early(&run.info, &run.trials, DEEPER_AFTER_ROUNDS).unwrap();
        let added = following(&run, Adaptive::Deeper, AMPLE).added;
        assert_eq!(added.iter().map(|point| point.spec.queue_depth).collect::<Vec<_>>(), [8, 16, 32]);
    }

    #[test]
    fn what_is_added_follows_from_the_first_rounds_alone() {
        let run = Pretend { cv: 0.03, ..Pretend::usual() }.run(STUDY, 4);
        let first: Vec<_> = run.trials.iter().filter(|t| t.round <= GRID_ROUNDS).cloned().collect();
        let of = |trials: &[Trial], rounds| {
            following(
                &early(&run.info, trials, GRID_ROUNDS).unwrap(),
                Adaptive::All,
                Rounds { short: rounds, ..AMPLE },
            )
        };
        assert_eq!(of(&first, None), of(&run.trials, None));
        assert_eq!(of(&first, Some(9.0)), of(&run.trials, Some(9.0)));
    }

    #[test]
    fn where_the_time_is_short_visits_go_to_what_tells_the_knee() {
        let run = Pretend { cv: 0.02, ..Pretend::usual() }.run(STUDY, 6);
        let run = early(&run.info, &run.trials, GRID_ROUNDS).unwrap();
        let Following { added, shares } =
            following(&run, Adaptive::All, Rounds { left: 9.0, short: Some(9.0) });
        assert!(!shares.is_empty(), "{:?}", run.findings);
        let share = |depth: u32| {
            let all = || run.points.iter().chain(&added);
            let is = |p: &&Point| p.spec.queue_depth == depth && p.belongs_to("queue-depth");
            let id = all().find(is).map(|point| point.id)?;
            shares.iter().find(|(point, _)| *point == id).map(|(_, share)| *share)
        };
        // QD 1 serves the block sizes as well. One of 16, 64 and 256, which all lie on the plateau, is visited
        // in every round, or they take turns; and the corner is looked at now and then, where it may be sharp.
        assert_eq!(share(1), None);
        let plateau: f64 = [16, 64, 256].into_iter().filter_map(share).sum();
        assert!(plateau >= 0.5, "{shares:?}");
        let knee: f64 = (7..=10).filter_map(share).sum();
        assert!(knee > 0.0 && knee < 0.9, "{shares:?}");
    }

    #[test]
    fn trials_beyond_the_plan_are_points_of_their_own() {
        let mut run = Pretend::usual().run(STUDY, 5);
        let mut extra = run.trials[0].clone();
        (extra.id, extra.point) = (10_000, Some(11));
        extra.spec.queue_depth = 8;
        run.trials.push(extra);
        conclude::conclude(&mut run, None).unwrap();
        assert_eq!((run.points.len(), run.points[11].planned), (12, iosonde_model::Planned::Adaptive));
        // One trial makes no interval; the knee is what the grid says, and not refused for it.
        let knee = run.findings.iter().find(|finding| finding.name == FindingName::QueueDepthKnee).unwrap();
        assert_eq!(knee.status, Status::Found, "{knee:?}");
    }

    fn schedule(run: &Run, rounds: u32) -> Schedule {
        let terms = iosonde_plan::schedule::Terms {
            seed: 3,
            precision: 0.001,
            confidence: 0.95,
            budget_s: 1e6,
            rounds: Some(rounds),
            overhead_s: 0.01,
        };
        Schedule::new(early(&run.info, &run.trials, GRID_ROUNDS).unwrap().points, terms).unwrap()
    }

    #[test]
    fn a_run_that_was_killed_says_by_its_trials_that_points_were_added() {
        let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(STUDY, 3);
        let canaries = run.trials.clone().into_iter().filter(|trial| trial.point == Some(0));
        run.trials.extend(canaries.map(|trial| Trial {
            point: None,
            phase: iosonde_model::Phase::Canary,
            ..trial
        }));
        let plain = schedule(&run, 40);
        let upto =
            |round: u32| -> Vec<_> { run.trials.iter().filter(|t| t.round <= round).cloned().collect() };
        assert!(!is_due(&upto(GRID_ROUNDS - 1), &Voids::default(), &plain, GRID_ROUNDS));
        assert!(is_due(&upto(GRID_ROUNDS), &Voids::default(), &plain, GRID_ROUNDS));
        // A trial of the plan was voided afterwards: what was added was added all the same.
        let mut late = upto(GRID_ROUNDS - 1);
        late.extend(
            run.trials.last().cloned().map(|trial| Trial { point: Some(plain.points().len()), ..trial }),
        );
        assert!(is_due(&late, &Voids::default(), &plain, GRID_ROUNDS));
    }

    #[test]
    fn nothing_is_added_that_the_rounds_to_come_could_not_tell() {
        let run = Pretend { cv: 0.01, ..Pretend::usual() }.run(STUDY, 3);
        let first: Vec<_> = run.trials.iter().filter(|t| t.round <= GRID_ROUNDS).cloned().collect();
        let added =
            |rounds: u32| added(&run.info, &first, &schedule(&run, rounds), |_| true).unwrap().0.len();
        assert_eq!(added(GRID_ROUNDS + 4), 0);
        assert!(added(GRID_ROUNDS + 5) > 0);
    }
}

//! State of each point before a round: the width of its intervals, and whether it has converged.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use iosonde_judge::{
    estimate::{FEWEST_TRIALS, Visit, canaries},
    evidence::WithInterval,
    trends::{TrendGroup, Trends},
};
use iosonde_model::{Op, Point, Rw, TrialSpec};
use iosonde_stats::{
    LogEstimate,
    mixed_model::{Average, Beside, Outlook, Row},
    robust::median,
};

use super::{chance, slot::Slot};

/// Rounds before a point may be converged. Stopping at five or six by the look of the interval itself covers 82
/// to 94 % where 95 was promised.
const FEWEST_ROUNDS: u32 = 8;
/// Trials of all points and canaries before any point may be converged: with 20 trials a correlation of 0.6 is
/// often taken for none, and intervals that stop the run then cover 74 to 80 %.
pub(super) const FEWEST_TRIALS_IN_ALL: u32 = 80;
/// Number of invalid trials of a point without a valid one, before it is given up.
const HOPELESS_TRIALS: u32 = 6;

/// A point with fewer valid trials than an interval needs is assumed to be at most this many times as wide as the
/// others: one slow trial among three looks like unlimited noise, and is excluded as soon as there are more.
const LIKE_OTHERS: f64 = 1.25;

/// Standard error of the widths, as a multiple of one over the root of the rows: measured, see `bench/time-left`.
const DOUBT: f64 = 2.0;

/// Slots of a round that are nothing without each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SlotGroup {
    /// Indices among the slots.
    pub(super) places: Vec<usize>,
    /// Cost of all slots together, in seconds.
    pub(super) cost_s: f64,
}

/// State of all points.
#[derive(Debug, Clone)]
pub(super) struct PointStates(Arc<Known>);

#[derive(Debug)]
struct Known {
    patterns: Vec<Rw>,
    /// Workloads of the points, the canary's last.
    specs: Vec<TrialSpec>,
    visits: Vec<Visit>,
    precision: f64,
    confidence: f64,
    /// Trials of each point, and how many of them stand.
    counts: Vec<(u32, u32)>,
    /// True if there are enough trials for any point to converge.
    told: bool,
    /// Fitted on request, which most rounds do not need.
    fitted: OnceLock<Fitted>,
}

#[derive(Debug)]
struct Fitted {
    intervals: Vec<Intervals>,
    /// Fit for each direction.
    fits: [Option<Trends>; 3],
}

#[derive(Debug, Clone, Default)]
struct Intervals {
    iops: [Option<LogEstimate>; 3],
    /// The widest of its directions, as half a width over the value; `None` where one has no interval.
    half_width: Option<f64>,
    /// Half width from fewer trials than a shown interval needs, to estimate the time left.
    rough_half_width: Option<f64>,
}

impl PointStates {
    pub(super) fn new(
        points: &[Point],
        canary: usize,
        visits: &[Visit],
        precision: f64,
        confidence: f64,
    ) -> Self {
        let mut counts = vec![(0, 0); points.len()];
        for (point, stands) in visits.iter().filter_map(|visit| Some((visit.point?, visit.stands))) {
            counts[point].0 += 1;
            counts[point].1 += u32::from(stands);
        }
        Self(Arc::new(Known {
            patterns: points.iter().map(|point| point.spec.rw).collect(),
            specs: points.iter().chain([&points[canary]]).map(|point| point.spec.clone()).collect(),
            visits: visits.to_vec(),
            precision,
            confidence,
            counts,
            told: visits.iter().filter(|visit| visit.stands).count() as u32 >= FEWEST_TRIALS_IN_ALL,
            fitted: OnceLock::new(),
        }))
    }

    /// Returns true if the point needs no more trials.
    pub(super) fn converged(&self, point: usize) -> bool {
        self.0.told
            && self.0.counts[point].1 >= FEWEST_ROUNDS
            && self.half_width(point).is_some_and(|half| half <= self.0.precision)
    }

    /// Returns true if the run should no longer wait for the point.
    pub(super) fn hopeless(&self, point: usize) -> bool {
        let (run, stand) = self.0.counts[point];
        run >= HOPELESS_TRIALS && stand == 0
    }

    /// Completions per second, where there is an interval.
    pub(super) fn iops(&self, point: usize, op: Op) -> Option<LogEstimate> {
        self.intervals()[point].iops[op as usize]
    }

    /// Returns the factor by which widths may be wrong in either direction, for the estimate of the time left. The
    /// scatter of n rows has a relative error of 1/√2n, and their correlation a larger one.
    pub(super) fn doubt(&self) -> f64 {
        let stand: u32 = self.0.counts.iter().map(|(_, stand)| *stand).sum();
        let spare = f64::from(stand) - self.0.counts.len() as f64;
        (DOUBT / spare.max(1.0).sqrt()).exp()
    }

    /// Estimates the number of further trials of a point, from the expected decrease of its intervals' widths,
    /// multiplied by `wider`. `None` while there is nothing to estimate from.
    pub(super) fn trials_needed(&self, point: usize, wider: f64, outlook: Outlook) -> Option<f64> {
        let stand = f64::from(self.0.counts[point].1);
        let least = (f64::from(FEWEST_ROUNDS) - stand).max(0.0);
        if self.converged(point) {
            return Some(0.0);
        }
        let half = self.intervals()[point].rough_half_width?;
        let few = stand < FEWEST_TRIALS as f64;
        let like_others = if few { LIKE_OTHERS * self.usual_half_width()? / half } else { 1.0 };
        let typical = if few { self.0.typical(self.fitted(), point) } else { 1.0 };
        let (mut times, factor) = (1.0, like_others.min(1.0) * typical * wider);
        // Widths shrink as a power between one half and one, as less of the correlation is feared: with an exponent
        // between them at most eight steps leave less than a trial.
        for _ in 0..8 {
            let off = self.0.half_width_after(self.fitted(), point, times, outlook)?;
            let off = off * factor / self.0.precision;
            times = (times * off.powf(1.3)).clamp(1.0, 1e4);
            if (off - 1.0).abs() < 0.01 || (times == 1.0 && off < 1.0) {
                break;
            }
        }
        let wanted = stand * times;
        Some((wanted - stand).max(least).max(if self.0.told { 1.0 } else { least }))
    }

    /// The median of what is known roughly.
    fn usual_half_width(&self) -> Option<f64> {
        let rough = self.intervals().iter().filter_map(|one| one.rough_half_width);
        median(&rough.collect::<Vec<_>>())
    }

    fn half_width(&self, point: usize) -> Option<f64> {
        self.intervals()[point].half_width
    }

    fn intervals(&self) -> &[Intervals] {
        &self.fitted().intervals
    }

    fn fitted(&self) -> &Fitted {
        self.0.fitted.get_or_init(|| self.0.fit())
    }

    /// Leaves the slots whose intervals are widest (unknown ones first, the canary last), as many as the time holds, in
    /// their order. Those of one unit stay or go together.
    pub(super) fn keep_widest(&self, slots: &mut Vec<Slot>, units: &[SlotGroup], mut left_s: f64) {
        let width = |slot: &Slot| match slot.point {
            Some(point) if self.hopeless(point) => -1.0,
            Some(point) => self.half_width(point).unwrap_or(f64::INFINITY),
            None => -2.0,
        };
        let widest = |unit: &SlotGroup| unit.places.iter().map(|&i| width(&slots[i])).fold(-3.0, f64::max);
        let mut widths: Vec<(f64, &SlotGroup)> = units.iter().map(|unit| (widest(unit), unit)).collect();
        widths.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.places.cmp(&b.1.places)));
        let mut places: Vec<usize> = Vec::new();
        // A narrower one that still fits goes too. What is kept stays the same while the round goes on: a slot that was
        // run takes its own cost with it.
        for (_, unit) in widths {
            if unit.cost_s <= left_s {
                left_s -= unit.cost_s;
                places.extend(&unit.places);
            }
        }
        places.sort_unstable();
        *slots = places.into_iter().map(|i| slots[i]).collect();
    }
}

impl Known {
    fn fit(&self) -> Fitted {
        let fits = Op::DIRECTIONS.map(|op| self.trends(op));
        let of = |(point, rw): (usize, &Rw)| {
            let from = |fewest: usize| {
                Op::DIRECTIONS.map(|op| {
                    let trends = fits[op as usize].as_ref().filter(|fit| fit.kept(point) >= fewest)?;
                    trends.estimate(point)
                })
            };
            let widest = |iops: &[Option<LogEstimate>; 3]| {
                let halves = Op::DIRECTIONS
                    .into_iter()
                    .filter(|op| rw.has(*op))
                    .map(|op| iops[op as usize]?.estimate(self.confidence).relative_half_width());
                halves.reduce(|a, b| Some(a?.max(b?))).flatten()
            };
            let iops = from(FEWEST_TRIALS);
            Intervals { half_width: widest(&iops), rough_half_width: widest(&from(2)), iops }
        };
        let intervals = self.patterns.iter().enumerate().map(of).collect();
        Fitted { intervals, fits }
    }

    /// The scatter of most trials over what is taken for the scatter of all, in the direction where it is more.
    fn typical(&self, fitted: &Fitted, point: usize) -> f64 {
        let directions = Op::DIRECTIONS.into_iter().filter(|op| self.patterns[point].has(*op));
        let shares = directions.filter_map(|op| fitted.fits[op as usize].as_ref()?.typical(point));
        shares.fold(0.0, f64::max)
    }

    /// The widest of a point's directions, as half a width over the value, with so many times as many trials.
    fn half_width_after(&self, fitted: &Fitted, point: usize, times: f64, outlook: Outlook) -> Option<f64> {
        let directions = Op::DIRECTIONS.into_iter().filter(|op| self.patterns[point].has(*op));
        let halves = directions.map(|op| {
            let then = fitted.fits[op as usize].as_ref()?.outlook(point, times, outlook)?;
            then.estimate(self.confidence).relative_half_width()
        });
        halves.reduce(|a, b| Some(a?.max(b?))).flatten()
    }

    fn trends(&self, op: Op) -> Option<Trends> {
        let points = self.patterns.len();
        let row = |visit: &Visit| {
            let group = visit.point.unwrap_or(points);
            Some(Row { group, start_s: visit.start_s, end_s: visit.end_s, log_value: visit.log_iops(op)? })
        };
        let counts = |visit: &&Visit| visit.stands && !visit.leftover;
        let rows: Vec<Row> = self.visits.iter().filter(counts).filter_map(row).collect();
        let witness = canaries(&self.visits, 1.0);
        let kinds: Vec<TrendGroup> = self.specs.iter().map(|spec| TrendGroup::of(spec, op)).collect();
        Trends::fit(Beside { reference: &witness, ..Beside::default() }, &rows, &kinds, Average::OverTime)
    }
}

/// The last few states, by their inputs: `next` is called for every trial, and most trials begin no
/// round.
#[derive(Debug, Default)]
pub(super) struct Memory(VecDeque<(u64, PointStates)>);

impl Memory {
    /// The state that follows from the visits before a round, remembered or made.
    pub(super) fn state(
        &mut self,
        visits: &[Visit],
        round: u32,
        make: impl FnOnce(&[Visit]) -> PointStates,
    ) -> PointStates {
        let before = || visits.iter().filter(|visit| visit.round < round);
        let key = before().fold(0, |key, visit| {
            let figure = |value: Option<f64>| value.map_or(0, f64::to_bits);
            let who = visit.point.map_or(0, |point| point as u64 + 1) << 33;
            let what = who | u64::from(visit.round) << 1 | u64::from(visit.stands);
            let what = if visit.leftover { !what } else { what };
            let values = figure(visit.log_read_iops)
                ^ figure(visit.log_write_iops).rotate_left(1)
                ^ figure(visit.log_trim_iops).rotate_left(2);
            chance::mix(chance::mix(chance::mix(key ^ what) ^ visit.start_s.to_bits()) ^ values)
        });
        if let Some((_, state)) = self.0.iter().find(|(known, _)| *known == key) {
            return state.clone();
        }
        let state = make(&before().copied().collect::<Vec<_>>());
        self.0.push_back((key, state.clone()));
        // Four: the round under way, the next one, all so far, and one to spare.
        if self.0.len() > 4 {
            self.0.pop_front();
        }
        state
    }
}

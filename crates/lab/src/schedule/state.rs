//! What the trials before a round say of each point: how wide its intervals are and whether it is settled.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use iosonde_model::{Op, Point};

use super::Slot;
use crate::estimate::{FEWEST_TRIALS, Visit};
use crate::evidence::LogEstimate;
use crate::stats::effects::{Average, Effects, Row};

/// Rounds before a point may be settled. Stopping at five or six by the look of the interval itself covers 82 to
/// 94 % where 95 was promised.
pub(super) const FEWEST_ROUNDS: u32 = 8;
/// Trials of a point, none of which stands, before nobody waits for it any longer.
const HOPELESS_TRIALS: u32 = 6;

/// What is known of all points.
#[derive(Debug, Clone)]
pub(super) struct State(Arc<Vec<PointState>>);

#[derive(Debug, Clone, Default)]
struct PointState {
    iops: [Option<LogEstimate>; 2],
    /// The widest of its directions, as half a width over the value; `None` where one has no interval.
    half_width: Option<f64>,
    settled: bool,
    hopeless: bool,
}

impl State {
    fn new(points: &[Point], visits: &[Visit], precision: f64, confidence: f64) -> Self {
        let (mut runs, mut stand) = (vec![0u32; points.len()], vec![0u32; points.len()]);
        for visit in visits {
            if let Some(point) = visit.point {
                runs[point] += 1;
                stand[point] += u32::from(visit.stands);
            }
        }
        let fits = Op::ALL.map(|op| fit(points.len(), visits, op));
        let of = |point: usize| {
            let estimate = |op: Op| {
                let effects = fits[op as usize].as_ref().filter(|fit| fit.kept(point) >= FEWEST_TRIALS)?;
                effects.estimate(point)
            };
            let iops = Op::ALL.map(estimate);
            let rw = points[point].spec.rw;
            let halves = Op::ALL.into_iter().filter(|op| rw.has(*op)).map(|op| {
                let estimate = iops[op as usize]?.estimate(confidence);
                estimate.relative_half_width()
            });
            let half_width = halves.reduce(|a, b| Some(a?.max(b?))).flatten();
            PointState {
                iops,
                half_width,
                settled: stand[point] >= FEWEST_ROUNDS && half_width.is_some_and(|half| half <= precision),
                hopeless: runs[point] >= HOPELESS_TRIALS && stand[point] == 0,
            }
        };
        Self(Arc::new((0..points.len()).map(of).collect()))
    }

    pub(super) fn settled(&self, point: usize) -> bool {
        self.0[point].settled
    }

    pub(super) fn hopeless(&self, point: usize) -> bool {
        self.0[point].hopeless
    }

    pub(super) fn iops(&self, point: usize, op: Op) -> Option<LogEstimate> {
        self.0[point].iops[op as usize]
    }

    /// Leaves the `count` slots whose intervals are widest (unknown ones first, the canary last), in their order.
    pub(super) fn keep_widest(&self, slots: &mut Vec<Slot>, count: usize) {
        let width = |slot: &Slot| match slot.point {
            Some(point) if self.hopeless(point) => -1.0,
            Some(point) => self.0[point].half_width.unwrap_or(f64::INFINITY),
            None => -2.0,
        };
        let mut widths: Vec<(f64, usize)> =
            slots.iter().enumerate().map(|(i, slot)| (width(slot), i)).collect();
        widths.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut places: Vec<usize> = widths.into_iter().take(count).map(|(_, i)| i).collect();
        places.sort_unstable();
        *slots = places.into_iter().map(|i| slots[i]).collect();
    }
}

fn fit(points: usize, visits: &[Visit], op: Op) -> Option<Effects> {
    let rows: Vec<Row> = visits
        .iter()
        .filter(|visit| visit.stands)
        .filter_map(|visit| {
            let group = visit.point.unwrap_or(points);
            Some(Row { group, start_s: visit.start_s, end_s: visit.end_s, log_value: visit.log_iops(op)? })
        })
        .collect();
    Effects::fit(&rows, points + 1, Average::OverTime)
}

/// The last few states, by what they follow from: `next` is asked for every trial, and most trials begin no round.
#[derive(Debug, Default)]
pub(super) struct Memory(VecDeque<(u64, State)>);

impl Memory {
    pub(super) fn state(
        &mut self,
        points: &[Point],
        visits: &[Visit],
        precision: f64,
        confidence: f64,
    ) -> State {
        let mut hasher = DefaultHasher::new();
        for visit in visits {
            (visit.point, visit.round, visit.stands).hash(&mut hasher);
            let figures = [Some(visit.start_s), Some(visit.end_s), visit.log_read_iops, visit.log_write_iops];
            figures.map(|figure| figure.map(f64::to_bits)).hash(&mut hasher);
        }
        let key = hasher.finish();
        if let Some((_, state)) = self.0.iter().find(|(known, _)| *known == key) {
            return state.clone();
        }
        let state = State::new(points, visits, precision, confidence);
        self.0.push_back((key, state.clone()));
        // Four: the round under way, the next one, all so far, and one to spare.
        if self.0.len() > 4 {
            self.0.pop_front();
        }
        state
    }
}

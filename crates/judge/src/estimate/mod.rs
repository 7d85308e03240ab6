//! What a point's trials say together: rates, mean latencies and percentiles, with intervals that stay honest
//! under a stopping rule.
//!
//! Rates and mean latencies come from `trends.rs`: levels of points over a trend that all share, fitted to
//! logarithms, one fit for each direction and figure (more where points of many kinds share a study). They are means
//! over the time in which the run measured: pauses longer than a trial (a run that was interrupted and resumed) are
//! cut to a trial's length. Canaries help to see the trend and count for no point, those right after a write not even
//! for that ([`leftovers`]). Outliers are excluded, and [`OutlierTrials`] names them.
//!
//! Percentiles come from merged histograms, see [`percentile`].

mod apart;
mod basis;
mod cold;
mod figure;
mod grain;
mod leftover;
mod levels;
pub mod percentile;
mod visit;

use std::collections::BTreeMap;

use iosonde_model::{
    About, Estimate, Histogram, NoInterval, Op, Phase, Point, PointDirection, PointLatency, Trial, TrialSpec,
};
use iosonde_stats::{
    LogEstimate,
    mixed_model::{Average, Beside, Row},
};

use crate::{
    evidence::{DirectionEvidence, Evidence, WithInterval},
    mean_depth,
    trends::{TrendGroup, Trends},
};
pub use apart::{Apart, OutlierTrials};
use basis::is_valid_for;
pub use basis::{FEWEST_TRIALS, Voids};
pub use cold::cold_trials;
use figure::Figure;
use grain::{Counting, EXACT};
pub use leftover::leftovers;
pub use visit::canaries;
pub use visit::{Visit, visits};

/// One fit over all points, of one direction and figure.
struct Fitted {
    trends: Option<Trends>,
    /// The trial of each row.
    trials: Vec<u64>,
    figure: Figure,
    /// Requests behind each point's rows.
    counting: Vec<Counting>,
    /// Points whose requests follow each other, so that Little's law ties their latency to their throughput.
    is_closed: Vec<bool>,
}

/// What is fitted: points, trials, when they were, and which are invalid.
#[derive(Clone, Copy)]
struct Measured<'a> {
    points: &'a [Point],
    trials: &'a [Trial],
    times: &'a [Visit],
    voids: &'a Voids,
    cold: &'a OutlierTrials,
}

impl Fitted {
    /// `rates`: the fit of the rates, whose outliers are those of the latencies too. By Little's law the two are one
    /// figure of a trial, unless its requests are sent at an offered rate.
    fn new(measured: Measured<'_>, figure: Figure, op: Op, rates: Option<&Self>) -> Self {
        let Measured { points, trials, times, voids, cold } = measured;
        let mut rows = Vec::new();
        let mut ids = Vec::new();
        let mut counting = vec![Counting::default(); points.len() + 1];
        for visit in times.iter().filter(|visit| !visit.leftover) {
            let trial = &trials[visit.trial];
            let valid = is_valid_for(voids, trial, figure.about());
            let group = match trial.phase {
                Phase::Canary => Some(points.len()),
                _ => points.iter().position(|point| Some(point.id) == trial.point),
            };
            if let (true, Some(group), Some(value)) = (valid, group, figure.of(trial, op)) {
                rows.push(Row { group, start_s: visit.start_s, end_s: visit.end_s, log_value: value.ln() });
                ids.push(trial.id);
                if let Some(own) = trial.direction(op) {
                    counting[group].add(trial, own);
                }
            }
        }
        let average = if figure == Figure::Rate { Average::OverTime } else { Average::OverEvents };
        let canary = trials.iter().find(|trial| trial.phase == Phase::Canary);
        let specs = points.iter().map(|point| &point.spec).chain(canary.map(|trial| &trial.spec));
        let mut closed: Vec<bool> = specs.clone().map(mean_depth::is_closed_loop).collect();
        closed.resize(points.len() + 1, false);
        let mut kinds: Vec<TrendGroup> = specs.map(|spec| TrendGroup::of(spec, op)).collect();
        kinds.resize(points.len() + 1, TrendGroup::Alone);
        let by_rate = rates.map_or_else(BTreeMap::new, Self::decided);
        let decided = |(id, row): (&u64, &Row)| match kinds[row.group] {
            _ if cold.contains_key(id) => Some(false),
            TrendGroup::Offered => None,
            TrendGroup::Alone | TrendGroup::Mixture => by_rate.get(id).copied(),
        };
        let kept: Vec<Option<bool>> = ids.iter().zip(&rows).map(decided).collect();
        let beside = Beside { reference: &canaries(times, figure.sign()), kept: &kept };
        let trends = Trends::fit(beside, &rows, &kinds, average);
        Self { trends, trials: ids, figure, counting, is_closed: closed }
    }

    fn estimate(&self, group: usize) -> Option<LogEstimate> {
        let estimate = self.trends.as_ref()?.estimate(group).filter(|_| self.kept(group) >= FEWEST_TRIALS)?;
        let by_clock = grain::of_clock(estimate.log_mean.exp());
        let share = match self.figure {
            Figure::Rate => self.counting[group].share(),
            // Of few requests, the mean latency is known no better than their throughput.
            Figure::Latency if self.is_closed[group] => self.counting[group].share().max(by_clock),
            Figure::Latency => by_clock,
        };
        Some(grain::no_finer(estimate, share))
    }

    /// For each trial with a row, whether it counts.
    fn decided(&self) -> BTreeMap<u64, bool> {
        let mut decided: BTreeMap<u64, bool> = self.trials.iter().map(|id| (*id, true)).collect();
        decided.extend(self.set_aside().into_iter().map(|(id, _)| (id, false)));
        decided
    }

    fn kept(&self, group: usize) -> usize {
        self.trends.as_ref().map_or(0, |trends| trends.kept(group))
    }

    fn shared_errors(&self) -> Vec<f64> {
        self.trends.as_ref().map_or_else(Vec::new, Trends::shared_errors)
    }

    fn set_aside(&self) -> Vec<(u64, Apart)> {
        self.apart(Trends::set_aside)
    }

    fn second_modes(&self) -> Vec<(u64, Apart)> {
        self.apart(Trends::second_modes)
    }

    fn apart(&self, of: fn(&Trends) -> Vec<(usize, f64, f64)>) -> Vec<(u64, Apart)> {
        let apart = |(row, distance, scatter): (usize, f64, f64)| {
            (self.trials[row], Apart { share: distance.exp(), scatter })
        };
        self.trends.as_ref().map_or_else(Vec::new, of).into_iter().map(apart).collect()
    }
}

/// Every estimate that a run's trials allow. Points are named by their place in the slice that was given.
pub struct Estimates {
    rate: [Fitted; 3],
    latency: [Fitted; 3],
    cold: OutlierTrials,
}

impl Estimates {
    /// Fits all points together, from the measurements and canaries among `trials`.
    pub fn of(points: &[Point], trials: &[Trial], voids: &Voids) -> Self {
        let times = visits(trials, voids);
        let cold = cold_trials(points, trials, voids);
        let measured = Measured { points, trials, times: &times, voids, cold: &cold };
        let rate = Op::DIRECTIONS.map(|op| Fitted::new(measured, Figure::Rate, op, None));
        let latency =
            Op::DIRECTIONS.map(|op| Fitted::new(measured, Figure::Latency, op, Some(&rate[op as usize])));
        Self { rate, latency, cold }
    }

    /// Completions per second of a point. `None` with fewer than [`FEWEST_TRIALS`].
    pub fn iops(&self, point: usize, op: Op) -> Option<LogEstimate> {
        self.rate[op as usize].estimate(point)
    }

    /// Mean latency of a point in nanoseconds, over its requests. `None` with fewer than [`FEWEST_TRIALS`].
    pub fn latency_ns_mean(&self, point: usize, op: Op) -> Option<LogEstimate> {
        self.latency[op as usize].estimate(point)
    }

    /// The outliers; of a trial's two directions, the one further out.
    pub fn outliers(&self) -> OutlierTrials {
        self.farthest(Fitted::set_aside)
    }

    /// Those of the outliers that were measured before a cache was filled.
    pub fn cold(&self) -> &OutlierTrials {
        &self.cold
    }

    /// Trials that lie as far from the others of their point, but agree with each other: they count.
    pub fn second_modes(&self) -> OutlierTrials {
        self.farthest(Fitted::second_modes)
    }

    fn farthest(&self, of: fn(&Fitted) -> Vec<(u64, Apart)>) -> OutlierTrials {
        let mut all: Vec<_> = self.rate.iter().flat_map(of).collect();
        all.sort_by(|(_, a), (_, b)| a.share.ln().abs().total_cmp(&b.share.ln().abs()));
        all.into_iter().collect()
    }

    /// Evidence for every point: its trials, what is void of them, and these estimates. Arguments as of
    /// [`Estimates::of`].
    pub fn evidence<'a>(&self, points: &'a [Point], trials: &'a [Trial], voids: &Voids) -> Vec<Evidence<'a>> {
        let shared = self.rate.each_ref().map(Fitted::shared_errors);
        let direction = |place: usize, op: Op| {
            let shared_error = shared[op as usize].get(place).copied().unwrap_or(0.0);
            let (iops, latency_ns_mean) = (self.iops(place, op)?, self.latency_ns_mean(place, op)?);
            Some(DirectionEvidence { iops, latency_ns_mean, shared_error })
        };
        let of = |(place, point): (usize, &'a Point)| {
            let own: Vec<&Trial> = own_trials(point, trials).collect();
            Evidence {
                point,
                void: own.iter().map(|trial| voids.get(&trial.id).copied()).collect(),
                trials: own,
                read: direction(place, Op::Read),
                write: direction(place, Op::Write),
            }
        };
        points.iter().enumerate().map(of).collect()
    }
}

/// Fills each point's `trials`, `void`, `trial_ids`, `read`, `write` and `why_no_interval`. Returns the fit that they
/// come from, for everything else that a run is asked.
pub fn fill_points(points: &mut [Point], trials: &[Trial], voids: &Voids, confidence: f64) -> Estimates {
    let estimates = Estimates::of(points, trials, voids);
    let (asked, apart) = (points.len(), estimates.outliers());
    for (place, point) in points.iter_mut().enumerate() {
        let own: Vec<&Trial> = own_trials(point, trials).collect();
        point.trials = own.len() as u32;
        point.trial_ids = own.iter().map(|trial| trial.id).collect();
        point.invalid = own.iter().filter(|trial| voids.contains_key(&trial.id)).count() as u32;
        let counts =
            |trial: &Trial| [About::Rate, About::Latency].iter().all(|&one| is_valid_for(voids, trial, one));
        point.left_out = own.iter().filter(|trial| !counts(trial)).count() as u32;
        let direction = |op| {
            let own_direction = direction(&own, voids, &estimates, (place, &point.spec), op, confidence)?;
            let valid = standing(&own, voids, About::Rate);
            let levels = levels::of_direction(&valid, op, trials, (asked, confidence));
            let latency_ns = |ids: &[u64]| {
                let own: Vec<&Trial> =
                    valid.iter().copied().filter(|trial| ids.contains(&trial.id)).collect();
                Some(mean_of(&own, op, Figure::Latency)?.value)
            };
            let kept: Vec<&Trial> =
                valid.iter().copied().filter(|trial| !apart.contains_key(&trial.id)).collect();
            Some(levels::near_trials(levels::spanning(own_direction, levels, latency_ns), &kept, op))
        };
        (point.read, point.write) = (direction(Op::Read), direction(Op::Write));
        point.trim = direction(Op::Trim);
        let valid = standing(&own, voids, About::Latency);
        let latency = |of: fn(&Trial) -> Option<&Histogram>| latency(&valid, &point.spec, of, confidence);
        (point.flush, point.commit) = (latency(Trial::flushes), latency(Trial::commits));
        point.why_no_interval = why_no_interval(point, &own, voids, &estimates, place);
    }
    estimates
}

fn own_trials<'a>(point: &Point, trials: &'a [Trial]) -> impl Iterator<Item = &'a Trial> + use<'a> {
    let id = point.id;
    trials.iter().filter(move |trial| trial.phase == Phase::Measure && trial.point == Some(id))
}

fn standing<'a>(own: &[&'a Trial], voids: &Voids, about: About) -> Vec<&'a Trial> {
    own.iter().copied().filter(|trial| is_valid_for(voids, trial, about)).collect()
}

/// Percentiles of every latency of a point.
const POINT_QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

/// Latencies of the flushes or of the commits of valid trials; `None` where there are none.
fn latency(
    valid: &[&Trial],
    spec: &TrialSpec,
    of: fn(&Trial) -> Option<&Histogram>,
    confidence: f64,
) -> Option<PointLatency> {
    let own: Vec<&Histogram> = valid.iter().filter_map(|trial| of(trial)).collect();
    let count: u64 = own.iter().map(|histogram| histogram.total()).sum();
    if count == 0 {
        return None;
    }
    // The unit is the trial, as for percentiles: a stall is in the mean of one of them.
    let means: Vec<f64> = own.iter().filter_map(|histogram| histogram.mean_ns()).map(f64::ln).collect();
    let mean = LogEstimate::mean_of(&means).filter(|_| means.len() >= basis::FEWEST_TRIALS);
    let mean = mean.map(|mean| LogEstimate { standard_error: mean.standard_error.max(EXACT), ..mean });
    let in_flight = spec.asked_in_flight() as f64;
    let [p50, p99, p99_9] = percentile::estimates(&own, POINT_QUANTILES, confidence, in_flight);
    Some(PointLatency {
        count,
        latency_ns_mean: mean.map(|mean| mean.estimate(confidence)),
        latency_ns_p50: p50,
        latency_ns_p99: p99,
        latency_ns_p99_9: p99_9,
    })
}

fn direction(
    own: &[&Trial],
    voids: &Voids,
    estimates: &Estimates,
    (place, spec): (usize, &TrialSpec),
    op: Op,
    confidence: f64,
) -> Option<PointDirection> {
    let rates = standing(own, voids, About::Rate);
    let (ios, bytes) = rates
        .iter()
        .filter_map(|trial| trial.direction(op))
        .fold((0, 0), |(ios, bytes), direction| (ios + direction.ios, bytes + direction.bytes));
    let plain = mean_of(&rates, op, Figure::Rate)?;
    let iops = estimates.iops(place, op).map_or(plain, |estimate| estimate.estimate(confidence));
    // What a request moved on average: its block size, unless the end of a file cut some short.
    // An imported table may state rates alone.
    let stated = || {
        let totals = rates.iter().filter_map(|trial| trial.direction(op));
        let (ios, bytes) = totals.fold((0.0, 0.0), |(i, b), told| (i + told.iops, b + told.bytes_per_s));
        if ios > 0.0 { bytes / ios } else { 0.0 }
    };
    let request_bytes = if ios > 0 { bytes as f64 / ios as f64 } else { stated() };
    let is_warm = |trial: &&Trial| !estimates.cold.contains_key(&trial.id);
    let latencies: Vec<&Trial> = standing(own, voids, About::Latency).into_iter().filter(is_warm).collect();
    let latency = estimates.latency_ns_mean(place, op).map(|estimate| estimate.estimate(confidence));
    let histograms: Vec<&Histogram> =
        latencies.iter().filter_map(|trial| Some(&trial.direction(op)?.histogram)).collect();
    let in_flight = spec.asked_in_flight() as f64;
    let [p50, p99, p99_9] = percentile::estimates(&histograms, POINT_QUANTILES, confidence, in_flight);
    Some(PointDirection {
        iops,
        bytes_per_s: Estimate {
            value: iops.value * request_bytes,
            low: iops.low.map(|v| v * request_bytes),
            high: iops.high.map(|v| v * request_bytes),
        },
        latency_ns_mean: latency.or_else(|| mean_of(&latencies, op, Figure::Latency)),
        latency_ns_p50: p50,
        latency_ns_p99: p99,
        latency_ns_p99_9: p99_9,
        levels: Vec::new(),
    })
}

/// The plain mean of too few trials for an interval; over requests for a latency.
fn mean_of(trials: &[&Trial], op: Op, figure: Figure) -> Option<Estimate> {
    let weight = |trial: &Trial| match figure {
        Figure::Rate => 1.0,
        Figure::Latency => trial.direction(op).map_or(0.0, |direction| direction.ios as f64),
    };
    let told = || trials.iter().filter_map(|trial| Some((figure.of(trial, op)?, weight(trial))));
    let total: f64 = told().map(|(_, weight)| weight).sum();
    let sum: f64 = told().map(|(value, weight)| value * weight).sum();
    (total > 0.0).then(|| Estimate { value: sum / total, low: None, high: None })
}

fn why_no_interval(
    point: &Point,
    own: &[&Trial],
    voids: &Voids,
    estimates: &Estimates,
    place: usize,
) -> Option<NoInterval> {
    let missing = |op: &Op| point.spec.rw.has(*op) && estimates.iops(place, *op).is_none();
    let op = Op::DIRECTIONS.into_iter().find(missing)?;
    let (trials, valid) = (own.len(), standing(own, voids, About::Rate).len());
    let kept = estimates.rate[op as usize].kept(place);
    let needed = FEWEST_TRIALS;
    Some(match () {
        () if trials == 0 => NoInterval::NotMeasured,
        () if valid == 0 => NoInterval::NoneValid { trials },
        () if valid < needed => NoInterval::TooFew { trials, valid, needed },
        () if kept < valid => NoInterval::TooFewKept { valid, kept, op, needed },
        () => NoInterval::ScatterOrDrift { valid },
    })
}

#[cfg(test)]
pub mod tests;

//! What a point's trials say together: rates, mean latencies and percentiles, with intervals that stay honest
//! under a stopping rule.
//!
//! Rates and mean latencies come from `trends.rs`: levels of points over a trend that all share, fitted to
//! logarithms, one fit for each direction and figure (more where points of many kinds share a study). They are means
//! over the time in which the run measured: pauses longer than a trial (a run that was interrupted and resumed) are
//! cut to a trial's length. Canaries help to see the trend and count for no point, those right after a write not even
//! for that ([`leftovers`]). Trials that lie far out are set aside, and [`Outliers`] names them.
//!
//! Percentiles come from merged histograms, see [`percentile`].

mod basis;
mod leftover;
pub mod percentile;
mod visit;

use std::collections::BTreeMap;

use iosonde_model::{About, Estimate, Histogram, Op, Phase, Point, PointDirection, Trial};
use iosonde_stats::{
    LogEstimate,
    mixed_model::{Average, Row},
};

use crate::{
    evidence::{DirectionEvidence, Evidence, WithInterval},
    trends::{Kind, Trends},
};
use basis::is_valid_for;
pub use basis::{FEWEST_TRIALS, Voids};
pub use leftover::leftovers;
pub use visit::canaries;
pub use visit::{Visit, visits};

/// Trials that lay too far from the others of their point to count, by id, for each figure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outliers {
    /// Set aside from the estimates of completions per second.
    pub rate: BTreeMap<u64, Apart>,
    /// Set aside from the estimates of mean latency.
    pub latency: BTreeMap<u64, Apart>,
}

/// How far a trial lies from what its point does otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Apart {
    /// Its value over the point's level at that time.
    pub share: f64,
    /// The standard deviation of the point's other trials, as a share.
    pub scatter: f64,
}

impl Apart {
    /// In standard deviations of the others.
    pub fn deviations(&self) -> f64 {
        self.share.ln().abs() / self.scatter
    }
}

/// Which figure of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Rate,
    Latency,
}

impl Figure {
    fn about(self) -> About {
        match self {
            Self::Rate => About::Rate,
            Self::Latency => About::Latency,
        }
    }

    /// How it goes where a rate rises.
    fn sign(self) -> f64 {
        match self {
            Self::Rate => 1.0,
            Self::Latency => -1.0,
        }
    }

    fn of(self, trial: &Trial, op: Op) -> Option<f64> {
        let direction = trial.direction(op)?;
        let value = match self {
            Self::Rate => Some(direction.iops),
            Self::Latency => direction.latency_ns.mean,
        };
        value.filter(|v| *v > 0.0 && v.is_finite())
    }
}

/// One fit over all points, of one direction and figure.
struct Fitted {
    trends: Option<Trends>,
    /// The trial of each row.
    trials: Vec<u64>,
}

impl Fitted {
    fn new(
        points: &[Point],
        trials: &[Trial],
        times: &[Visit],
        voids: &Voids,
        figure: Figure,
        op: Op,
    ) -> Self {
        let mut rows = Vec::new();
        let mut ids = Vec::new();
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
            }
        }
        let average = if figure == Figure::Rate { Average::OverTime } else { Average::OverEvents };
        let canary = trials.iter().find(|trial| trial.phase == Phase::Canary);
        let specs = points.iter().map(|point| &point.spec).chain(canary.map(|trial| &trial.spec));
        let mut kinds: Vec<Kind> = specs.map(|spec| Kind::of(spec, op)).collect();
        kinds.resize(points.len() + 1, Kind::Alone);
        Self { trends: Trends::fit(&canaries(times, figure.sign()), &rows, &kinds, average), trials: ids }
    }

    fn estimate(&self, group: usize) -> Option<LogEstimate> {
        self.trends.as_ref()?.estimate(group).filter(|_| self.kept(group) >= FEWEST_TRIALS)
    }

    fn kept(&self, group: usize) -> usize {
        self.trends.as_ref().map_or(0, |trends| trends.kept(group))
    }

    fn set_aside(&self) -> Vec<(u64, Apart)> {
        let Some(trends) = &self.trends else { return Vec::new() };
        let apart = |(row, distance, scatter): (usize, f64, f64)| {
            (self.trials[row], Apart { share: distance.exp(), scatter })
        };
        trends.set_aside().into_iter().map(apart).collect()
    }
}

/// Every estimate that a run's trials allow. Points are named by their place in the slice that was given.
pub struct Estimates {
    rate: [Fitted; 3],
    latency: [Fitted; 3],
}

impl Estimates {
    /// Fits all points together, from the measurements and canaries among `trials`.
    pub fn of(points: &[Point], trials: &[Trial], voids: &Voids) -> Self {
        let times = visits(trials, voids);
        let fit = |figure, op| Fitted::new(points, trials, &times, voids, figure, op);
        Self {
            rate: Op::DIRECTIONS.map(|op| fit(Figure::Rate, op)),
            latency: Op::DIRECTIONS.map(|op| fit(Figure::Latency, op)),
        }
    }

    /// Completions per second of a point. `None` with fewer than [`FEWEST_TRIALS`].
    pub fn iops(&self, point: usize, op: Op) -> Option<LogEstimate> {
        self.rate[op as usize].estimate(point)
    }

    /// Mean latency of a point in nanoseconds, over its requests. `None` with fewer than [`FEWEST_TRIALS`].
    pub fn latency_ns_mean(&self, point: usize, op: Op) -> Option<LogEstimate> {
        self.latency[op as usize].estimate(point)
    }

    /// The trials that were set aside; of a trial's two directions, the one that lies further out.
    pub fn outliers(&self) -> Outliers {
        let of = |fits: &[Fitted]| {
            let mut all: Vec<_> = fits.iter().flat_map(Fitted::set_aside).collect();
            all.sort_by(|(_, a), (_, b)| a.share.ln().abs().total_cmp(&b.share.ln().abs()));
            all.into_iter().collect()
        };
        Outliers { rate: of(&self.rate), latency: of(&self.latency) }
    }

    fn direction(&self, point: usize, op: Op) -> Option<DirectionEvidence> {
        let (iops, latency_ns_mean) = (self.iops(point, op)?, self.latency_ns_mean(point, op)?);
        Some(DirectionEvidence { iops, latency_ns_mean })
    }
}

/// Evidence for every point from all measurements among the run's trials.
pub fn evidence<'a>(points: &'a [Point], trials: &'a [Trial], voids: &Voids) -> Vec<Evidence<'a>> {
    let estimates = Estimates::of(points, trials, voids);
    let of = |(place, point): (usize, &'a Point)| {
        let own: Vec<&Trial> = own_trials(point, trials).collect();
        Evidence {
            point,
            void: own.iter().map(|trial| voids.get(&trial.id).copied()).collect(),
            trials: own,
            read: estimates.direction(place, Op::Read),
            write: estimates.direction(place, Op::Write),
        }
    };
    points.iter().enumerate().map(of).collect()
}

/// Fills each point's `trials`, `void`, `trial_ids`, `read`, `write` and `why_no_interval`. Says which trials
/// were set aside on the way.
pub fn fill_points(
    points: &mut [Point],
    trials: &[Trial],
    voids: &Voids,
    confidence: f64,
    seed: u64,
) -> Outliers {
    let estimates = Estimates::of(points, trials, voids);
    for (place, point) in points.iter_mut().enumerate() {
        let own: Vec<&Trial> = own_trials(point, trials).collect();
        point.trials = own.len() as u32;
        point.trial_ids = own.iter().map(|trial| trial.id).collect();
        // A trial whose depth alone is void still counts for what the point says of rate and latency.
        let valid = |trial: &&&Trial| {
            [About::Rate, About::Latency].iter().all(|&one| is_valid_for(voids, trial, one))
        };
        point.invalid = (own.len() - own.iter().filter(valid).count()) as u32;
        let direction = |op| direction(&own, voids, &estimates, place, op, confidence, seed);
        (point.read, point.write) = (direction(Op::Read), direction(Op::Write));
        point.trim = direction(Op::Trim);
        point.why_no_interval = why_no_interval(point, &own, voids, &estimates, place);
    }
    estimates.outliers()
}

fn own_trials<'a>(point: &Point, trials: &'a [Trial]) -> impl Iterator<Item = &'a Trial> + use<'a> {
    let id = point.id;
    trials.iter().filter(move |trial| trial.phase == Phase::Measure && trial.point == Some(id))
}

fn standing<'a>(own: &[&'a Trial], voids: &Voids, about: About) -> Vec<&'a Trial> {
    own.iter().copied().filter(|trial| is_valid_for(voids, trial, about)).collect()
}

fn direction(
    own: &[&Trial],
    voids: &Voids,
    estimates: &Estimates,
    place: usize,
    op: Op,
    confidence: f64,
    seed: u64,
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
    let latencies = standing(own, voids, About::Latency);
    let latency = estimates.latency_ns_mean(place, op).map(|estimate| estimate.estimate(confidence));
    let histograms: Vec<&Histogram> =
        latencies.iter().filter_map(|trial| Some(&trial.direction(op)?.histogram)).collect();
    let [p50, p99, p99_9] = percentile::estimates(
        &histograms,
        [0.5, 0.99, 0.999],
        confidence,
        seed ^ (2 * place as u64 + op as u64),
    );
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
) -> Option<String> {
    let missing = |op: &Op| point.spec.rw.has(*op) && estimates.iops(place, *op).is_none();
    let op = Op::DIRECTIONS.into_iter().find(missing)?;
    let stand = standing(own, voids, About::Rate).len();
    let kept = estimates.rate[op as usize].kept(place);
    let count = |n: usize| if n == 1 { "1 trial".to_owned() } else { format!("{n} trials") };
    Some(match (own.len(), stand) {
        (0, _) => "It was not measured.".to_owned(),
        (run, 0) => format!("None of its {} stands: the verdicts say why.", count(run)),
        (run, stand) if run > stand && stand < FEWEST_TRIALS => {
            let verb = if stand == 1 { "stands" } else { "stand" };
            format!("{stand} of its {} {verb}, and an interval needs {FEWEST_TRIALS}.", count(run))
        }
        (_, stand) if stand < FEWEST_TRIALS => {
            format!("It has {}, and an interval needs {FEWEST_TRIALS}.", count(stand))
        }
        (_, stand) if kept < stand => format!(
            "{kept} of its {} completed {op}s and lie together; an interval needs {FEWEST_TRIALS}.",
            count(stand)
        ),
        _ => format!("Its {} cannot tell their scatter from the drift.", count(stand)),
    })
}

#[cfg(test)]
pub mod tests;

//! Synthetic trials with a known truth: how often the intervals cover, under the very rules that stop a run.
//!
//! A simulated run goes through [`Schedule::next_slot`] trial by trial, and its intervals come from the fit
//! that a real run's come from; only the storage is made up. Rates are the point's own, times the drift so
//! far, times noise with mean one. The truth of a point is its rate with the drift, averaged over the time
//! that the run took; noise and outliers are disturbance.

use iosonde_judge::estimate::Visit;
use iosonde_model::{Closed, Op};
use iosonde_stats::{
    ErrorVariance, Estimated, LogEstimate,
    mixed_model::{Average, MixedModel, Row},
};
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::plain::plain_points;
use iosonde_plan::schedule::{Schedule, Terms, TimeLeft, Unplannable};

/// Whose noise resembles whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinship {
    /// A trial's noise resembles that of the trial before it, whichever point that was of: the storage
    /// wanders.
    Time,
    /// A trial's noise resembles that of the same point's trial before: each point wanders by itself.
    Point,
}

/// How the rate changes in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// By the same share in every second.
    Steady,
    /// All of a minute's change at once, 40 s after the beginning.
    Step,
    /// Up and down by a minute's change, once a minute.
    Cycle,
    /// Steadily, but each point in its own way: between a minute's change and its opposite.
    Own,
}

/// How a made-up storage misbehaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Standard deviation between trials of a point, as a share.
    pub cv: f64,
    /// The noisiest point's deviation over the quietest one's; 1 where all are alike. `cv` is their geometric
    /// mean.
    pub unlike: f64,
    /// Correlation of one trial with the next.
    pub correlation: f64,
    /// Pairs of trials that are correlated.
    pub kinship: Kinship,
    /// Change of the rate in a minute: −0.05 loses a twentieth.
    pub drift_per_minute: f64,
    /// In what way.
    pub shape: Shape,
    /// Share of trials that something slows to between 0.3 and 0.8 of their rate.
    pub outliers: f64,
}

/// What one simulated run said of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// ln(truth).
    pub log_truth: f64,
    /// The estimate; `None` where there was no interval.
    pub estimate: Option<LogEstimate>,
    /// Half-width of the plain t interval of the same trials, and its middle, for comparison.
    pub naive: Option<(f64, f64)>,
}

impl Answer {
    /// Whether the interval holds the truth.
    pub fn covers(&self, confidence: f64) -> Option<bool> {
        let estimate = self.estimate?;
        Some((estimate.log_mean - self.log_truth).abs() <= estimate.half_width(confidence))
    }

    /// Returns the interval's width over that of the plain t interval of the same trials.
    pub fn width_ratio(&self, confidence: f64) -> Option<f64> {
        let (_, plain) = self.naive?;
        Some(self.estimate?.half_width(confidence) / plain)
    }
}

/// What a simulated run came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One for each point.
    pub points: Vec<Answer>,
    /// Ratio of each point to its neighbour.
    pub ratios: Vec<Answer>,
    /// The same ratios, from the two points' single estimates.
    pub plain_ratios: Vec<Answer>,
    /// Why each point was closed.
    pub closed: Vec<Option<Closed>>,
    /// Trials, canaries included.
    pub trials: usize,
    /// Number of outliers.
    pub set_aside: usize,
    /// When it ended.
    pub elapsed_s: f64,
}

/// Runs a schedule of `points` plain points to its end on storage that misbehaves so. Trials have the
/// schedule's own length, unless one is given.
///
/// # Errors
/// As [`Schedule::new`].
pub fn simulate(
    points: usize,
    noise: Noise,
    terms: &Terms,
    trial_s: Option<f64>,
) -> Result<Outcome, Unplannable> {
    simulate_adding(points, noise, terms, trial_s, None)
}

/// `run --add` on a finished run with intervals that are too wide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adding {
    /// Half a width that every interval should have.
    pub precision: f64,
    /// For each addition.
    pub budget_s: f64,
    /// Additions at most, one after the other, each after a look at the intervals.
    pub times: u32,
}

/// [`simulate`], and then more rounds as long as an interval is wider than wanted: optional stopping, by the look of
/// the intervals themselves.
///
/// # Errors
/// As [`Schedule::new`].
pub fn simulate_adding(
    points: usize,
    noise: Noise,
    terms: &Terms,
    trial_s: Option<f64>,
    adding: Option<Adding>,
) -> Result<Outcome, Unplannable> {
    let mut going = Going::new(points, noise, terms, trial_s)?;
    going.finish();
    for _ in 0..adding.map_or(0, |adding| adding.times) {
        let Some(Adding { precision, budget_s, .. }) = adding else { break };
        let terms = Terms { precision, budget_s: going.clock_s + budget_s, ..terms.clone() };
        going.schedule = going.schedule.going_on(terms);
        going.finish();
    }
    let closed = going.schedule.closed_after(&going.visits, going.clock_s);
    Ok(conclude(points, &going.storage, &going.visits, closed, terms.confidence))
}

/// The time left that a run announces after a third of itself, and the time that was left.
///
/// # Errors
/// As [`Schedule::new`].
pub fn time_left(points: usize, noise: Noise, terms: &Terms) -> Result<(TimeLeft, f64), Unplannable> {
    let mut going = Going::new(points, noise, terms, None)?;
    going.finish();
    let third_s = going.clock_s / 3.0;
    let so_far = going.visits.iter().take_while(|visit| visit.end_s <= third_s).count();
    let now_s = going.visits.get(so_far).map_or(third_s, |next| next.start_s);
    let said = going.schedule.time_left(&going.visits[..so_far], now_s);
    Ok((said, going.clock_s - now_s))
}

/// A simulated run under way.
struct Going {
    schedule: Schedule,
    storage: Storage,
    visits: Vec<Visit>,
    clock_s: f64,
    trial_s: f64,
    overhead_s: f64,
}

impl Going {
    fn new(points: usize, noise: Noise, terms: &Terms, trial_s: Option<f64>) -> Result<Self, Unplannable> {
        let mut schedule = Schedule::new(plain_points(points), terms.clone())?;
        if let Some(trial_s) = trial_s {
            schedule = schedule.with_trial_s(trial_s);
        }
        let storage = Storage::new(points, noise, terms.seed);
        let (trial_s, overhead_s) = (schedule.forecast().trial_s, terms.overhead_s);
        Ok(Self { schedule, storage, visits: Vec::new(), clock_s: 0.0, trial_s, overhead_s })
    }

    fn finish(&mut self) {
        while let Some(slot) = self.schedule.next_slot(&self.visits, self.clock_s) {
            let end_s = self.clock_s + self.trial_s;
            let middle_s = (self.clock_s + end_s) / 2.0;
            self.visits.push(Visit {
                trial: self.visits.len(),
                point: slot.point,
                round: slot.round,
                start_s: self.clock_s,
                end_s,
                stands: true,
                leftover: false,
                log_read_iops: Some(self.storage.rate(slot.point, middle_s).ln()),
                log_write_iops: None,
                log_trim_iops: None,
            });
            self.clock_s = end_s + self.overhead_s;
        }
    }
}

fn conclude(
    points: usize,
    storage: &Storage,
    visits: &[Visit],
    closed: Vec<Option<Closed>>,
    confidence: f64,
) -> Outcome {
    let elapsed_s = visits.last().map_or(0.0, |visit| visit.end_s);
    let rows = visits.iter().filter_map(|visit| {
        let group = visit.point.unwrap_or(points);
        Some(Row { group, start_s: visit.start_s, end_s: visit.end_s, log_value: visit.log_iops(Op::Read)? })
    });
    let rows: Vec<Row> = rows.collect();
    let fit = MixedModel::fit(&rows, points + 1, Average::OverTime);
    let values = |point: usize| -> Vec<f64> {
        rows.iter().filter(|row| row.group == point).map(|row| row.log_value).collect()
    };
    let answer = |point: usize| Answer {
        log_truth: storage.log_truth(point, elapsed_s),
        estimate: fit.as_ref().and_then(|fit| fit.estimate(point)),
        naive: naive(&values(point), confidence),
    };
    let answers: Vec<Answer> = (0..points).map(answer).collect();
    let ratio = |a: usize, b: usize, together: bool| {
        let (one, other) = (&answers[a], &answers[b]);
        let estimate = match together {
            true => fit.as_ref().and_then(|fit| fit.ratio(a, b)),
            false => one.estimate.zip(other.estimate).map(|(one, other)| quotient(one, other)),
        };
        let naive = one.naive.zip(other.naive).map(|((m, h), (n, k))| (m - n, h.hypot(k)));
        Answer { log_truth: one.log_truth - other.log_truth, estimate, naive }
    };
    let pairs = || (1..points).map(|point| (point - 1, point));
    let (ratios, plain_ratios) =
        (pairs().map(|(a, b)| ratio(a, b, true)), pairs().map(|(a, b)| ratio(a, b, false)));
    Outcome {
        ratios: ratios.collect(),
        plain_ratios: plain_ratios.collect(),
        points: answers.clone(),
        closed,
        trials: visits.len(),
        set_aside: fit.as_ref().map_or(0, |fit| fit.outliers().len()),
        elapsed_s,
    }
}

/// A ratio of two estimates that are taken to know nothing of each other.
fn quotient(one: LogEstimate, other: LogEstimate) -> LogEstimate {
    let error = |of: LogEstimate| ErrorVariance {
        variance: of.standard_error.powi(2),
        degrees_of_freedom: of.degrees_of_freedom,
    };
    let ErrorVariance { variance, degrees_of_freedom } = ErrorVariance::sum(&[error(one), error(other)]);
    LogEstimate {
        log_mean: one.log_mean - other.log_mean,
        standard_error: variance.sqrt(),
        degrees_of_freedom,
    }
}

/// Middle and half-width of the plain t interval.
fn naive(values: &[f64], confidence: f64) -> Option<(f64, f64)> {
    Estimated::mean_of(values).map(|mean| (mean.value, mean.half_width(confidence)))
}

struct Storage {
    noise: Noise,
    log_rate: Vec<f64>,
    cv: Vec<f64>,
    /// Direction of each point's own drift, −1 to 1.
    way: Vec<f64>,
    /// Noise of the previous trial: one for all, or one for each point.
    state: Vec<f64>,
    random: Xoshiro256PlusPlus,
}

impl Storage {
    fn new(points: usize, noise: Noise, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5109_7a6e);
        let place = |point: usize| if points > 1 { point as f64 / (points - 1) as f64 - 0.5 } else { 0.0 };
        // The canary is one more, and as noisy as the middle.
        let cv = (0..points).map(|p| noise.cv * noise.unlike.powf(place(p))).chain([noise.cv]).collect();
        Self {
            noise,
            log_rate: (0..=points).map(|_| 8.0 + 4.0 * random.random::<f64>()).collect(),
            cv,
            way: (0..=points)
                .map(|p| 2.0 * ((p * 7) % (points + 1)) as f64 / points.max(1) as f64 - 1.0)
                .collect(),
            state: (0..=points).map(|_| random.sample(StandardNormal)).collect(),
            random,
        }
    }

    /// ln of the undisturbed rate, less its value at the beginning.
    fn log_change(&self, point: usize, at_s: f64) -> f64 {
        let change = (1.0 + self.noise.drift_per_minute).ln();
        match self.noise.shape {
            Shape::Steady => change * at_s / 60.0,
            Shape::Step => change * f64::from(u8::from(at_s >= 40.0)),
            Shape::Cycle => change * (at_s / 60.0 * std::f64::consts::TAU).sin(),
            Shape::Own => change * at_s / 60.0 * self.way[point],
        }
    }

    fn rate(&mut self, point: Option<usize>, at_s: f64) -> f64 {
        let point = point.unwrap_or(self.log_rate.len() - 1);
        let state = match self.noise.kinship {
            Kinship::Time => &mut self.state[0],
            Kinship::Point => &mut self.state[point],
        };
        let fresh: f64 = self.random.sample(StandardNormal);
        let correlation = self.noise.correlation;
        *state = correlation * *state + (1.0 - correlation * correlation).sqrt() * fresh;
        // Log-normal with mean one: a point that scatters by 45 % keeps its mean and no rate is negative.
        let variance = self.cv[point].powi(2).ln_1p();
        let noise = (variance.sqrt() * *state - variance / 2.0).exp();
        let slowed = self.random.random::<f64>() < self.noise.outliers;
        let factor = if slowed { 0.3 + 0.5 * self.random.random::<f64>() } else { 1.0 };
        (self.log_rate[point] + self.log_change(point, at_s)).exp() * noise * factor
    }

    /// ln of the undisturbed rate's mean over the time.
    fn log_truth(&self, point: usize, elapsed_s: f64) -> f64 {
        // The mean over 200 equal parts: a step is then misplaced by 1/400 of the run at most.
        let parts = (0..200).map(|i| self.log_change(point, elapsed_s * (f64::from(i) + 0.5) / 200.0).exp());
        self.log_rate[point] + (parts.sum::<f64>() / 200.0).ln()
    }
}

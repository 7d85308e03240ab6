//! Storage that became slower or faster while the run went on, all points alike.
//!
//! Looks at: the rates of all standing trials, canaries among them, against the time at which they ran; and at
//! the order in which points were visited. (Not at canaries that read right after a
//! write: they take what it left behind.)
//!
//! Rule: ln(rate) = level of the point + slope × time, each point weighted by its own scatter, with noise allowed
//! for that resembles the trial before. A drift is named where its slope differs from zero at 0.07 % and where it
//! changes the rate by 2 % or more from the first trial to the last. (Least squares on time, not on round numbers:
//! rounds become shorter when points close.) 0.07 %, not the usual 5 %: a run that does not drift must almost never
//! be said to, and correlation that 12 rounds cannot tell makes a nominal 0.5 % a real 2 %. Where points were not
//! visited in turn (each point's trials all at one time: more than half of all differences in time are differences
//! between points) a drift cannot be told from what the points differ by.
//!
//! Where more than a third of the points have slopes of their own that the common one contradicts (by six standard
//! errors and 2 %), it is said how many rose, fell and held, and no figure is given for all of them.
//!
//! Verdict: doubt about the rate, with the change over the run and its interval: a result of its own. Points
//! that are visited in rounds, in random order, all carry the same share of a drift; what is concluded from
//! their differences stands. The estimates are means over the run's time, drift included.
//!
//! Measured: see docs/checks.md. A loss of 2 % a round at a CV of 5 % is caught in 95 % and more from 12 rounds
//! of 4 points on; one of 5 % an hour is 0.4 % in five minutes, and nobody sees that.
//!
//! Example: a "sharp decline" at reads of 128 MB and 512 MB, five trials each, all points in sorted order, the
//! larger ones last. Whether it is the size, or a machine that became slower, nobody can tell from it.
//!
//! What to do: rounds in random order (`iosonde run` always does that). For flash: bring it to its lasting state
//! first. For a shared machine: look at what else ran.

use iosonde_model::{About, Named, Phase, Reason, Run, Scope, Trial, Verdict, units};

use super::{Check, Specimens, course, specimen};
use crate::{
    estimate::leftovers,
    stats::{autoregression::Autoregressive, robust},
};

/// Nominal chance of naming a drift that is not there; see the manual page above for the real one.
const CHANCE: f64 = 0.0007;
/// Change over the run that matters to anybody, as a share.
const CHANGE_MIN: f64 = 0.02;
/// Of the intervals that are told.
const CONFIDENCE: f64 = 0.95;
/// Trials at the least.
const TRIALS_MIN: usize = 12;
/// Share of the trials' differences in time that lie between points, from which on time and point are one.
const CONFOUNDED: f64 = 0.5;
/// Trials that lie further out than this many scatters pull no harder than those at it.
const FAR: f64 = 3.0;
/// Trials of a point, from which on it has a slope of its own.
const OWN_TRIALS_MIN: usize = 4;
/// Standard errors of such a slope that chance does not make, noise that resembles the trial before it included.
const SURE: f64 = 6.0;
/// Degrees of freedom that a point's own scatter borrows from all points'.
const BORROWED: f64 = 8.0;

pub(super) struct Drift;

impl Named for Drift {
    fn name(&self) -> &'static str {
        "drift"
    }
}

impl Check for Drift {
    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        // One workload by hand has no rounds.
        (scope == Scope::Run && run.trials.len() > 1).then(|| verdict(run))
    }

    fn specimens(&self) -> Specimens {
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        // 24 trials of four points in turn, whose rates differ by a factor of three.
        let in_turn =
            |law: fn(usize) -> f64| points(24, |i| i % 4, |i| 1e5 / (1 + i % 4) as f64 * quiet(i) * law(i));
        Specimens {
            pass: vec![in_turn(|_| 1.0), in_turn(|i| 1.0 + 0.0005 * i as f64)],
            doubt: vec![
                in_turn(|i| 0.98f64.powi(i as i32 / 4)),
                in_turn(|i| 1.0 + 0.01 * i as f64),
                // Sorted: each point's six trials stand together.
                points(24, |i| i / 6, |i| 1e5 * quiet(i)),
            ],
            abstain: vec![specimen::rounds(5, |_| 1e5)],
            ..Specimens::default()
        }
    }
}

/// A run of trials of several points, one after the other.
fn points(count: usize, point: impl Fn(usize) -> usize, iops: impl Fn(usize) -> f64) -> Run {
    let mut run = specimen::rounds(count, iops);
    run.trials.iter_mut().enumerate().for_each(|(place, trial)| trial.point = Some(point(place)));
    run
}

/// A trial as a drift sees it.
#[derive(Debug, Clone, Copy)]
struct Row {
    group: usize,
    at_s: f64,
    log: f64,
}

fn rows(run: &Run) -> Vec<Row> {
    let mut aside = leftovers(&run.trials);
    aside.extend(run.trials.iter().filter(|trial| course::is_void(run, trial)).map(|trial| trial.id));
    let counts =
        |trial: &&Trial| trial.phase != Phase::Prepare && trial.iops() > 0.0 && !aside.contains(&trial.id);
    let of = |trial: &Trial| Row {
        // A canary is a group of its own.
        group: trial.point.filter(|_| trial.phase == Phase::Measure).map_or(0, |point| point + 1),
        at_s: trial.started_s + trial.elapsed_s / 2.0,
        log: trial.iops().ln(),
    };
    let mut rows: Vec<Row> = run.trials.iter().filter(counts).map(of).collect();
    rows.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    let mut trials = std::collections::BTreeMap::new();
    rows.iter().for_each(|row| *trials.entry(row.group).or_insert(0usize) += 1);
    // A group that was visited once says nothing of time.
    rows.retain(|row| trials[&row.group] > 1);
    rows
}

fn verdict(run: &Run) -> Verdict {
    let rows = rows(run);
    let abstain = |why: String| Verdict::Abstain(Reason::new(About::Rate, why));
    if rows.len() < TRIALS_MIN {
        let why = format!(
            "{} trials of points that were visited more than once stand; {TRIALS_MIN} are needed to see a drift",
            rows.len()
        );
        return abstain(why);
    }
    let groups = Groups::of(&rows);
    let between = groups.share_of_time_between(&rows);
    if groups.means.len() > 1 && between > CONFOUNDED {
        let why = format!(
            "the points were measured one after the other, not in turn: {} of all differences in time are differences \
             between points, so that what they differ by cannot be told from drift",
            units::percent(between)
        );
        return Verdict::Doubt(Reason::new(About::All, why).with("confounded_share", between));
    }
    let Some(fit) = groups.slope(&rows) else {
        return abstain("the trials cannot tell time from points".into());
    };
    let duration_s = rows.last().map_or(0.0, |row| row.at_s) - rows[0].at_s;
    let (low, high) = fit.interval(0, CONFIDENCE);
    let over_run = |slope: f64| (slope * duration_s).exp_m1();
    let (value, low, high) = (over_run(fit.coefficient(0)), over_run(low), over_run(high));
    let tail = fit.below(0, 0.0).min(1.0 - fit.below(0, 0.0));
    if tail > CHANCE / 2.0 || value.abs() < CHANGE_MIN {
        return Verdict::Pass;
    }
    if let Some(unlike) = groups.unlike(&rows, fit.coefficient(0), duration_s) {
        return Verdict::Doubt(unlike);
    }
    let word = if value < 0.0 { "fell" } else { "rose" };
    let sign = value.signum();
    let ends = if sign < 0.0 { (-high, -low) } else { (low, high) };
    let why = format!(
        "the rate {word} by {:.1} % [{:.1}, {:.1}] over the {} of the run, all points alike: figures are means over \
         that time, and the order of visits was drawn at random, so that no point's place is made by it",
        value.abs() * 100.0,
        ends.0 * 100.0,
        ends.1 * 100.0,
        units::duration(duration_s)
    );
    let reason =
        Reason::new(About::Rate, why).with("change_share", value).with("low", low).with("high", high);
    Verdict::Doubt(reason.with("duration_s", duration_s))
}

/// Each point's middle and scatter.
struct Groups {
    /// Of each row: its place below.
    place: Vec<usize>,
    /// Mean of time and of the logarithm.
    means: Vec<(f64, f64)>,
    scatter: Vec<f64>,
}

impl Groups {
    fn of(rows: &[Row]) -> Self {
        let mut names: Vec<usize> = rows.iter().map(|row| row.group).collect();
        names.sort_unstable();
        names.dedup();
        let place: Vec<usize> =
            rows.iter().map(|row| names.binary_search(&row.group).expect("it is listed")).collect();
        let members: Vec<Vec<&Row>> = (0..names.len())
            .map(|group| rows.iter().zip(&place).filter(|(_, p)| **p == group).map(|(row, _)| row).collect())
            .collect();
        let mean = |rows: &[&Row], of: fn(&Row) -> f64| {
            rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
        };
        let means =
            members.iter().map(|rows| (mean(rows, |row| row.at_s), mean(rows, |row| row.log))).collect();
        Self { scatter: scatters(&members), place, means }
    }

    /// Of all squares of time, those between points.
    fn share_of_time_between(&self, rows: &[Row]) -> f64 {
        let mean = rows.iter().map(|row| row.at_s).sum::<f64>() / rows.len() as f64;
        let all: f64 = rows.iter().map(|row| (row.at_s - mean).powi(2)).sum();
        let between: f64 = self.place.iter().map(|&place| (self.means[place].0 - mean).powi(2)).sum();
        if all > 0.0 { between / all } else { 1.0 }
    }

    /// Whether the points tell different stories: then one figure for all of them would be none's. More than a third
    /// have slopes of their own that the common one contradicts.
    fn unlike(&self, rows: &[Row], common: f64, duration_s: f64) -> Option<Reason> {
        let own = |group: usize| {
            let times = || rows.iter().zip(&self.place).filter(move |(_, place)| **place == group);
            let (mean_s, mean) = self.means[group];
            let squares: f64 = times().map(|(row, _)| (row.at_s - mean_s).powi(2)).sum();
            let slope = times().map(|(row, _)| (row.at_s - mean_s) * (row.log - mean)).sum::<f64>() / squares;
            let known = times().count() >= OWN_TRIALS_MIN && squares > 0.0;
            known.then(|| (slope, self.scatter[group] / squares.sqrt()))
        };
        let slopes: Vec<(f64, f64)> = (0..self.means.len()).filter_map(own).collect();
        let matters = |slope: f64, error: f64| {
            slope.abs() > SURE * error && (slope * duration_s).exp_m1().abs() > CHANGE_MIN
        };
        let against = slopes.iter().filter(|(slope, error)| matters(slope - common, *error)).count();
        if 3 * against <= slopes.len() {
            return None;
        }
        let moved = |sign: f64| {
            let own = |found: &&(f64, f64)| sign * found.0 > 0.0 && matters(found.0, found.1);
            slopes.iter().filter(own).count()
        };
        let (rose, fell, all) = (moved(1.0), moved(-1.0), slopes.len());
        let why = format!(
            "the rates changed over the {} of the run, and not alike at all points: of {all} it rose at {rose}, fell \
             at {fell} and held at {}; a mean describes neither the beginning nor the end of those that changed",
            units::duration(duration_s),
            all - rose - fell
        );
        let reason = Reason::new(About::Rate, why).with("rose", rose as f64).with("fell", fell as f64);
        Some(reason.with("duration_s", duration_s))
    }

    /// The slope of the logarithm over seconds.
    fn slope(&self, rows: &[Row]) -> Option<Autoregressive> {
        let weighted = |limit: Option<f64>| {
            let (mut times, mut logs) = (Vec::new(), Vec::new());
            for (row, &place) in rows.iter().zip(&self.place) {
                let (at_s, log) = (row.at_s - self.means[place].0, row.log - self.means[place].1);
                let expected = limit.map_or(0.0, |slope| slope * at_s);
                let scatter = self.scatter[place];
                let far = if limit.is_some() { FAR * scatter } else { f64::INFINITY };
                logs.push((expected + (log - expected).clamp(-far, far)) / scatter);
                times.push(at_s / scatter);
            }
            Autoregressive::fit_centred(&logs, &[times], self.means.len())
        };
        weighted(Some(robust_slope(rows, self)))
    }
}

/// A first guess that wild trials do not move: the median of the slopes between each trial of a point and the one
/// half a run later (after H. Theil and P. K. Sen).
fn robust_slope(rows: &[Row], groups: &Groups) -> f64 {
    let mut slopes = Vec::new();
    for group in 0..groups.means.len() {
        let own: Vec<&Row> =
            rows.iter().zip(&groups.place).filter(|(_, p)| **p == group).map(|(row, _)| row).collect();
        let half = own.len().div_ceil(2);
        for (a, b) in own.iter().zip(&own[half..]) {
            slopes.push((b.log - a.log) / (b.at_s - a.at_s).max(1e-9));
        }
    }
    robust::median(&slopes).unwrap_or(0.0)
}

/// Each point's scatter between neighbouring visits, which a drift hardly moves, drawn towards what all have.
fn scatters(members: &[Vec<&Row>]) -> Vec<f64> {
    let steps = |rows: &Vec<&Row>| -> Vec<f64> {
        rows.windows(2).map(|pair| (pair[1].log - pair[0].log) / std::f64::consts::SQRT_2).collect()
    };
    let variance = |steps: &[f64]| {
        robust::median_distance(steps).map(|d| (d * robust::SIGMA_PER_MEDIAN_DISTANCE).powi(2))
    };
    let all: Vec<f64> = members.iter().flat_map(steps).collect();
    // A millionth: a simulated device that repeats itself has no scatter, and nothing may be divided by that.
    let common = variance(&all).unwrap_or(0.0).max(1e-12);
    let of = |rows: &Vec<&Row>| {
        let own = steps(rows);
        let degrees = own.len() as f64;
        ((variance(&own).unwrap_or(common) * degrees + common * BORROWED) / (degrees + BORROWED)).sqrt()
    };
    members.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(run: &Run) -> String {
        match Drift.check(Scope::Run, run) {
            Some(Verdict::Doubt(reason)) => reason.why,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_drift_is_told_with_its_interval_and_the_time() {
        // 4 points, 12 rounds, 2 % a round: 0.98^11.75 = 0.789 from the first to the last of 48 trials.
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let why = said(&points(48, |i| i % 4, |i| 1e5 * quiet(i) * 0.98f64.powf(i as f64 / 4.0)));
        assert!(why.starts_with("the rate fell by 2") && why.contains(" % [19."), "{why}");
        assert!(why.contains("over the 56 s of the run, all points alike"), "{why}");
    }

    #[test]
    fn points_that_go_different_ways_have_no_drift_in_common() {
        let quiet = |i: usize| 1.0 + 0.01 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        // Two of four rise, two stand still.
        let half = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 2f64.powf(i as f64 / 48.0) };
        let why = said(&points(48, |i| i % 4, |i| 1e5 * quiet(i) * half(i)));
        assert!(why.contains("not alike at all points: of 4 it rose at 2, fell at 0 and held at 2"), "{why}");
    }

    #[test]
    fn one_disturbed_trial_is_no_drift() {
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let run = points(40, |i| i % 4, |i| if i == 39 { 2e4 } else { 1e5 * quiet(i) });
        assert_eq!(Drift.check(Scope::Run, &run), Some(Verdict::Pass));
    }

    #[test]
    fn points_in_sorted_order_cannot_be_told_from_drift() {
        let why = said(&points(24, |i| i / 6, |_| 1e5));
        assert!(why.starts_with("the points were measured one after the other, not in turn: 9"), "{why}");
    }
}

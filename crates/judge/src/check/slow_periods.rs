//! Slow periods of a course: stretches in which a throughput fell far below what it is otherwise, and came back.
//!
//! Used by two checks with the same rule: `interference` over the throughput of all, `host-slowed` over each host's
//! beside the others'.

use std::collections::{BTreeMap, BTreeSet};

use iosonde_model::{Phase, Run, Trial, Window};
use iosonde_stats::robust;
use statrs::function::beta::beta_reg;

use super::course;
use crate::{
    estimate::{Voids, cold_trials, leftovers},
    settling::after_heavier_writes,
};

/// A window is low below this share of what its point does otherwise, and below so many deviations.
pub(super) const LOW_SHARE: f64 = 0.8;
const LOW_DEVIATIONS: f64 = 5.0;
/// Minimum number of windows of a stretch.
const STRETCH_MIN: usize = 2;
const STRETCHES_MIN: usize = 3;
/// Number of low windows from which on it is no chance that they and a trial begin and end together.
pub(super) const WHOLE_MIN: usize = 5;
/// Share of the run's time below which they change no mean by half a percent, even where nothing is left of the rate.
/// The three places alone are 0.8 % of `quick`'s time, and would be 0.05 % of that of `full`.
const TIME_SHARE_MIN: f64 = 0.005;
/// Windows of a point, and requests in a usual one of them, below which it is not looked at: ten requests
/// scatter by a third of themselves.
pub(super) const WINDOWS_MIN: usize = 20;
pub(super) const REQUESTS_MIN: f64 = 30.0;
/// Probability with which a neighbour that strikes at random is slow at any one point so much more often than at the
/// others.
const BY_CHANCE: f64 = 1e-3;

/// What one window of a trial says of a course.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice {
    /// Its number among the trial's windows.
    pub(super) window: usize,
    /// Requests that completed in it.
    pub(super) requests: f64,
    /// ln of the throughput, or of a ratio.
    pub(super) log: f64,
}

/// Slices of a trial's own windows; half a window at its end is half as sure.
pub(super) fn whole_windows(trial: &Trial) -> impl Iterator<Item = (usize, &Window)> {
    trial.windows.iter().enumerate().filter(|(_, window)| window.length_s > 0.05)
}

/// Trials whose course is looked at.
pub(super) struct Observed<'a>(Vec<&'a Trial>);

/// What was found in a course.
pub(super) enum Found {
    /// No point has enough windows.
    TooFewWindows,
    /// It has no slow periods.
    Even,
    /// It has.
    Slow(SlowPeriods),
}

/// Slow periods.
pub(super) struct SlowPeriods {
    stretches: Vec<Vec<Moment>>,
    /// Share of the time observed that they take.
    pub(super) time_share: f64,
}

impl SlowPeriods {
    /// Their number.
    pub(super) fn count(&self) -> usize {
        self.stretches.len()
    }

    /// Median length of one, in seconds.
    pub(super) fn length_s(&self) -> f64 {
        let length = |stretch: &Vec<Moment>| {
            stretch.last().map_or(0.0, |m| m.at_s + m.length_s) - stretch.first().map_or(0.0, |m| m.at_s)
        };
        robust::median(&self.stretches.iter().map(length).collect::<Vec<_>>()).unwrap_or(0.0)
    }

    /// Median loss of throughput in them.
    pub(super) fn loss_share(&self) -> f64 {
        let logs: Vec<f64> = self.stretches.iter().flatten().map(|moment| moment.log).collect();
        1.0 - robust::median(&logs).unwrap_or(0.0).exp()
    }

    /// Time from one to the next, where they are regular.
    pub(super) fn period_s(&self) -> Option<f64> {
        period_s(&self.stretches.iter().map(|stretch| stretch[0].at_s).collect::<Vec<_>>())
    }

    /// Median throughput of all of a trial in them, over what it is otherwise at the same point.
    pub(super) fn all_share(&self, run: &Run) -> f64 {
        let log = |window: &Window| course::log(course::completed(window) as f64 / window.length_s);
        let mut usual: BTreeMap<Option<usize>, f64> = BTreeMap::new();
        let mut ratios = Vec::new();
        for moment in self.stretches.iter().flatten() {
            let Some(trial) = run.trials.iter().find(|trial| trial.id == moment.trial) else { continue };
            let usual = *usual.entry(trial.point).or_insert_with(|| {
                let alike = run.trials.iter().filter(|other| other.point == trial.point);
                let logs: Vec<f64> = alike.flat_map(whole_windows).map(|(_, window)| log(window)).collect();
                robust::median(&logs).unwrap_or(0.0)
            });
            ratios.push(log(&trial.windows[moment.window]) - usual);
        }
        robust::median(&ratios).unwrap_or(0.0).exp()
    }

    /// Their windows: the trial, and the number of the window in it.
    pub(super) fn windows(&self) -> impl Iterator<Item = (u64, usize)> {
        self.stretches.iter().flatten().map(|moment| (moment.trial, moment.window))
    }
}

impl<'a> Observed<'a> {
    /// A run's measurements and canaries, in the order of time.
    pub(super) fn of(run: &'a Run) -> Self {
        // What a canary waits for after a write, or a trial after heavier writes, is the run's own doing, and so is
        // what the first reads wait for until a cache has their data. What is void is not known yet here.
        let (leftovers, after_writes) = (leftovers(&run.trials), after_heavier_writes(&run.trials));
        let cold = cold_trials(&run.points, &run.trials, &Voids::new());
        let own = |trial: &Trial| {
            let id = &trial.id;
            leftovers.contains(id) || after_writes.contains(id) || cold.contains_key(id)
        };
        Self(run.trials.iter().filter(|trial| trial.phase != Phase::Prepare && !own(trial)).collect())
    }

    /// Looks for slow periods in the course that `slices` makes of each trial. One window is a period by itself below
    /// `lone_share` of what is usual; otherwise it takes two.
    pub(super) fn slow_periods(
        &self,
        lone_share: Option<f64>,
        slices: impl Fn(&Trial) -> Vec<Slice>,
    ) -> Found {
        let moments = common(self.moments(slices));
        if moments.len() < WINDOWS_MIN {
            return Found::TooFewWindows;
        }
        let stretches = stretches(&moments, lone_share);
        if stretches.len() < STRETCHES_MIN {
            return Found::Even;
        }
        let low_s: f64 = stretches.iter().flatten().map(|m| m.length_s).sum();
        let time_share = low_s / moments.iter().map(|m| m.length_s).sum::<f64>();
        if time_share < TIME_SHARE_MIN {
            return Found::Even;
        }
        Found::Slow(SlowPeriods { stretches, time_share })
    }

    /// Every window of the course, in the order of time.
    fn moments(&self, slices: impl Fn(&Trial) -> Vec<Slice>) -> Vec<Moment> {
        let mut of_point: BTreeMap<usize, Vec<Moment>> = BTreeMap::new();
        for trial in &self.0 {
            let group = trial.point.map_or(0, |point| point + 1);
            of_point.entry(group).or_default().extend(slices(trial).into_iter().map(|slice| {
                let Slice { window, requests, log } = slice;
                let at_s = trial.started_s + trial.windows[window].start_s;
                let length_s = trial.windows[window].length_s;
                Moment { trial: trial.id, window, group, at_s, length_s, requests, log, low: false }
            }));
        }
        let mut out = Vec::new();
        for mut lane in of_point.into_values().filter(|lane| lane.len() >= WINDOWS_MIN) {
            let of = |pick: fn(&Moment) -> f64| robust::median(&lane.iter().map(pick).collect::<Vec<_>>());
            if of(|moment| moment.requests).unwrap_or(0.0) < REQUESTS_MIN {
                continue;
            }
            let usual = of(|moment| moment.log).unwrap_or(0.0);
            lane.iter_mut().for_each(|moment| moment.log -= usual);
            let off: Vec<f64> = lane.iter().map(|moment| moment.log).collect();
            let scatter = robust::median_absolute_deviation(&off).unwrap_or(0.0) * robust::SIGMA_PER_MAD;
            let limit = (-LOW_DEVIATIONS * scatter).min(LOW_SHARE.ln());
            lane.iter_mut().for_each(|moment| moment.low = moment.log < limit);
            out.extend(lane);
        }
        out.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        out
    }
}

/// A window in the course of the run.
#[derive(Debug, Clone, Copy)]
struct Moment {
    trial: u64,
    window: usize,
    /// The point that it belongs to, from 1; 0 for canaries.
    group: usize,
    at_s: f64,
    length_s: f64,
    /// Requests that completed in it.
    requests: f64,
    /// ln of its rate over what its point does otherwise.
    log: f64,
    low: bool,
}

/// How much of a point was seen, and how much of that was slow.
#[derive(Debug, Clone, Default)]
struct Seen {
    windows: f64,
    trials: BTreeSet<u64>,
    slow_trials: BTreeSet<u64>,
}

/// These windows without those of points that are slow far more often than all others: no neighbour waits for one point
/// of many. Strided writes that meet one flash unit in some passes and two in others, for one, halve their rate in six
/// of twenty trials while nothing else does. A trial that is ten times as long meets a neighbour ten times as often.
fn common(moments: Vec<Moment>) -> Vec<Moment> {
    let mut seen: BTreeMap<usize, Seen> = BTreeMap::new();
    for moment in &moments {
        let own = seen.entry(moment.group).or_default();
        own.windows += 1.0;
        own.trials.insert(moment.trial);
        if moment.low {
            own.slow_trials.insert(moment.trial);
        }
    }
    let slow_trials: usize = seen.values().map(|own| own.slow_trials.len()).sum();
    let windows = moments.len() as f64;
    let own_pattern = |own: &Seen| {
        let (trials, slow) = (own.trials.len() as f64, own.slow_trials.len());
        // Of the others' windows so many began a slow trial, and one more may have done so.
        let by_window = ((slow_trials - slow) as f64 + 1.0) / (windows - own.windows + 1.0);
        let share = by_window * own.windows / trials;
        let slow = slow as f64;
        slow > 1.0
            && share < 1.0
            && beta_reg(slow, trials - slow + 1.0, share) * (seen.len() as f64) < BY_CHANCE
    };
    let own: BTreeSet<usize> =
        seen.iter().filter(|(_, own)| own_pattern(own)).map(|(&group, _)| group).collect();
    moments.into_iter().filter(|moment| !own.contains(&moment.group)).collect()
}

/// Runs of low windows, also over a trial's end: the time between trials belongs to no window. Those of trials that are
/// slow as a whole are left out.
fn stretches(moments: &[Moment], lone_share: Option<f64>) -> Vec<Vec<Moment>> {
    let mut out: Vec<Vec<Moment>> = Vec::new();
    let mut open = false;
    for moment in moments {
        match (moment.low, open) {
            (true, true) => out.last_mut().expect("one is open").push(*moment),
            (true, false) => out.push(vec![*moment]),
            (false, _) => {}
        }
        open = moment.low;
    }
    let whole = slow_as_a_whole(moments);
    let is_deep = |moment: &Moment| lone_share.is_some_and(|share| moment.log < share.ln());
    out.retain(|stretch| {
        let counts = stretch.len() >= STRETCH_MIN || stretch.iter().any(is_deep);
        counts && !whole.contains(&stretch[0].trial)
    });
    out
}

/// Trials that are slow from their beginning to their end, but for one window, while the windows before and after them
/// are not: no neighbour comes and goes with a trial. Strided reads, for one, take a drive's units in turn or one after
/// the other, depending on where their pass begins, and on where earlier writes have put the data.
fn slow_as_a_whole(moments: &[Moment]) -> BTreeSet<u64> {
    let trials: Vec<&[Moment]> = moments.chunk_by(|a, b| a.trial == b.trial).collect();
    let is_low = |moment: Option<&Moment>| moment.is_some_and(|moment| moment.low);
    let is_whole = |place: usize| {
        let low = trials[place].iter().filter(|moment| moment.low).count();
        let before = place.checked_sub(1).and_then(|before| trials[before].last());
        let after = trials.get(place + 1).and_then(|after| after.first());
        low >= WHOLE_MIN && low + 1 >= trials[place].len() && !is_low(before) && !is_low(after)
    };
    (0..trials.len()).filter(|&place| is_whole(place)).map(|place| trials[place][0].trial).collect()
}

/// The time from one start to the next, where all gaps are whole multiples of the median one.
fn period_s(starts: &[f64]) -> Option<f64> {
    let gaps: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if gaps.len() < 3 {
        return None;
    }
    let median = robust::median(&gaps)?;
    let regular = gaps.iter().all(|gap| {
        let times = (gap / median).round().max(1.0);
        (gap / median - times).abs() <= 0.15
    });
    regular.then_some(median)
}

//! Storage that did not hold its rate while it was measured: a step, a cycle, a steady loss, or a pause.
//!
//! Looks at: the trials of a point, one a round, where there are ten or more; at the parts of one long trial
//! (`point`: at least 30 windows of 100 ms), where the question is whether its mean describes any moment of it; and
//! in every trial at the longest latency.
//!
//! In a study, also the windows of a point's trials together: does each of them begin as it ends?
//!
//! Rule: a point is steady where its change lies within ±1 % a round with 98 % confidence, over all of its
//! rounds: an equivalence test (Schuirmann's two one-sided tests), with noise allowed for that resembles the
//! round before. A trial is steady where it changes by less than 10 % over its length, the bound that SNIA's
//! specification sets for a slope. Not steady is what shows a step of 5 % or more, a cycle of ±3 % or more, or a
//! loss or gain beyond that bound; each must be likelier than noise makes anything in 3 of 1,000 runs. The
//! industry's rule (five rounds within 20 %, slope within 10 %) accepts a device that loses 2 % a round in every
//! run, after a median of five rounds.
//!
//! Rule for a pause: a request that waited for 0.8 s and more, and for 20 times what half of its point's
//! requests take. No queue or tail of healthy storage is so long (a slow seek takes 25 ms, and 32 of them in line
//! 0.3 s), while retries, resets and lost links last seconds. Where half of what was in flight waited, the storage
//! stopped answering, and the doubt is about everything; where fewer did, about the latency. A pause in a warm-up,
//! or after what was counted, is in no figure and is named all the same.
//!
//! A study's trials are too short to tell one by one. Where those of a point agree (Student's t at a chance of 1
//! in 100,000 for the whole run) that the rate at their end is a tenth or more away from that at their
//! beginning, a buffer or a credit is used up in each of them, and their mean says how long they were. They are
//! void, and so are shorter ones beside those that warmed up longer, which the schedule then asks for: up to seven
//! times a trial's length. It does so, too, where writes have two levels and the lower one only follows other writes.
//!
//! Verdict: doubt about the rate, with the kind of change and its size. What is neither shown to be steady nor
//! shown to change is abstained from, with the interval: it is the usual answer after eight rounds.
//!
//! Measured (`bench/steady-state`, 1,000 runs a cell, correlations 0, 0.3, 0.6): accepted are 0 % of devices
//! that lose 2 % a round at a CV of 5 %, 1 to 14 % of those that lose 1 %, and 99.4 % or more of those that hold
//! their rate at a CV of 12 %. The tables stand in docs/checks.md.
//!
//! Example: a report measures 60 s at each point, since that "allows steady state". Nothing in it tests that,
//! and its writes went to a drive whose buffer had not filled.
//!
//! What to do: after a pause, read the kernel's log (`dmesg`) and the device's own counters of errors. Else
//! measure longer and look at the part after the step. For flash that is written to, bring it to its
//! lasting state first. For a cycle, let trials last several of its periods.

use iosonde_model::{About, Cause, CheckName, Point, Reason, Run, Scope, Trial, Verdict, units};

use super::{Check, Symptom, course, judged, pause};
#[cfg(test)]
use super::{Specimens, specimen};
use iosonde_stats::{
    change_point::{Change, Likeliest, SHORTEST},
    steady::{self, BOUND, Slope},
};

use crate::settling;

/// Parts of a trial at the least.
const PARTS_MIN: usize = 30;
/// Change over a trial that still counts as steady.
const TRIAL_BOUND: f64 = 0.1;
/// A step that a reader notices.
const STEP_MIN: f64 = 0.05;
/// A cycle that a reader notices: ± this share.
const CYCLE_MIN: f64 = 0.03;

pub(super) struct NotSteady;

impl Check for NotSteady {
    fn id(&self) -> CheckName {
        CheckName::NotSteady
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        match scope {
            Scope::Trial(_) => {
                let trial = judged::measuring(scope, run)?;
                let single = course::is_single(run);
                let void = (!single).then(|| among_its_like(run, trial)).flatten();
                let paused = || pause::seen(trial, run).map(Verdict::Warning);
                void.or_else(paused).or_else(|| single.then(|| of_trial(trial)))
            }
            Scope::Point(place) => {
                run.points.get(place).filter(|_| !course::is_single(run)).map(|point| of_point(run, point))
            }
            Scope::Run => None,
        }
    }

    fn symptom(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let quiet = |i: usize| 1.0 + 0.01 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let rounds = |law: fn(usize) -> f64| specimen::rounds(24, |i| 1e5 * quiet(i) * law(i));
        let trial = |law: fn(usize) -> f64| specimen::single(60, |i| 1e5 * quiet(i) * law(i));
        Specimens {
            pass: vec![
                rounds(|_| 1.0),
                trial(|_| 1.0),
                // 2 % is a step that nobody notices.
                rounds(|i| if i < 14 { 1.0 } else { 0.98 }),
            ],
            warning: vec![
                rounds(|i| 0.97f64.powi(i as i32)),
                rounds(|i| if i < 14 { 1.0 } else { 0.8 }),
                rounds(|i| 1.0 + 0.1 * (i as f64).sin()),
                trial(|i| if i < 25 { 1.0 } else { 0.2 }),
                trial(|i| 1.0 - 0.006 * i as f64),
            ],
            invalid: vec![specimen::changing_within(4, |window| if window < 5 { 2e5 } else { 1.2e5 })],
            not_checked: vec![specimen::run(specimen::usual()), specimen::rounds(8, |i| 1e5 * quiet(i))],
        }
    }
}

/// What the members of a series are called.
struct Members {
    noun: &'static str,
    /// Of one.
    seconds: Option<f64>,
    /// Change from one to the next that still counts as steady.
    bound: f64,
    /// Series that are looked at alike.
    alike: usize,
    /// How much the noise of one can resemble that of the one before.
    resemblance: f64,
}

fn of_trial(trial: &Trial) -> Verdict {
    let parts = course::parts(trial);
    if parts.len() < PARTS_MIN {
        let why = format!(
            "the trial has {} windows; {PARTS_MIN} are needed to tell whether it held its rate",
            trial.windows.len()
        );
        return Verdict::NotChecked(Reason::new(About::Rate, why));
    }
    let logs: Vec<f64> = parts.iter().map(|part| course::log(part.iops)).collect();
    let bound = TRIAL_BOUND / parts.len() as f64;
    let seconds = Some(parts[0].length_s);
    let resemblance = course::resemblance(trial);
    verdict(&logs, &Members { noun: "parts of the trial", seconds, bound, alike: 1, resemblance })
}

/// A trial of a study that changed within itself as others of its point did, or that others replace which warmed up
/// longer. `None` where there is nothing of the kind.
fn among_its_like(run: &Run, trial: &Trial) -> Option<Verdict> {
    let (begin, end) = settling::halves(trial).filter(|_| settling::must_hold(trial))?;
    let log_ratio = (end / begin).ln();
    // Every trial of a run is asked this after every trial: the others of its point are looked for only where they can
    // matter. Less than half of the least change that is noticed voids no trial.
    let replaced = |other: &Trial| other.settling_s > trial.settling_s && other.point == trial.point;
    if log_ratio.abs() < settling::NOTICED / 2.0 && !run.trials.iter().any(replaced) {
        return None;
    }
    let own: Vec<&Trial> =
        run.trials.iter().filter(|other| other.point == trial.point && settling::must_hold(other)).collect();
    let latest = settling::latest(&own);
    let longer_s = latest.first().map_or(0.0, |other| other.settling_s);
    if longer_s > trial.settling_s {
        let longer = units::time((longer_s - trial.settling_s) * 1e9);
        let others = match latest.len() {
            1 => format!("one that warmed up {longer} longer replaces it"),
            count => format!("{count} that warmed up {longer} longer replace it"),
        };
        let why = format!("within trials of this length the rate changed: {others}");
        return Some(Verdict::Invalid(Reason::new(About::All, why).with("settling_s", longer_s)));
    }
    let within = settling::within(&latest, run.points.len())?;
    // Trials that found the buffer full already are what the others should have been.
    if log_ratio / within.log_ratio < 0.5 {
        return None;
    }
    let (word, cause) = match end < begin {
        true => ("fell", "something was used up"),
        false => ("rose", "it began slower than it goes on"),
    };
    let (a, b) = (units::count(begin), units::count(end));
    let why = format!(
        "within the trial the rate {word} from {a} to {b} IOPS, as in others of its point: {cause}, and the mean \
         tells no more than how long the trial was"
    );
    let reason = Reason::new(About::All, why).with("before_iops", begin).with("after_iops", end);
    Some(Verdict::Invalid(reason.with("alike", within.trials as f64)))
}

fn of_point(run: &Run, point: &Point) -> Verdict {
    let trials = course::of_point(run, point);
    if trials.len() < SHORTEST {
        let why = format!(
            "{}: {} rounds say too little of whether the rate holds; {SHORTEST} are needed",
            point.spec.describe(),
            trials.len()
        );
        return Verdict::NotChecked(Reason::new(About::Rate, why));
    }
    let logs: Vec<f64> = trials.iter().map(|trial| course::log(trial.iops())).collect();
    let alike = run.points.len();
    let members = Members { noun: "rounds", seconds: None, bound: BOUND, alike, resemblance: 1.0 };
    match verdict(&logs, &members) {
        Verdict::Warning(reason) => Verdict::Warning(at_point(point, reason)),
        Verdict::NotChecked(reason) => Verdict::NotChecked(at_point(point, reason)),
        other => other,
    }
}

fn at_point(point: &Point, reason: Reason) -> Reason {
    let (spec, cause) = (Box::new(point.spec.clone()), Box::new(reason.cause));
    Reason::new(reason.about, Cause::AtPoint { spec, cause })
}

fn verdict(logs: &[f64], members: &Members) -> Verdict {
    let change = Likeliest::within(logs, members.resemblance)
        .map_or(Change::None, |found| found.change_among(members.alike));
    let unnoticed = match change {
        Change::Step { height, .. } => height.exp_m1().abs() < STEP_MIN,
        Change::Cycle { amplitude, .. } => amplitude < CYCLE_MIN,
        Change::None | Change::Drift { .. } => true,
    };
    if unnoticed && steady::holds(logs, members.bound) {
        return Verdict::Pass;
    }
    // Everything by chance together: the intervals' share is divided by how many are looked at.
    let confidence = 1.0 - 0.003 / members.alike as f64;
    match change {
        Change::Step { at, height } if !unnoticed => step(logs, at, height, members),
        Change::Cycle { period, amplitude } if !unnoticed => cycle(period, amplitude, members),
        _ => match Slope::of(logs, steady::CONFIDENCE) {
            Some(slope) if steady::surely_drifts(logs, members.bound, confidence) => drift(slope, members),
            Some(slope) => unknown(slope, logs.len(), members),
            None => Verdict::NotChecked(Reason::new(About::Rate, "too few figures to tell")),
        },
    }
}

fn step(logs: &[f64], at: usize, height: f64, members: &Members) -> Verdict {
    let mean = |logs: &[f64]| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    let (before, after) = (mean(&logs[..at]), mean(&logs[at..]));
    let when = match members.seconds {
        Some(seconds) => format!("{} into the trial", units::time(at as f64 * seconds * 1e9)),
        None => format!("in round {} of {}", at + 1, logs.len()),
    };
    let word = if height < 0.0 { "fell" } else { "rose" };
    let (a, b) = (units::count(before), units::count(after));
    let since = steady::window(logs, members.bound).filter(|window| window.from >= at).map(|window| {
        let bound = units::percent(window.cumulative_bound());
        format!("; since then it has held its rate, with a change of {bound} in all at the most")
    });
    let why = format!(
        "the rate {word} from {a} to {b} IOPS {when}: a mean over both describes neither{}",
        since.unwrap_or_default()
    );
    let reason = Reason::new(About::Rate, why).with("before_iops", before).with("after_iops", after);
    Verdict::Warning(reason.with("step_share", height.exp_m1()))
}

fn cycle(period: f64, amplitude: f64, members: &Members) -> Verdict {
    let every = match members.seconds {
        Some(seconds) => format!("once in {}", units::time(period * seconds * 1e9)),
        None => format!("once in {period:.0} rounds"),
    };
    let share = units::percent(amplitude);
    let why = format!(
        "the rate goes up and down by ±{share} {every}: only a mean over whole cycles can be repeated"
    );
    Verdict::Warning(Reason::new(About::Rate, why).with("amplitude_share", amplitude).with("period", period))
}

/// `falls by 2.0 % a round [1.7, 2.3]`.
fn told(slope: Slope, members: &Members) -> String {
    let share = |log: f64| log.exp_m1().abs() * 100.0;
    let word = if slope.value < 0.0 { "falls" } else { "rises" };
    let scale = members.seconds.map_or(1.0, |_| TRIAL_BOUND / members.bound);
    let over = if members.seconds.is_some() { "over the trial" } else { "a round" };
    let signed = |log: f64| if slope.value < 0.0 { -log } else { log } * scale;
    let (a, b) = (signed(slope.low), signed(slope.high));
    let ends = |log: f64| log.signum() * share(log);
    format!(
        "{word} by {:.1} % {over} [{:.1}, {:.1}]",
        share(slope.value * scale),
        ends(a.min(b)),
        ends(a.max(b))
    )
}

/// `may fall by 2.0 % or rise by 1.1 % a round`: what is not shown is not said to do either.
fn open(slope: Slope, members: &Members) -> String {
    if (slope.low < 0.0) == (slope.high < 0.0) {
        return told(slope, members);
    }
    let scale = members.seconds.map_or(1.0, |_| TRIAL_BOUND / members.bound);
    let share = |log: f64| units::percent((log * scale).exp_m1().abs());
    let over = if members.seconds.is_some() { "over the trial" } else { "a round" };
    format!(
        "may fall by {} or rise by {} {over}",
        share(slope.low.min(slope.high)),
        share(slope.low.max(slope.high))
    )
}

fn drift(slope: Slope, members: &Members) -> Verdict {
    let limit = units::percent(members.seconds.map_or(members.bound, |_| TRIAL_BOUND));
    let why = format!(
        "the rate {}, and ±{limit} is what steady means: how long one measures decides what one gets",
        told(slope, members)
    );
    let reason = Reason::new(About::Rate, why).with("slope_per_step", slope.value.exp_m1());
    Verdict::Warning(reason.with("low", slope.low.exp_m1()).with("high", slope.high.exp_m1()))
}

fn unknown(slope: Slope, length: usize, members: &Members) -> Verdict {
    let limit = units::percent(members.seconds.map_or(members.bound, |_| TRIAL_BOUND));
    // The interval of a slope narrows with the length's power of 1.5.
    let needed = (length as f64 * (slope.furthest() / members.bound).powf(2.0 / 3.0)).ceil();
    let more = match members.seconds {
        Some(seconds) => format!("about {}", units::duration(needed * seconds)),
        None => format!("about {needed:.0} rounds"),
    };
    let why = format!(
        "after {length} {} the rate {}: to tell whether it stays within the ±{limit} that steady means would take \
         {more}",
        members.noun,
        open(slope, members)
    );
    Verdict::NotChecked(Reason::new(About::Rate, why).with("slope_per_step", slope.value.exp_m1()))
}

#[cfg(test)]
mod tests {
    use iosonde_model::Scope;

    use super::*;

    fn said(run: &Run, scope: Scope) -> String {
        match NotSteady.check(scope, run) {
            Some(Verdict::Warning(reason) | Verdict::NotChecked(reason) | Verdict::Invalid(reason)) => {
                reason.cause.said().to_owned()
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_step_within_a_trial_is_told_with_its_moment_and_both_levels() {
        let run = specimen::single(60, |i| if i < 25 { 16_000.0 } else { 3000.0 });
        assert_eq!(
            said(&run, Scope::Trial(0)),
            "the rate fell from 16.0 k to 3.00 k IOPS 2.50 s into the trial: a mean over both describes neither; \
             since then it has held its rate, with a change of 0.00 % in all at the most"
        );
    }

    #[test]
    fn a_buffer_that_fills_within_every_trial_voids_them_until_longer_ones_hold() {
        let mut run = specimen::changing_within(4, |window| if window < 5 { 2e5 } else { 1.2e5 });
        let why = said(&run, Scope::Trial(3));
        assert!(
            why.starts_with("within the trial the rate fell from 200 k to 120 k IOPS, as in others"),
            "{why}"
        );
        // One of them found the buffer full.
        run.trials[1] = specimen::changing_within(2, |_| 1.2e5).trials.remove(1);
        run.trials.extend((4..12).map(|place| specimen::visit(place, 0, 120_000)));
        run.trials[4..].iter_mut().for_each(|trial| trial.settling_s = 0.0);
        assert_eq!(said(&run, Scope::Trial(4)), "None");
        run.trials[4..].iter_mut().for_each(|trial| trial.settling_s = 0.3);
        assert_eq!(
            said(&run, Scope::Trial(0)),
            "within trials of this length the rate changed: 8 that warmed up 300 ms longer replace it"
        );
        assert_eq!(said(&run, Scope::Trial(4)), "None");
    }

    #[test]
    fn a_loss_is_told_with_its_interval() {
        let law =
            |i: usize| 1e5 * 0.97f64.powi(i as i32) * (1.0 + 0.01 * ((i * i * 7 + i) % 13) as f64 / 13.0);
        let why = said(&specimen::rounds(24, law), Scope::Point(0));
        assert!(
            why.contains("the rate falls by 3.0 % a round [3.0, 3.1], and ±1.0 % is what steady means"),
            "{why}"
        );
    }

    #[test]
    fn noise_alone_is_neither_steady_nor_a_doubt_when_there_is_little_of_it() {
        let wild = |i: usize| 1e5 * (1.0 + 0.12 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0));
        let why = said(&specimen::rounds(12, wild), Scope::Point(0));
        assert!(why.contains("after 12 rounds the rate may fall by "), "{why}");
        assert!(why.contains(" a round: to tell whether it stays within the ±1.0 % that "), "{why}");
    }
}

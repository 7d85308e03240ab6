//! Storage that did not hold its rate while it was measured: a step, a cycle, a steady loss, or a pause.
//!
//! Looks at: the trials of a point, one a round, where there are ten or more; at the parts of one long trial
//! (`point`: at least 30 windows of 100 ms), where the question is whether its mean describes any moment of it; and
//! in every trial at the longest latency.
//!
//! In a study, also the windows of a point's trials together: does each of them begin as it ends?
//!
//! Rule: a point is steady where its change lies within ±1 % a round with 98 % confidence (90 % from 48 rounds on),
//! over all of its rounds: an equivalence test (Schuirmann's two one-sided tests) that allows for autocorrelated
//! noise. A trial is steady where it changes by less than 10 % over its length, the bound that SNIA's
//! specification sets for a slope. Not steady is what shows a step of 5 % or more, a cycle of ±3 % or more, or a
//! loss or gain beyond that bound; each must be likelier than noise makes anything in 3 of 1,000 runs. What may
//! turn out to be a cycle is not accepted before 60 rounds.
//!
//! Trials that lie on two levels in turn, with a gap of three times the wider one's range between them, have two
//! conditions: by what was written before, for one. Both have a figure of their own in the JSON (`levels`), as those
//! before and after a step.
//!
//! `--state steady` asks the same rule after rounds 10, 12, 15, 19, 24, 30, 38, 48 and 60, and also accepts the last
//! three quarters or the last half of its rounds.
//!
//! Rule for a pause: a request that waited for 0.8 s and more, and for 20 times what half of its point's
//! requests take. No queue or tail of healthy storage is so long (a slow seek takes 25 ms, and 32 of them in line
//! 0.3 s), while retries, resets and lost links last seconds. Where half of the queue waited, the storage
//! stopped answering, and the doubt is about everything; where fewer did, about the latency. A pause in a warm-up,
//! or after what was counted, is in no figure and is named all the same.
//!
//! A study's trials are too short to tell one by one. Where those of a point agree (Student's t at a chance of 1
//! in 100,000 for the whole run) that the rate at their end is a tenth or more away from that at their
//! beginning, a buffer or a credit is used up in each of them, and their mean says how long they were. They are
//! void. The schedule then asks for longer warm-ups, up to seven times a trial's length, and earlier, where chance
//! shows such a change in one run of a hundred. Trials that warmed up longer replace the others where one of
//! these is 5 % or more away. Where nothing of the run writes, so that no write buffer can be the reason, the others
//! must also be at another level (Student's t, 1 in 1,000 for the whole run) or change within themselves.
//!
//! It also asks whether rates depend on what ran before: whether trials after lighter writes than their own are
//! faster, or those after heavier ones slower, over all points of the run together (a permutation test within points,
//! 99.9 %). If so, they warm up longer, and replace the earlier ones of their points where those differ by 5 % or more.
//! After writes at their own rate they need none: those were the warm-up.
//!
//! Verdict: doubt about the rate, with the kind of change and its size. What is neither shown to be steady nor
//! shown to change is abstained from, with the interval: it is the usual answer after eight rounds.
//!
//! Measured through `iosonde run --state steady` (`bench/steady-state`): how often the rule accepts storage that
//! loses up to 2 % a round, and rejects storage that holds its rate, stands in docs/checks.md beside SNIA's rule
//! (five rounds within 20 %, slope within 10 %).
//!
//! Example: a report measures 60 s at each point, since that "allows steady state". Nothing in it tests that,
//! and its writes went to a drive whose buffer had not filled.
//!
//! What to do: after a pause, read the kernel's log (`dmesg`) and the device's own counters of errors. Else
//! measure longer and look at the part after the step. For flash that is written to, bring it to its
//! lasting state first. For a cycle, let trials last several of its periods.

use iosonde_model::{
    About, CheckName, LevelCondition, Point, Reason, Run, Scope, Trial, Verdict,
    cause::{self, Trend},
};

use super::{Check, Symptom, TrialStanding, course, judged, pause};
#[cfg(test)]
use super::{Specimens, specimen};
use iosonde_stats::{
    change_point::{Cycle, SHORTEST, Step},
    steady::{self, Held, Slope, Terms, Whole},
};

use crate::{
    levels,
    settling::{self, WarmedUp},
};

/// Minimum number of parts of a trial.
const PARTS_MIN: usize = 30;
/// Change over a trial that still counts as steady.
const TRIAL_BOUND: f64 = 0.1;

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
            Scope::Point(_) | Scope::Run => None,
        }
    }

    fn symptom(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    fn after(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        let Scope::Point(place) = scope else { return None };
        run.points.get(place).filter(|_| !course::is_single(run)).map(|point| of_point(run, point, standing))
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

/// Members of a series of rates: parts of a trial, or rounds.
struct Members {
    /// Length of a part of a trial.
    part_s: Option<f64>,
    terms: Terms,
}

fn of_trial(trial: &Trial) -> Verdict {
    let parts = course::parts(trial);
    if parts.len() < PARTS_MIN {
        let (windows, needed) = (trial.windows.len(), PARTS_MIN);
        return Verdict::NotChecked(reason(cause::NotSteady::TooFewWindows { windows, needed }));
    }
    let logs: Vec<f64> = parts.iter().map(|part| course::log(part.iops)).collect();
    let bound = TRIAL_BOUND / parts.len() as f64;
    let terms = Terms { bound, series: 1, correlation_most: course::resemblance(trial) };
    verdict(&logs, &Members { part_s: Some(parts[0].length_s), terms })
}

fn reason(cause: cause::NotSteady) -> Reason {
    Reason::new(About::Rate, cause)
}

/// A trial of a study that changed within itself as others of its point did, or that others replace which warmed up
/// longer. `None` where there is nothing of the kind.
fn among_its_like(run: &Run, trial: &Trial) -> Option<Verdict> {
    let (begin, end) = settling::halves(trial).filter(|_| settling::must_hold(trial))?;
    let log_ratio = (end / begin).ln();
    // Every trial of a run is asked this after every trial: what the others of its point say is worked out only where
    // it can matter. Less than half of the least change that is noticed voids no trial.
    let like = |other: &&Trial| other.point == trial.point && settling::must_hold(other);
    let own: Vec<&Trial> = run.trials.iter().filter(like).collect();
    let replaced = own.iter().any(|other| settling::needed_s(other) > trial.settling_s);
    if log_ratio.abs() < settling::NOTICED / 2.0 && !replaced {
        return None;
    }
    let warmed_up = WarmedUp::of(own, &run.trials, run.points.len());
    let latest = warmed_up.latest();
    if !latest.iter().any(|other| other.id == trial.id)
        && warmed_up.replace(&latest, &run.trials, run.points.len())
    {
        let replaced = cause::NotSteady::Replaced {
            replacements: latest.len(),
            settling_s: warmed_up.longest_s,
            longer_s: warmed_up.longest_s - trial.settling_s,
        };
        return Some(Verdict::Invalid(Reason::new(About::All, replaced)));
    }
    let within = settling::within(&latest, run.points.len(), settling::INVALID_BY_CHANCE)?;
    // Trials that found the buffer full already are what the others should have been.
    if log_ratio / within.log_ratio < 0.5 {
        return None;
    }
    let changed =
        cause::NotSteady::ChangedWithin { before_iops: begin, after_iops: end, alike: within.trials };
    Some(Verdict::Invalid(Reason::new(About::All, changed)))
}

fn of_point(run: &Run, point: &Point, standing: &TrialStanding) -> Verdict {
    let trials = course::of_point(run, point, standing);
    let at_point = |reason: Reason| Reason::new(reason.about, reason.cause.at_point(&point.spec));
    if trials.len() < SHORTEST {
        let too_few = cause::NotSteady::TooFewRounds { rounds: trials.len(), needed: SHORTEST };
        return Verdict::NotChecked(at_point(reason(too_few)));
    }
    let logs: Vec<f64> = trials.iter().map(|trial| course::log(trial.iops())).collect();
    let members = Members { part_s: None, terms: Terms::of_rounds(run.points.len()) };
    let groups =
        levels::levels(&trials, &logs, &run.trials, run.points.len()).and_then(|two| groups(&logs, &two));
    match groups.map_or_else(|| verdict(&logs, &members), |groups| Verdict::Warning(reason(groups))) {
        Verdict::Warning(reason) => Verdict::Warning(at_point(reason)),
        Verdict::NotChecked(reason) => Verdict::NotChecked(at_point(reason)),
        other => other,
    }
}

fn verdict(logs: &[f64], members: &Members) -> Verdict {
    let Some(course) = steady::course(logs, &members.terms) else {
        return Verdict::NotChecked(reason(cause::NotSteady::NoTrend));
    };
    let part_s = members.part_s;
    match course.whole {
        Whole::Level => Verdict::Pass,
        Whole::Step(Step { at, height }) => {
            let held = course.held(logs, &members.terms);
            Verdict::Warning(reason(step(logs, at, height, held, part_s)))
        }
        Whole::Cycle(Cycle { period, amplitude: amplitude_share }) => {
            Verdict::Warning(reason(cause::NotSteady::Cycle { amplitude_share, period, part_s }))
        }
        Whole::Trend => {
            Verdict::Warning(reason(cause::NotSteady::Trend(trend(course.slope, logs.len(), members))))
        }
        Whole::Unknown => unknown(course.slope, logs.len(), members),
    }
}

/// Levels that take turns; a step in time is told as one.
fn groups(logs: &[f64], [low, high]: &[levels::Level; 2]) -> Option<cause::NotSteady> {
    let mean = |level: &levels::Level| {
        let sum: f64 = level.places.iter().map(|&place| logs[place]).sum();
        (sum / level.places.len() as f64).exp()
    };
    if low.condition == LevelCondition::BeforeStep {
        return None;
    }
    Some(cause::NotSteady::Levels {
        low_iops: mean(low),
        low_trials: low.places.len(),
        low_condition: low.condition,
        high_iops: mean(high),
        high_trials: high.places.len(),
        high_condition: high.condition,
    })
}

fn step(logs: &[f64], at: usize, height: f64, held: Option<Held>, part_s: Option<f64>) -> cause::NotSteady {
    let mean = |logs: &[f64]| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    cause::NotSteady::Step {
        before_iops: mean(&logs[..at]),
        after_iops: mean(&logs[at..]),
        step_share: height.exp_m1(),
        at,
        members: logs.len(),
        part_s,
        held_within_share: held.filter(|held| held.from >= at).map(|held| held.cumulative_bound()),
    }
}

fn trend(slope: Slope, length: usize, members: &Members) -> Trend {
    Trend {
        slope_per_step: slope.value.exp_m1(),
        low: slope.low.exp_m1(),
        high: slope.high.exp_m1(),
        bound_share: members.part_s.map_or(members.terms.bound, |_| TRIAL_BOUND),
        members: length,
        part_s: members.part_s,
    }
}

fn unknown(slope: Slope, length: usize, members: &Members) -> Verdict {
    // The interval of a slope narrows with the length's power of 1.5. A suspected cycle needs one member more.
    let needed = (length as f64 * (slope.furthest() / members.terms.bound).powf(2.0 / 3.0)).ceil();
    let needed = needed.max(length as f64 + 1.0);
    let trend = trend(slope, length, members);
    Verdict::NotChecked(reason(cause::NotSteady::Unknown { trend, needed }))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Cause, Scope};

    use super::*;

    /// The facts of what the check says, without the point that they are about; `None` where it passes or is silent.
    fn said(run: &Run, scope: Scope) -> Option<cause::NotSteady> {
        let (Verdict::Warning(reason) | Verdict::NotChecked(reason) | Verdict::Invalid(reason)) =
            NotSteady.judge(scope, run, &TrialStanding::default())?
        else {
            return None;
        };
        match reason.cause {
            Cause::NotSteady(facts) => Some(facts),
            Cause::AtPoint { cause, .. } => match *cause {
                Cause::NotSteady(facts) => Some(facts),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_step_within_a_trial_is_found_with_its_moment_and_both_levels() {
        let run = specimen::single(60, |i| if i < 25 { 16_000.0 } else { 3000.0 });
        let Some(cause::NotSteady::Step { before_iops, after_iops, at, part_s, held_within_share, .. }) =
            said(&run, Scope::Trial(0))
        else {
            panic!("a step")
        };
        assert_eq!((before_iops.round(), after_iops.round(), at), (16_000.0, 3000.0, 25));
        assert!((part_s.unwrap() - 0.1).abs() < 1e-9 && held_within_share.unwrap() < 5e-5);
    }

    #[test]
    fn a_buffer_that_fills_within_every_trial_voids_them_until_longer_ones_hold() {
        let mut run = specimen::changing_within(4, |window| if window < 5 { 2e5 } else { 1.2e5 });
        let Some(cause::NotSteady::ChangedWithin { before_iops, after_iops, alike }) =
            said(&run, Scope::Trial(3))
        else {
            panic!("it fell")
        };
        assert_eq!((before_iops.round(), after_iops.round(), alike), (200_000.0, 120_000.0, 4));
        // One of them found the buffer full.
        run.trials[1] = specimen::changing_within(2, |_| 1.2e5).trials.remove(1);
        run.trials.extend((4..12).map(|place| specimen::visit(place, 0, 120_000)));
        run.trials[4..].iter_mut().for_each(|trial| trial.settling_s = 0.0);
        assert_eq!(said(&run, Scope::Trial(4)), None);
        run.trials[4..].iter_mut().for_each(|trial| trial.settling_s = 0.3);
        // That one held: what ran before it was its warm-up.
        let replaced = cause::NotSteady::Replaced { replacements: 9, settling_s: 0.3, longer_s: 0.3 };
        assert_eq!(said(&run, Scope::Trial(0)), Some(replaced));
        assert_eq!(said(&run, Scope::Trial(4)), None);
    }

    #[test]
    fn a_loss_has_its_interval() {
        let law =
            |i: usize| 1e5 * 0.97f64.powi(i as i32) * (1.0 + 0.01 * ((i * i * 7 + i) % 13) as f64 / 13.0);
        let Some(cause::NotSteady::Trend(trend)) = said(&specimen::rounds(24, law), Scope::Point(0)) else {
            panic!("it falls")
        };
        assert!(trend.low < -0.03 && -0.03 < trend.high && trend.high - trend.low < 0.001, "{trend:?}");
        assert_eq!((trend.bound_share, trend.members, trend.part_s), (steady::BOUND, 24, None));
    }

    #[test]
    fn noise_alone_is_neither_steady_nor_a_doubt_when_there_is_little_of_it() {
        let wild = |i: usize| 1e5 * (1.0 + 0.12 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0));
        let Some(cause::NotSteady::Unknown { trend, needed }) =
            said(&specimen::rounds(12, wild), Scope::Point(0))
        else {
            panic!("nobody knows")
        };
        assert!(trend.low < 0.0 && trend.high > 0.0 && needed > 12.0, "{trend:?} {needed}");
    }
}

//! Storage that became slower or faster during the run, at all points.
//!
//! Looks at: the throughput of all valid trials, canaries included, against the time at which they ran, and at the
//! order in which points were visited. Canaries that read right after a write are left out: they show what the
//! write left behind.
//!
//! Rule: ln(throughput) = level of the point + slope × time. Each point is weighted by its own scatter, and the
//! noise may be correlated from trial to trial. A drift is named where its slope differs from zero at 0.07 % and
//! changes the throughput by 2 % or more from the first trial to the last. The fit is on time, not on round
//! numbers, because rounds become shorter when points close. 0.07 % and not the usual 5 %, because false alarms
//! must be very rare: correlation that 12 rounds cannot show turns a nominal 0.5 % into a real 2 %.
//!
//! Where points were not visited in turns, drift and differences between points cannot be separated. This is so
//! where more than half of all differences in time are differences between points.
//!
//! More than a third of the points may have slopes of their own that contradict the common slope (by six standard
//! errors and 2 %). The check then says how many rose, fell and held, and gives no common figure.
//!
//! Verdict: a warning about the throughput, with the change over the run and its interval: a result of its own.
//! Points that are visited in rounds, in random order, all carry the same share of a drift, so comparisons between
//! them remain valid. The estimates are means over the run's time, drift included.
//!
//! Measured: see docs/checks.md. A loss of 2 % a round at a CV of 5 % is detected in 95 % and more from 12 rounds
//! of 4 points on. A loss of 5 % an hour is 0.4 % in five minutes, which is too small to detect.
//!
//! Example: a "sharp decline" at reads of 128 MB and 512 MB, five trials each, all points in sorted order, the
//! larger ones last. The size may be the cause, or a machine that became slower: the data cannot show which.
//!
//! What to do: rounds in random order (`iosonde run` always does that). For flash: bring it to its steady state
//! first. For a shared machine: look at what else ran.

use iosonde_model::{About, CheckName, Phase, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, Symptom, TrialStanding};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::{
    drift::{self, DriftFit, TRIALS_MIN},
    estimate::leftovers,
};
use iosonde_stats::trend::{Heterogeneity, Observation};

/// Confidence of the interval of the change.
const CONFIDENCE: f64 = 0.95;

pub(super) struct Drift;

impl Check for Drift {
    fn id(&self) -> CheckName {
        CheckName::Drift
    }

    fn after(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        // One workload by hand has no rounds.
        (scope == Scope::Run && run.trials.len() > 1).then(|| verdict(run, standing))
    }

    fn symptom(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        // 24 trials of four points in turn, whose rates differ by a factor of three.
        let in_turn =
            |law: fn(usize) -> f64| points(24, |i| i % 4, |i| 1e5 / (1 + i % 4) as f64 * quiet(i) * law(i));
        Specimens {
            pass: vec![in_turn(|_| 1.0), in_turn(|i| 1.0 + 0.0005 * i as f64)],
            warning: vec![
                in_turn(|i| 0.98f64.powi(i as i32 / 4)),
                in_turn(|i| 1.0 + 0.01 * i as f64),
                // Sorted: each point's six trials are consecutive.
                points(24, |i| i / 6, |i| 1e5 * quiet(i)),
            ],
            not_checked: vec![specimen::rounds(5, |_| 1e5)],
            ..Specimens::default()
        }
    }
}

/// A run of trials of several points, one after the other.
#[cfg(test)]
fn points(count: usize, point: impl Fn(usize) -> usize, iops: impl Fn(usize) -> f64) -> Run {
    let mut run = specimen::rounds(count, iops);
    run.trials.iter_mut().enumerate().for_each(|(place, trial)| trial.point = Some(point(place)));
    run
}

fn visits(run: &Run, standing: &TrialStanding) -> Vec<Observation> {
    let leftovers = leftovers(&run.trials);
    let left_out =
        |trial: &Trial| !standing.is_valid_for(trial, About::Rate) || leftovers.contains(&trial.id);
    let counts = |trial: &&Trial| trial.phase != Phase::Prepare && !left_out(trial);
    // A canary is a group of its own.
    let group =
        |trial: &Trial| trial.point.filter(|_| trial.phase == Phase::Measure).map_or(0, |point| point + 1);
    run.trials.iter().filter(counts).filter_map(|trial| drift::visit(group(trial), trial)).collect()
}

fn verdict(run: &Run, standing: &TrialStanding) -> Verdict {
    let reason = |cause: cause::Drift| Reason::new(About::Rate, cause);
    match drift::fit(visits(run, standing), CONFIDENCE) {
        DriftFit::TooFewTrials(trials) => {
            Verdict::NotChecked(reason(cause::Drift::TooFewTrials { trials, needed: TRIALS_MIN }))
        }
        DriftFit::Confounded(confounded_share) => {
            Verdict::Warning(Reason::new(About::All, cause::Drift::Confounded { confounded_share }))
        }
        DriftFit::NoSlope => Verdict::NotChecked(reason(cause::Drift::NoSlope)),
        DriftFit::NotProven(_) => Verdict::Pass,
        DriftFit::Different(Heterogeneity { rose, fell, held }, duration_s) => {
            let wrote = run.trials.iter().any(|trial| trial.spec.changes());
            Verdict::Warning(reason(cause::Drift::Unlike { rose, fell, held, duration_s, wrote }))
        }
        DriftFit::Common(slope) => {
            let ((change_share, low, high), duration_s) = (slope.change(), slope.duration_s);
            Verdict::Warning(reason(cause::Drift::Changed { change_share, low, high, duration_s }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(run: &Run) -> cause::Drift {
        match Drift.judge(Scope::Run, run, &TrialStanding::default()) {
            Some(Verdict::Warning(Reason { cause: cause::Cause::Drift(facts), .. })) => facts,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_drift_has_its_interval_and_its_time() {
        // 4 points, 12 rounds, 2 % a round: 0.98^11.75 = 0.789 from the first to the last of 48 trials.
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let found = said(&points(48, |i| i % 4, |i| 1e5 * quiet(i) * 0.98f64.powf(i as f64 / 4.0)));
        let cause::Drift::Changed { change_share, low, high, duration_s } = found else {
            panic!("{found:?}")
        };
        assert!((-0.22..-0.20).contains(&change_share) && (-0.20..-0.19).contains(&high), "{found:?}");
        assert!(low < change_share && duration_s.round() == 56.0, "{found:?}");
    }

    #[test]
    fn points_that_go_different_ways_have_no_drift_in_common() {
        let quiet = |i: usize| 1.0 + 0.01 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        // Two of four rise, two stand still.
        let half = |i: usize| if i.is_multiple_of(2) { 1.0 } else { 2f64.powf(i as f64 / 48.0) };
        let found = said(&points(48, |i| i % 4, |i| 1e5 * quiet(i) * half(i)));
        assert!(matches!(found, cause::Drift::Unlike { rose: 2, fell: 0, held: 2, .. }), "{found:?}");
    }

    #[test]
    fn one_disturbed_trial_is_no_drift() {
        let quiet = |i: usize| 1.0 + 0.02 * (((i * i * 7 + i) % 13) as f64 / 6.5 - 1.0);
        let run = points(40, |i| i % 4, |i| if i == 39 { 2e4 } else { 1e5 * quiet(i) });
        assert_eq!(Drift.judge(Scope::Run, &run, &TrialStanding::default()), Some(Verdict::Pass));
    }

    #[test]
    fn points_in_sorted_order_cannot_be_told_from_drift() {
        let found = said(&points(24, |i| i / 6, |_| 1e5));
        assert!(
            matches!(found, cause::Drift::Confounded { confounded_share } if confounded_share > 0.9),
            "{found:?}"
        );
    }
}

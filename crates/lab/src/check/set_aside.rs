//! Trials that lie so far from the others of their point that they do not count.
//!
//! Looks at: the logarithms of all rates and mean latencies of a run, after each point's level and the
//! run's drift are taken out.
//!
//! Rule: the estimates set aside what lies more than 4.5 median distances (3 standard deviations of normal
//! scatter) from the level of its point; in clean scatter that is one trial in 400, and the intervals allow
//! for it. This check speaks up where it is more than that: a trial that lies more than 6 standard
//! deviations away, which chance does once in 500 million trials, or more trials than chance sets aside
//! once in 1,000 runs. Nothing is ever dropped for being slow alone: leaving out what lies 1.5 deviations
//! low would shift every figure by 0.7 % and spoil its interval.
//!
//! Verdict: doubt, about the run. The figures are those of the undisturbed storage; if the disturbances are
//! part of your life (a neighbour, garbage collection), what you get on average is less. The trials stay in
//! the run, in the table of trials and in the percentiles.
//!
//! Example: a "peculiar divot" at one queue depth of a table of single runs: one disturbed trial, or a
//! property? With eight trials a point, seven of them say which.
//!
//! What to do: look at when they happened. Several in a row: another program. One a minute: the device.

use std::collections::BTreeMap;

use iosonde_model::{About, Judgement, Named, Outcome, Reason, Run, Scope, Trial, Verdict};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::{Check, Specimens, specimen};
use crate::{
    estimate::{Estimates, Voids},
    stats::robust::{SIGMA_PER_MEDIAN_DISTANCE, median, median_distance},
};

/// Standard deviations that chance does not reach in any run.
const WILD: f64 = 6.0;
/// Share of clean normal scatter that the estimates set aside.
const CHANCE: f64 = 0.0024;
/// Probability below which a number of trials is more than chance.
const CHANCE_DOUBT: f64 = 0.001;

pub(super) struct SetAside;

impl Named for SetAside {
    fn name(&self) -> &'static str {
        "set-aside"
    }
}

impl Check for SetAside {
    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        match scope {
            Scope::Run => Some(verdict(run)),
            Scope::Trial(_) | Scope::Point(_) => None,
        }
    }

    fn specimens(&self) -> Specimens {
        // Rates a little apart from each other, so that there is a scatter to lie outside of.
        let even: Vec<u64> = (0..12).map(|i| 100_000 + i * 37 % 11 * 200).collect();
        let mut disturbed = even.clone();
        disturbed[5] = 20_000;
        Specimens {
            pass: vec![specimen::run(specimen::usual()), repeated(&even)],
            doubt: vec![repeated(&disturbed)],
            ..Specimens::default()
        }
    }
}

/// A point that was visited once for each of these rates.
fn repeated(rates: &[u64]) -> Run {
    let mut run = specimen::run(specimen::usual());
    run.trials = rates
        .iter()
        .enumerate()
        .map(|(place, &iops)| {
            let spec = &run.trials[0].spec;
            Trial {
                id: place as u64 + 1,
                round: place as u32 + 1,
                started_s: 1.2 * place as f64,
                ..specimen::healthy(spec.rw, spec.block_size_bytes, spec.queue_depth, iops)
            }
        })
        .collect();
    run
}

fn verdict(run: &Run) -> Verdict {
    let void = |judgement: &&Judgement| judgement.verdict == Outcome::Void;
    let voids: Voids = run
        .verdicts
        .iter()
        .filter(void)
        .filter_map(|judgement| Some((judgement.trial?, About::All)))
        .collect();
    let aside = Estimates::of(&run.points, &run.trials, &voids).outliers().rate;
    let wild: Vec<_> =
        away(run, &voids).into_iter().filter(|(id, share)| aside.contains(id) && share.wild).collect();
    let reason = |why: String| Reason::new(About::Rate, why).with("set_aside", aside.len() as f64);
    match wild.as_slice() {
        [(id, Away { share, .. })] => Verdict::Doubt(reason(format!(
            "trial {id} reached {share:.2} of its point's usual rate and was set aside"
        ))),
        [(id, Away { share, .. }), ..] => Verdict::Doubt(reason(format!(
            "{} of {} trials lay far from the others of their point and were set aside, for example trial \
             {id} at {share:.2} of the usual rate",
            wild.len(),
            run.trials.len()
        ))),
        [] if is_more_than_chance(aside.len(), run.trials.len()) => Verdict::Doubt(reason(format!(
            "{} of {} trials lay aside of the others of their point and were set aside; chance takes one \
             in 400",
            aside.len(),
            run.trials.len()
        ))),
        [] => Verdict::Pass,
    }
}

/// Where a trial lies.
struct Away {
    /// Its rate over the median of its point.
    share: f64,
    /// Whether that is beyond [`WILD`].
    wild: bool,
}

/// Every standing trial's distance from the median of its point, by id.
fn away(run: &Run, voids: &Voids) -> Vec<(u64, Away)> {
    let mut logs: BTreeMap<usize, Vec<(u64, f64)>> = BTreeMap::new();
    for trial in run.trials.iter().filter(|trial| !voids.contains_key(&trial.id) && trial.iops() > 0.0) {
        if let Some(point) = trial.point {
            logs.entry(point).or_default().push((trial.id, trial.iops().ln()));
        }
    }
    let mut distances: Vec<(u64, f64)> = Vec::new();
    for point in logs.values() {
        let values: Vec<_> = point.iter().map(|&(_, log)| log).collect();
        let Some(middle) = median(&values) else { continue };
        distances.extend(point.iter().map(|&(id, log)| (id, log - middle)));
    }
    let spread: Vec<_> = distances.iter().map(|&(_, distance)| distance).collect();
    let sigma = SIGMA_PER_MEDIAN_DISTANCE * median_distance(&spread).unwrap_or(0.0);
    let away = |distance: f64| Away { share: distance.exp(), wild: distance.abs() > WILD * sigma };
    distances.into_iter().map(|(id, distance)| (id, away(distance))).collect()
}

fn is_more_than_chance(aside: usize, trials: usize) -> bool {
    let Ok(law) = Binomial::new(CHANCE, trials as u64) else { return false };
    aside > 0 && 1.0 - law.cdf(aside as u64 - 1) < CHANCE_DOUBT
}

//! Outliers: trials too far from the level of their point, which the estimates exclude.
//!
//! Looks at: the logarithms of all throughputs and mean latencies of a run, without each point's level and the
//! run's drift.
//!
//! Rule: the estimates exclude trials more than 4.5 median absolute deviations (3 standard deviations of normal
//! scatter) from the level of their point. In clean scatter that is one trial in 400, and the intervals allow for
//! it. This check gives a warning only beyond that: a trial more than 9 standard deviations away, or more trials
//! than chance excludes once in 1,000 runs. 9, since the scatter is estimated from ten trials only, and one request
//! that takes 20 times as long moves a disk's trial by 6. With 6, one run in nine of a quiet file server got a
//! warning.
//!
//! Deviations below 1 % are not reported: among eight trials one of them moves the mean by an eighth of that, and a
//! device that repeats itself to the fourth digit has such trials. No trial is excluded for being slow alone:
//! leaving out trials 1.5 deviations low would shift every figure by 0.7 % and break its interval.
//!
//! Trials of a point that are 9 standard deviations of the others away, but agree with each other, are a second mode:
//! two or more of them, an eighth of the point's trials, and the nearest no more than a sixth nearer than the farthest.
//! They count, their point's interval is wide, and the check says so, unless `not-steady` tells both levels.
//!
//! The first trials of a point that are slower than all that follow, which agree, were measured before a cache was
//! filled (a file server's memory), or while a drive was still collecting garbage of what was written before. Where
//! several points show it, these trials are excluded, also from the percentiles, and the check says how many.
//!
//! Verdict: a warning about the run. The figures are those of the undisturbed storage. If the disturbances are
//! usual for you (a neighbour, garbage collection), your average is lower. The trials stay in the run, in the table
//! of trials and, but for the first ones above, in the percentiles. Not checked where no point was visited three
//! times: with two trials that differ, neither is known to be the usual one.
//!
//! Example: a "peculiar divot" at one queue depth of a table of single runs: one disturbed trial, or a property?
//! With eight trials per point, the other seven show which.
//!
//! What to do: look at when they happened. Several in a row: another program. One a minute: the device.

use iosonde_model::{
    About, CheckName, Phase, Point, Reason, Run, Scope, Trial, Verdict,
    cause::{self, Excluded},
};
use statrs::distribution::{Binomial, DiscreteCDF};

use super::{Check, Symptom, TrialStanding, course};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::estimate::Apart;

/// Standard deviations that chance does not reach in any run.
const WILD: f64 = 9.0;
/// Trials of a point, the fewest of which one can lie apart.
const VISITS_MIN: usize = 3;
/// Share of clean normal scatter that the estimates exclude.
const CHANCE: f64 = 0.0024;
/// What a mean of several trials does not notice, as a share; see the manual page above.
const NOTICED: f64 = 0.01;
/// Probability below which a number of trials is more than chance.
const CHANCE_DOUBT: f64 = 0.001;

pub(super) struct Outliers;

impl Check for Outliers {
    fn id(&self) -> CheckName {
        CheckName::Outliers
    }

    fn after(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        // One workload by hand has no others to lie apart from.
        (scope == Scope::Run && run.trials.len() > 1).then(|| verdict(run, standing))
    }

    fn symptom(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        // Rates a little apart from each other, so that there is a scatter to lie outside of.
        let even: Vec<u64> = (0..12).map(|i| 100_000 + i * 37 % 11 * 200).collect();
        let mut disturbed = even.clone();
        disturbed[5] = 20_000;
        // A simulated device that repeats itself: 0.4 % away is far out, and nobody cares.
        let mut exact = vec![100_000; 12];
        exact[5] = 99_600;
        Specimens {
            pass: vec![repeated(&even), repeated(&exact)],
            warning: vec![repeated(&disturbed)],
            not_checked: vec![repeated(&[100_000, 20_000])],
            ..Specimens::default()
        }
    }
}

/// A point that was visited once for each of these rates.
#[cfg(test)]
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

fn verdict(run: &Run, standing: &TrialStanding) -> Verdict {
    let visits = |point: &Point| course::of_point(run, point, standing).len();
    if run.points.iter().map(visits).max().unwrap_or(0) < VISITS_MIN {
        let too_few = cause::Outliers::TooFewVisits { visits_needed: VISITS_MIN };
        return Verdict::NotChecked(Reason::new(About::Rate, too_few));
    }
    let measured = |id: &u64| run.trials.iter().any(|t| t.id == *id && t.phase == Phase::Measure);
    let outliers = standing.outliers().iter().map(|(id, apart)| (*id, *apart));
    let outliers: Vec<(u64, Apart)> = outliers.filter(|(id, _)| measured(id)).collect();
    let noticed = || outliers.iter().filter(|(_, apart)| (apart.share - 1.0).abs() >= NOTICED);
    let trials = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).count();
    // Counted are all that are excluded, not only those that lie far enough to be spoken of.
    let excluded = |&(id, apart): &(u64, Apart)| Excluded {
        outliers: outliers.len() as u64,
        trials: trials as u64,
        farthest_trial: id,
        rate_share: apart.share,
        scatter_share: apart.scatter,
    };
    let warning = |cause| Verdict::Warning(Reason::new(About::Rate, cause));
    let is_cold = |id: &u64| standing.cold().contains_key(id);
    if let Some((_, slowest)) = farthest(outliers.iter().filter(|(id, _)| is_cold(id))) {
        let has =
            |point: &&Point| course::of_point(run, point, standing).iter().any(|trial| is_cold(&trial.id));
        return warning(cause::Outliers::Cold(cause::Cold {
            cold: standing.cold().len() as u64,
            outliers: outliers.len() as u64,
            points: run.points.iter().filter(has).count() as u64,
            trials: trials as u64,
            rate_share: slowest.share,
        }));
    }
    if let Some(found) = farthest(noticed().filter(|(_, apart)| apart.deviations() > WILD)) {
        return warning(cause::Outliers::Far(excluded(found)));
    }
    if let Some(found) = farthest(noticed()).filter(|_| is_more_than_chance(noticed().count(), trials)) {
        return warning(cause::Outliers::Many(excluded(found)));
    }
    agreeing(run, standing).map_or(Verdict::Pass, Verdict::Warning)
}

/// Trials of one point that lie far away and agree, of those points of which no two levels are told.
fn agreeing(run: &Run, standing: &TrialStanding) -> Option<Reason> {
    let of = |point: &Point| {
        let trials = course::of_point(run, point, standing);
        let apart = |trial: &&Trial| Some((trial.id, *standing.second_modes().get(&trial.id)?));
        let own: Vec<(u64, Apart)> = trials.iter().filter_map(apart).collect();
        let far =
            |(_, apart): &&(u64, Apart)| apart.deviations() > WILD && (apart.share - 1.0).abs() >= NOTICED;
        let (_, Apart { share, scatter }) = *farthest(own.iter().filter(far))?;
        let (agreeing, of_trials) = (own.len() as u64, trials.len() as u64);
        Some(cause::Agreeing { agreeing, of_trials, rate_share: share, scatter_share: scatter })
    };
    let told = |point: &&Point| {
        [&point.read, &point.write].into_iter().flatten().any(|direction| !direction.levels.is_empty())
    };
    let points = run.points.iter().filter(|point| !told(point));
    let found = points.filter_map(|point| Some((point, of(point)?)));
    let far = |found: &cause::Agreeing| found.rate_share.ln().abs();
    let (point, found) = found.max_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)))?;
    let reason = Reason::new(About::Rate, cause::Outliers::Agree(found));
    Some(Reason { cause: reason.cause.at_point(&point.spec), ..reason })
}

fn farthest<'a>(all: impl Iterator<Item = &'a (u64, Apart)>) -> Option<&'a (u64, Apart)> {
    let far = |apart: &Apart| apart.share.ln().abs();
    all.max_by(|(_, a), (_, b)| far(a).total_cmp(&far(b)))
}

fn is_more_than_chance(aside: usize, trials: usize) -> bool {
    let Ok(law) = Binomial::new(CHANCE, trials as u64) else { return false };
    aside > 0 && 1.0 - law.cdf(aside as u64 - 1) < CHANCE_DOUBT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validity::Invalidity;

    #[test]
    fn the_farthest_trial_is_named_with_its_distance() {
        let mut rates: Vec<u64> = (0..12).map(|i| 100_000 + i * 37 % 11 * 200).collect();
        rates[5] = 20_000;
        let run = repeated(&rates);
        let said = Outliers.judge(Scope::Run, &run, &TrialStanding::default().fitted(&run));
        let Some(Verdict::Warning(Reason {
            cause: cause::Cause::Outliers(cause::Outliers::Far(found)), ..
        })) = said
        else {
            panic!("{said:?}")
        };
        assert_eq!((found.outliers, found.trials, found.farthest_trial), (1, 12, 6));
        assert!((found.rate_share - 0.2).abs() < 0.01 && found.scatter_share < 0.02, "{found:?}");
    }

    #[test]
    fn two_that_agree_far_away_are_named_and_count() {
        let mut rates: Vec<u64> = (0..12).map(|i| 100_000 + i * 37 % 11 * 200).collect();
        (rates[3], rates[9]) = (30_000, 31_000);
        let run = repeated(&rates);
        let said = Outliers.judge(Scope::Run, &run, &TrialStanding::default().fitted(&run));
        let Some(Verdict::Warning(Reason { cause, .. })) = said else { panic!("{said:?}") };
        let cause::Cause::Outliers(cause::Outliers::Agree(found)) = cause.itself() else {
            panic!("{cause:?}")
        };
        assert_eq!((found.agreeing, found.of_trials), (2, 12));
        assert!((found.rate_share - 0.3).abs() < 0.02 && found.scatter_share < 0.05, "{found:?}");
    }

    #[test]
    fn what_another_check_made_invalid_is_no_outlier() {
        let mut rates: Vec<u64> = (0..12).map(|i| 100_000 + i * 37 % 11 * 200).collect();
        rates[5] = 20_000;
        let run = repeated(&rates);
        let interference = Invalidity { check: CheckName::Interference, about: About::All };
        let standing: TrialStanding = [(run.trials[5].id, interference)].into_iter().collect();
        assert_eq!(Outliers.judge(Scope::Run, &run, &standing.fitted(&run)), Some(Verdict::Pass));
    }
}

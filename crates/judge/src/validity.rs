//! Which trials of a run are valid, and for what: everything that asks reads it here.

use std::collections::BTreeMap;

use iosonde_model::{About, CheckName, Outcome, Run, Trial};

use crate::estimate::{Estimates, OutlierTrials};

/// Figures of a trial that one check's verdict makes invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Invalidity {
    /// The check.
    pub check: CheckName,
    /// Figures that are invalid.
    pub about: About,
}

impl Invalidity {
    /// Whether figures of this kind are invalid.
    pub fn touches(self, figures: About) -> bool {
        self.about.touches(figures)
    }
}

/// For every trial of a run, by its id: valid, or what is invalid by which checks.
#[derive(Debug, Clone, Default)]
pub struct TrialStanding {
    invalid: BTreeMap<u64, Vec<Invalidity>>,
    outliers: OutlierTrials,
    second_modes: OutlierTrials,
    cold: OutlierTrials,
}

impl FromIterator<(u64, Invalidity)> for TrialStanding {
    fn from_iter<T: IntoIterator<Item = (u64, Invalidity)>>(each: T) -> Self {
        let mut invalid: BTreeMap<u64, Vec<Invalidity>> = BTreeMap::new();
        each.into_iter().for_each(|(trial, one)| invalid.entry(trial).or_default().push(one));
        Self { invalid, ..Self::default() }
    }
}

impl TrialStanding {
    /// Standing by the verdicts that a judged run holds.
    pub fn of(run: &Run) -> Self {
        let invalid = run.verdicts.iter().filter(|judged| judged.verdict == Outcome::Invalid);
        let of_trial = |judged: &iosonde_model::Judgement| {
            Some((judged.trial?, Invalidity { check: judged.check, about: judged.about }))
        };
        invalid.filter_map(of_trial).collect()
    }

    /// Adds the trials that the fit of all points excluded, and those that it kept because they agree.
    pub(crate) fn with_outliers(self, estimates: &Estimates) -> Self {
        Self {
            outliers: estimates.outliers(),
            second_modes: estimates.second_modes(),
            cold: estimates.cold().clone(),
            ..self
        }
    }

    /// Adds the outliers of a fit without the trials of which anything is invalid, for tests of single checks.
    #[cfg(test)]
    pub(crate) fn fitted(self, run: &Run) -> Self {
        let voids = self.invalid.keys().map(|id| (*id, About::All)).collect();
        let estimates = Estimates::of(&run.points, &run.trials, &voids);
        self.with_outliers(&estimates)
    }

    /// Trials that the fit of all points excluded; none before the points are fitted.
    pub fn outliers(&self) -> &OutlierTrials {
        &self.outliers
    }

    /// Trials as far from the others of their point that the fit kept, since they agree with each other.
    pub fn second_modes(&self) -> &OutlierTrials {
        &self.second_modes
    }

    /// Those of the excluded that were measured before a cache was filled.
    pub fn cold(&self) -> &OutlierTrials {
        &self.cold
    }

    /// Reasons why figures of a trial are invalid; empty for a valid one.
    pub fn causes(&self, trial: u64) -> &[Invalidity] {
        self.invalid.get(&trial).map_or(&[], Vec::as_slice)
    }

    /// Whether no check made anything of the trial invalid.
    pub fn is_valid(&self, trial: &Trial) -> bool {
        self.causes(trial.id).is_empty()
    }

    /// Whether figures of this kind are valid.
    pub fn is_valid_for(&self, trial: &Trial, figures: About) -> bool {
        !self.causes(trial.id).iter().any(|one| one.touches(figures))
    }

    /// Ids of trials with something invalid that counts for the caller.
    pub fn invalid(&self, counts: impl Fn(Invalidity) -> bool) -> impl Iterator<Item = u64> {
        let counted = move |causes: &[Invalidity]| causes.iter().any(|&one| counts(one));
        self.invalid.iter().filter(move |(_, causes)| counted(causes)).map(|(&trial, _)| trial)
    }

    /// Trials with something invalid, and what of each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[Invalidity])> {
        self.invalid.iter().map(|(&trial, causes)| (trial, causes.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::specimen;

    use super::*;

    #[test]
    fn a_trial_is_valid_for_what_no_check_touches() {
        let trial = |id: u64| Trial { id, ..specimen::usual() };
        let one = |check, about| Invalidity { check, about };
        let (depth, device) =
            (one(CheckName::DepthNotReached, About::Depth), one(CheckName::CacheServed, About::Device));
        let standing: TrialStanding =
            [(1, depth), (1, device), (2, one(CheckName::Clock, About::All))].into_iter().collect();
        assert!(
            standing.is_valid_for(&trial(1), About::Rate) && !standing.is_valid_for(&trial(1), About::Device)
        );
        assert!(!standing.is_valid_for(&trial(2), About::Rate), "everything of it");
        assert!(standing.is_valid(&trial(3)) && !standing.is_valid(&trial(1)));
        assert_eq!(standing.causes(1), [depth, device]);
        let by_cache = standing.invalid(|one| one.check == CheckName::CacheServed);
        assert_eq!(by_cache.collect::<Vec<_>>(), [1]);
    }
}

//! Checks: rules over trials and their witnesses, one file each.

pub mod at_limit;
mod counted;
pub(crate) mod course;
mod host_windows;
mod judged;
#[cfg(test)]
mod missing;
mod pause;
mod slow_periods;

#[cfg(test)]
use iosonde_testkit::specimen;

use iosonde_model::{CheckName, Named, Run, Scope, Verdict, registry};

use crate::validity::TrialStanding;

registry! {
    /// Every check.
    pub CHECKS: Check "check" {
        errors::Errors,
        corrupted::Corrupted,
        units::Units,
        cache_served::CacheServed,
        direct_ignored::DirectIgnored,
        unmapped::Unmapped,
        write_back::WriteBack,
        early_flush::EarlyFlush,
        above_the_limit::AboveTheLimit,
        clock::Clock,
        hosts_apart::HostsApart,
        compressible::Compressible,
        depth_not_reached::DepthNotReached,
        littles_law::LittlesLaw,
        generator_bound::GeneratorBound,
        saturated::Saturated,
        too_few_samples::TooFewSamples,
        missed_rate::MissedRate,
        outliers::Outliers,
        not_steady::NotSteady,
        drift::Drift,
        interference::Interference,
        throttled::Throttled,
        multimodal::Multimodal,
        working_set::WorkingSet,
        odd_host::OddHost,
        host_slowed::HostSlowed,
    }
}

/// A property of a course of rates that several checks see, each in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symptom {
    /// Two or more rates stand in one mean: within a trial, between the trials of a point, or over the run.
    SeveralRates,
}

/// The symptom that a check of this name sees.
pub fn symptom_of(check: CheckName) -> Option<Symptom> {
    CHECKS.iter().find(|known| known.id() == check).and_then(|known| known.symptom())
}

/// A registered check.
pub trait Check: Sync {
    /// Name that people type and that the JSON contains.
    fn id(&self) -> CheckName;

    /// Judges one thing by the run's trials alone; `None` where this scope is not the check's business.
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    /// Judges a point or the run after every check judged the trials; `None` where [`Check::check`] judges this
    /// scope, or nothing does.
    fn after(&self, _scope: Scope, _run: &Run, _standing: &TrialStanding) -> Option<Verdict> {
        None
    }

    /// Judges a point or the run, by whichever of the two it is.
    fn judge(&self, scope: Scope, run: &Run, standing: &TrialStanding) -> Option<Verdict> {
        self.check(scope, run).or_else(|| self.after(scope, run, standing))
    }

    /// Property of the course of throughput that its warnings are about. A finding that explains it answers the
    /// warning.
    fn symptom(&self) -> Option<Symptom> {
        None
    }

    /// Whether its warnings about latency are about percentiles as well, and not about the mean alone.
    fn is_about_percentiles(&self) -> bool {
        true
    }

    /// Runs with known answers: some to pass, to catch and to abstain from.
    #[cfg(test)]
    fn specimens(&self) -> Specimens;
}

impl Named for dyn Check + '_ {
    fn name(&self) -> &'static str {
        self.id().as_str()
    }

    fn is_called(&self, typed: &str) -> bool {
        typed.parse() == Ok(self.id())
    }
}

#[cfg(test)]
/// Runs with known answers. Each is judged in every scope; the worst verdict is the answer.
#[derive(Debug, Default)]
pub struct Specimens {
    /// The check must pass these.
    pub pass: Vec<Run>,
    /// The check must warn of these.
    pub warning: Vec<Run>,
    /// The check must call these invalid.
    pub invalid: Vec<Run>,
    /// The check must say that it cannot judge these.
    pub not_checked: Vec<Run>,
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Judgement, Outcome};

    use super::*;

    /// Checks of a course in time, for which the healthy trial of one second is too short.
    const NEED_A_COURSE: [CheckName; 2] = [CheckName::NotSteady, CheckName::Drift];

    fn worst(check: &dyn Check, run: &Run) -> Judgement {
        let trials = (0..run.trials.len()).map(Scope::Trial);
        let scopes = trials.chain((0..run.points.len()).map(Scope::Point)).chain([Scope::Run]);
        let standing = TrialStanding::default().fitted(run);
        let verdicts = scopes.filter_map(|scope| check.judge(scope, run, &standing));
        let judged = verdicts.map(|verdict| Judgement::new(check.id(), "run", None, None, verdict));
        judged.max_by_key(|judgement| judgement.verdict).expect("a specimen lies in a scope of its check")
    }

    #[test]
    fn every_check_is_well_formed() {
        CHECKS.assert_well_formed();
    }

    #[test]
    fn names_and_registry_hold_the_same_in_the_same_order() {
        assert_eq!(CHECKS.iter().map(|check| check.id()).collect::<Vec<_>>(), CheckName::ALL);
    }

    #[test]
    fn every_specimen_is_judged_as_it_must_be() {
        for check in CHECKS.iter() {
            let Specimens { pass, warning, invalid, not_checked } = check.specimens();
            assert!(!pass.is_empty(), "{} has nothing to pass", check.name());
            assert!(!warning.is_empty() || !invalid.is_empty(), "{} has nothing to catch", check.name());
            assert!(!not_checked.is_empty(), "{} has nothing that it cannot judge", check.name());
            let lists = [
                (pass, Outcome::Pass),
                (warning, Outcome::Warning),
                (invalid, Outcome::Invalid),
                (not_checked, Outcome::NotChecked),
            ];
            for (runs, expected) in lists {
                for (place, run) in runs.iter().enumerate() {
                    let judged = worst(check, run);
                    assert_eq!(judged.verdict, expected, "{} {expected:?} {place}: {judged:?}", check.name());
                    assert_eq!(judged.cause.is_none(), expected == Outcome::Pass, "a verdict says why");
                }
            }
        }
    }

    /// The second half of docs/checks.md is made of the manual pages: IOSONDE_WRITE_DOCS=1 writes it.
    #[test]
    fn the_page_of_checks_holds_every_manual_page() {
        const MARK: &str = "<!-- from here on: the manual pages, written by a test -->\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checks.md");
        let page = std::fs::read_to_string(path).expect("docs/checks.md is there");
        let (front, _) = page.split_once(MARK).expect("docs/checks.md has its mark");
        let pages: String =
            CHECKS.entries().map(|e| format!("\n### `{}`\n\n{}\n", e.item.name(), e.manual())).collect();
        let expected = format!("{front}{MARK}{pages}");
        if std::env::var_os("IOSONDE_WRITE_DOCS").is_some() {
            std::fs::write(path, &expected).expect("docs/checks.md can be written");
        } else {
            assert!(page == expected, "docs/checks.md is old: run this test once with IOSONDE_WRITE_DOCS=1");
        }
    }

    #[test]
    fn a_healthy_trial_passes_every_check() {
        for check in CHECKS.iter() {
            // Not every check looks at every workload.
            let mut run = specimen::run(specimen::usual());
            run.info.device.direct = true;
            let none = TrialStanding::default();
            if [Scope::Trial(0), Scope::Run].iter().all(|&scope| check.judge(scope, &run, &none).is_none()) {
                continue;
            }
            let judged = worst(check, &run);
            let short = NEED_A_COURSE.contains(&check.id()) && judged.verdict == Outcome::NotChecked;
            assert!(short || judged.verdict == Outcome::Pass, "{}: {:?}", check.name(), judged.cause);
        }
    }
}

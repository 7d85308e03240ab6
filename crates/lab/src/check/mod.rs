//! Checks: rules over trials and what was seen around them, one file each.

use iosonde_model::{Named, Run, Scope, Verdict, registry};

registry! {
    /// Every check.
    pub CHECKS: Check "check" {
        errors::Errors,
        units::Units,
        cache_served::CacheServed,
        direct_ignored::DirectIgnored,
        depth_not_reached::DepthNotReached,
        littles_law::LittlesLaw,
        generator_bound::GeneratorBound,
        too_few_samples::TooFewSamples,
    }
}

/// A registered check.
pub trait Check: Named {
    /// Judges one thing; `None` where this scope is not the check's business.
    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict>;

    /// Runs with known answers: some to pass, to catch and to abstain from.
    fn specimens(&self) -> Specimens;
}

/// Runs with known answers. Each is judged in every scope; the worst verdict is the answer.
#[derive(Debug, Default)]
pub struct Specimens {
    /// The check must pass these.
    pub pass: Vec<Run>,
    /// The check must doubt these.
    pub doubt: Vec<Run>,
    /// The check must void these.
    pub void: Vec<Run>,
    /// The check must say that it cannot judge these.
    pub abstain: Vec<Run>,
}

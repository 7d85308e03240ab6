//! Words of drift.

use iosonde_model::{
    Finding,
    detail::{DriftProblem, RunDrift},
    units,
};

use super::value::value;
use crate::text::note::ways;

pub(super) fn sentence(finding: &Finding, drift: &RunDrift) -> String {
    match drift {
        RunDrift::Changed { duration_s, change_share } => {
            let verb = if *change_share < 0.0 { "fell" } else { "rose" };
            let (change, span) = (units::percent(change_share.abs()), units::duration(*duration_s));
            format!("Throughput {verb} by {change} in {span}, at all points alike: {}.", value(finding))
        }
        RunDrift::Steady { duration_s, most_share } => format!(
            "No drift: throughput changed by at most {} in {}.",
            units::percent(*most_share),
            units::duration(*duration_s)
        ),
    }
}

pub(super) fn why(drift: &RunDrift) -> String {
    match drift {
        RunDrift::Changed { .. } => {
            "One slope over time for all points, extrapolated to an hour. Figures of points are means over the run."
        }
        RunDrift::Steady { .. } => "Interval of one slope over time for all points.",
    }
    .to_owned()
}

pub(super) fn problem(problem: &DriftProblem) -> String {
    match problem {
        DriftProblem::TooFewTrials { valid, needed } => format!("{valid} valid trials, {needed} are needed"),
        DriftProblem::Confounded => "points were visited one after the other, not in turns".to_owned(),
        DriftProblem::TooWide { duration_s, low_share, high_share } => format!(
            "the change in {} lies between {} and {}; use a longer `--time`",
            units::duration(*duration_s),
            units::percent(*low_share),
            units::percent(*high_share)
        ),
        DriftProblem::Different { duration_s, rose, fell, held } => {
            format!("in {} throughput {}", units::duration(*duration_s), ways(*rose, *fell, *held))
        }
    }
}

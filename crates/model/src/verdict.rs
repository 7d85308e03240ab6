//! Verdicts of checks: whether figures are valid, and which.

use serde::{Deserialize, Serialize};

use crate::{Cause, CheckName};

/// Object of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Trial, by its place in `run.trials`.
    Trial(usize),
    /// Point, by its place in `run.points`.
    Point(usize),
    /// Whole run: drift, for example, is no property of a trial.
    Run,
}

/// Figures that a verdict is about. A trial with an invalid depth still has a valid rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// All figures.
    All,
    /// Throughput and IOPS.
    Rate,
    /// Latencies.
    Latency,
    /// Queue depth.
    Depth,
    /// Anything concluded about the device (rather than about this system).
    Device,
}

impl About {
    /// Returns true if a warning about `self` affects a figure of the kind `other`.
    pub fn touches(self, other: Self) -> bool {
        self == Self::All || other == Self::All || self == other
    }
}

/// Reason for a verdict, and the figures concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// Figures that it concerns.
    pub about: About,
    /// Facts behind it.
    pub cause: Cause,
}

impl Reason {
    /// A reason from its facts.
    pub fn new(about: About, cause: impl Into<Cause>) -> Self {
        Self { about, cause: cause.into() }
    }
}

/// Result of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Looked at, nothing wrong.
    Pass,
    /// May be wrong; figures are kept, with the warning beside them.
    Warning(Reason),
    /// Wrong: never reaches a finding that uses the figures concerned.
    Invalid(Reason),
    /// Could not be judged, and why.
    NotChecked(Reason),
}

/// A verdict without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Outcome {
    Pass,
    #[serde(rename = "unchecked")]
    NotChecked,
    Warning,
    Invalid,
}

/// A check's verdict on one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// `trial`, `point` or `run`.
    pub scope: String,
    /// Id of the trial, for a trial.
    pub trial: Option<u64>,
    /// Id of the point, for a point.
    pub point: Option<usize>,
    /// Name of the check.
    pub check: CheckName,
    /// Result of the check.
    pub verdict: Outcome,
    /// Figures that the verdict concerns.
    pub about: About,
    /// Facts behind it; `None` for a pass.
    pub cause: Option<Cause>,
}

impl Judgement {
    /// A check's verdict on a trial, a point or the run.
    pub fn new(
        check: CheckName,
        scope: &str,
        trial: Option<u64>,
        point: Option<usize>,
        verdict: Verdict,
    ) -> Self {
        let (outcome, reason) = match verdict {
            Verdict::Pass => (Outcome::Pass, None),
            Verdict::Warning(reason) => (Outcome::Warning, Some(reason)),
            Verdict::Invalid(reason) => (Outcome::Invalid, Some(reason)),
            Verdict::NotChecked(reason) => (Outcome::NotChecked, Some(reason)),
        };
        let about = reason.as_ref().map_or(About::All, |reason| reason.about);
        let cause = reason.map(|reason| reason.cause);
        Self { scope: scope.to_owned(), trial, point, check, verdict: outcome, about, cause }
    }
}

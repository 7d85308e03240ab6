//! Whether figures can be believed: what a check says, and about what.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::CheckName;

/// What a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One trial, by its place in `run.trials`.
    Trial(usize),
    /// One point, by its place in `run.points`.
    Point(usize),
    /// All of it: drift is no trial's property.
    Run,
}

/// Which figures a verdict is about. A trial whose depth is void still has a believable rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum About {
    /// Everything.
    All,
    /// Throughput and IOPS.
    Rate,
    /// Latencies.
    Latency,
    /// The number in flight.
    Depth,
    /// Anything concluded about the device (rather than about this system).
    Device,
}

impl About {
    /// Whether a doubt about `self` touches a figure of the kind `other`.
    pub fn touches(self, other: Self) -> bool {
        self == Self::All || other == Self::All || self == other
    }
}

/// Why, in a sentence with numbers, and the numbers themselves (units in their names).
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// What it is about.
    pub about: About,
    /// The sentence, for people.
    pub why: String,
    /// Its numbers, for programs.
    pub figures: BTreeMap<String, f64>,
}

impl Reason {
    /// A reason without figures yet.
    pub fn new(about: About, why: impl Into<String>) -> Self {
        Self { about, why: why.into(), figures: BTreeMap::new() }
    }

    /// Adds a figure; its name carries its unit.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// What a check says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Looked at, nothing wrong.
    Pass,
    /// May be wrong; figures stay, with the doubt beside them.
    Doubt(Reason),
    /// Is wrong: never reaches a finding that uses what it is about.
    Void(Reason),
    /// Could not be judged, and why.
    Abstain(Reason),
}

/// A verdict without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Outcome {
    Pass,
    Abstain,
    Doubt,
    Void,
}

/// A check's verdict on one thing, as it is kept and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// `trial`, `point` or `run`.
    pub scope: String,
    /// The trial's id, for a trial.
    pub trial: Option<u64>,
    /// The point's id, for a point.
    pub point: Option<usize>,
    /// The check's name.
    pub check: CheckName,
    /// What it said.
    pub verdict: Outcome,
    /// What that is about.
    pub about: About,
    /// The sentence; empty for a pass.
    pub why: String,
    /// The sentence's numbers.
    pub figures: BTreeMap<String, f64>,
}

impl Judgement {
    /// Writes down what `check` said about a trial, a point or the run.
    pub fn new(
        check: CheckName,
        scope: &str,
        trial: Option<u64>,
        point: Option<usize>,
        verdict: Verdict,
    ) -> Self {
        let (outcome, reason) = match verdict {
            Verdict::Pass => (Outcome::Pass, Reason::new(About::All, "")),
            Verdict::Doubt(reason) => (Outcome::Doubt, reason),
            Verdict::Void(reason) => (Outcome::Void, reason),
            Verdict::Abstain(reason) => (Outcome::Abstain, reason),
        };
        Self {
            scope: scope.to_owned(),
            trial,
            point,
            check,
            verdict: outcome,
            about: reason.about,
            why: reason.why,
            figures: reason.figures,
        }
    }
}

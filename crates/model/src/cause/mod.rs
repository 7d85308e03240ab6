//! Causes of verdicts: what a check saw, as numbers with units in their names. Words are made of them in the report.

mod above_the_limit;
mod cache_served;
mod clock;
mod compressible;
mod corrupted;
mod direct_ignored;
mod errors;
mod no_witness;
mod units;
mod unmapped;
mod working_set;
mod write_back;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::TrialSpec;

pub use above_the_limit::AboveTheLimit;
pub use cache_served::CacheServed;
pub use clock::Clock;
pub use compressible::{Compressible, CompressingLayer, Saving};
pub use corrupted::Corrupted;
pub use direct_ignored::DirectIgnored;
pub use errors::Errors;
pub use no_witness::NoWitness;
pub use units::{LatencyStatistic, TrialFigure, Units};
pub use unmapped::Unmapped;
pub use working_set::WorkingSet;
pub use write_back::WriteBack;

/// What a check saw. One variant for each check that has facts of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Cause {
    /// Words that were made where the check is, with their numbers.
    Said {
        /// Sentence for people.
        why: String,
        /// Its numbers, units in their names.
        figures: BTreeMap<String, f64>,
    },
    /// Count of a check's verdicts over the run.
    Tally(Tally),
    /// Cause that holds for one point.
    // Its figures are those of what was seen there; serialising itself within itself would have no end.
    #[serde(skip)]
    AtPoint {
        /// Workload of the point.
        spec: Box<TrialSpec>,
        /// What was seen there.
        cause: Box<Self>,
    },
    Errors(Errors),
    Corrupted(Corrupted),
    Units(Units),
    NoWitness(NoWitness),
    CacheServed(CacheServed),
    DirectIgnored(DirectIgnored),
    Unmapped(Unmapped),
    WriteBack(WriteBack),
    AboveTheLimit(AboveTheLimit),
    Clock(Clock),
    Compressible(Compressible),
    WorkingSet(WorkingSet),
}

/// `From` of every variant that holds one type of facts.
macro_rules! from_facts {
    ($($name:ident)*) => {
        $(impl From<$name> for Cause {
            fn from(facts: $name) -> Self {
                Self::$name(facts)
            }
        })*
    };
}

from_facts! {
    Errors
    Corrupted
    Units
    NoWitness
    CacheServed
    DirectIgnored
    Unmapped
    WriteBack
    AboveTheLimit
    Clock
    Compressible
    WorkingSet
}

impl Cause {
    /// Words that were made where the check is; empty where there are facts.
    pub fn said(&self) -> &str {
        match self {
            Self::Said { why, .. } => why,
            Self::AtPoint { cause, .. } => cause.said(),
            _ => "",
        }
    }

    /// Number that stands beside words that were made where the check is.
    pub fn figure(&self, name: &str) -> Option<f64> {
        match self {
            Self::Said { figures, .. } => figures.get(name).copied(),
            _ => None,
        }
    }
}

impl From<String> for Cause {
    fn from(why: String) -> Self {
        Self::Said { why, figures: BTreeMap::new() }
    }
}

impl From<&str> for Cause {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

/// Things that a check judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub enum Scopes {
    Trials,
    TrialsAndRun,
    TrialsAndPoints,
    Points,
    Run,
}

/// Count of a check's verdicts over the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tally {
    /// Kind of things that were judged.
    #[serde(skip)]
    pub of: Scopes,
    /// Things that were judged.
    pub judged: u64,
    /// Verdicts of `pass`.
    pub passed: u64,
    /// Verdicts of `not checked`.
    pub unchecked: u64,
    /// Verdicts of `warning`.
    pub warned: u64,
    /// Verdicts of `invalid`.
    pub invalid: u64,
    /// Outliers that were excluded, for the check of outliers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outliers: Option<u64>,
    /// Cause of the first verdict of `not checked`, where the line is about those.
    #[serde(skip)]
    pub first: Option<Box<Cause>>,
}

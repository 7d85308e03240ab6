//! Causes of verdicts: what a check saw, as numbers with units in their names. Words are made of them in the report.

mod tally;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::TrialSpec;

pub use tally::{Scopes, Tally};

/// What a check saw. One variant for each check that has facts of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
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
}

impl Cause {
    /// Words that were made where the check is; empty where there are facts.
    pub fn said(&self) -> &str {
        match self {
            Self::Said { why, .. } => why,
            Self::AtPoint { cause, .. } => cause.said(),
            Self::Tally(_) => "",
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

//! How many things a check judged, and what it said of them.

use serde::Serialize;

use super::Cause;

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

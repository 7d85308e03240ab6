//! The requirement that a run checked, with the answer, words included.

use iosonde_infer::requirement;
use iosonde_model::{RequiredBound, RequirementVerdict, Run, Unit};
use serde::{Deserialize, Serialize};

use crate::text::requirement as words;

/// A requirement with the answer to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequirementDocument {
    /// Its name.
    pub name: String,
    /// What it requires.
    pub summary: String,
    /// Where it is published.
    pub source: String,
    /// Date of that text.
    pub source_date: String,
    /// The answer to all limits.
    pub verdict: RequirementVerdict,
    /// The answer in a sentence.
    pub sentence: String,
    /// State that the storage was in, where that may decide the answer.
    #[serde(default)]
    pub state: Option<String>,
    /// What would settle an inconclusive answer.
    pub remedy: Option<String>,
    /// Every limit.
    pub limits: Vec<RequiredLine>,
}

/// One limit of a requirement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequiredLine {
    /// `commit p99`.
    pub figure: String,
    /// `ns`, `IOPS` or `B/s`.
    pub unit: String,
    /// True if the figure must stay below the limit; it must reach it otherwise.
    pub below: bool,
    /// The limit, in `unit`.
    pub limit: f64,
    /// The figure, in `unit`.
    pub value: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Requests, flushes or commits behind it.
    pub count: u64,
    /// Valid trials behind it.
    pub trials: usize,
    /// The answer.
    pub verdict: RequirementVerdict,
    /// Workload, and why it is inconclusive.
    pub why: String,
}

impl RequirementDocument {
    pub(super) fn of_run(run: &Run) -> Option<Self> {
        let (required, lines) = requirement::checked(run)?;
        let table = words::table(run, &required, &lines);
        let line = |(line, row): (&iosonde_model::RequirementLine, words::RequirementRow)| {
            let (limit, unit, below) = match line.limit.bound {
                RequiredBound::Below(latency) => (latency.ns as f64, Unit::Time.name(), true),
                RequiredBound::AtLeast { value, unit: iosonde_model::ClaimUnit::Iops } => {
                    (value, Unit::Iops.name(), false)
                }
                RequiredBound::AtLeast { value, .. } => (value, Unit::Rate.name(), false),
            };
            RequiredLine {
                figure: row.figure,
                unit: unit.to_owned(),
                below,
                limit,
                value: line.measured,
                low: line.low,
                high: line.high,
                count: line.count,
                trials: line.trials,
                verdict: line.verdict,
                why: row.basis,
            }
        };
        Some(Self {
            name: table.name,
            summary: table.summary,
            source: required.source,
            source_date: required.source_date,
            verdict: table.verdict,
            sentence: table.answer,
            state: table.state,
            remedy: table.remedy,
            limits: lines.iter().zip(table.rows).map(line).collect(),
        })
    }
}

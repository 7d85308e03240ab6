//! The document that `--json` prints: a run with everything concluded from it, words included.

mod capacity;
mod cold;
mod compared;
mod files;
mod portrait;
mod requirement;
mod sheet;

use std::collections::BTreeMap;

use iosonde_model::{
    About, Advice, CheckName, Compared, Conditions, Detail, Finding, FindingName, Judgement, Outcome, Point,
    Run, RunInfo, Status, Trial, detail::ConstantLimit,
};
use serde::{Deserialize, Serialize};

use crate::{error::ReportError, text};

pub use capacity::CapacityDocument;
pub(crate) use capacity::capacity_json;
pub use cold::ColdDocument;
pub(crate) use cold::cold_json;
pub use compared::{ComparedDocument, ComparisonLine, DifferenceLine, PairLine};
pub(crate) use files::files_json;
pub use files::{FilesDocument, FilesFindingLine};
pub use portrait::{ComplianceLine, PortraitDocument, TraitLine};
pub use requirement::{RequiredLine, RequirementDocument};
pub use sheet::ClaimLine;

/// A run as other programs read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Version of iosonde that concluded.
    pub iosonde: String,
    /// Version of this document.
    pub schema: u32,
    /// Study, target, device and machine.
    #[serde(rename = "run")]
    pub info: RunInfo,
    /// Every trial, in the order of execution.
    pub trials: Vec<Trial>,
    /// Estimates of each point.
    pub points: Vec<Point>,
    /// Verdicts of the checks.
    pub verdicts: Vec<VerdictLine>,
    /// Findings about the storage.
    pub findings: Vec<FindingLine>,
    /// Recommendations.
    pub advice: Vec<Advice>,
    /// The requirement that the run checked, with the answer; `None` for other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<RequirementDocument>,
}

/// A verdict with its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerdictLine {
    /// `trial`, `point` or `run`.
    pub scope: String,
    /// Id of the trial.
    pub trial: Option<u64>,
    /// Id of the point.
    pub point: Option<usize>,
    /// Name of the check.
    pub check: CheckName,
    /// Verdict of the check.
    pub verdict: Outcome,
    /// Figures that the verdict concerns.
    pub about: About,
    /// Sentence for people; empty for a pass.
    pub why: String,
    /// Numbers of the sentence, with units in their names.
    pub figures: BTreeMap<String, f64>,
}

/// A finding with its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingLine {
    /// Registered name: `base_latency`.
    pub name: FindingName,
    /// Experiment whose points it rests on.
    pub experiment: String,
    /// Conditions under which it holds.
    pub conditions: Conditions,
    /// Whether there is a conclusion.
    pub status: Status,
    /// Value, in `unit`.
    pub value: Option<f64>,
    /// `B/s`, `IOPS`, `ns`, `B`, `requests`, `ratio`, `1/h`.
    pub unit: String,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Whether the true value may be higher: it was still rising at the largest load that was measured.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Confidence of the interval, as a share.
    pub confidence: f64,
    /// Sentence for people, with the interval in it.
    pub sentence: String,
    /// Assumptions, or why it is inconclusive and what would answer.
    pub why: Option<String>,
    /// Ids of the points whose figure the value is, for the highest of several points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<usize>,
    /// Whether reads and writes share a limit (`constant_limit`). Absent where no mix of both was measured at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// Ids of the trials that it rests on.
    pub trials: Vec<u64>,
}

impl Document {
    /// The document of a concluded run.
    pub fn of(run: &Run) -> Self {
        Self {
            iosonde: run.iosonde.clone(),
            schema: run.schema,
            info: run.info.clone(),
            trials: run.trials.clone(),
            points: run.points.clone(),
            verdicts: run.verdicts.iter().map(verdict).collect(),
            findings: run.findings.iter().map(finding).collect(),
            advice: text::advice::advice(run),
            requirement: RequirementDocument::of_run(run),
        }
    }
}

fn verdict(judgement: &Judgement) -> VerdictLine {
    VerdictLine {
        scope: judgement.scope.clone(),
        trial: judgement.trial,
        point: judgement.point,
        check: judgement.check,
        verdict: judgement.verdict,
        about: judgement.about,
        why: text::why(judgement),
        figures: text::figures(judgement),
    }
}

fn finding(finding: &Finding) -> FindingLine {
    FindingLine {
        name: finding.name,
        experiment: finding.experiment.clone(),
        conditions: finding.conditions.clone(),
        status: finding.status,
        value: finding.value,
        unit: finding.unit.name().to_owned(),
        low: finding.low,
        high: finding.high,
        at_least: finding.at_least,
        confidence: finding.confidence,
        sentence: text::sentence(finding),
        why: text::why_of(finding),
        points: match &finding.detail {
            Detail::Highest(facts) => facts.best_points.clone(),
            _ => Vec::new(),
        },
        shared: match finding.detail {
            Detail::ConstantLimit(ConstantLimit::Held { shared, .. }) => shared,
            _ => None,
        },
        trials: finding.trials.clone(),
    }
}

/// The document as text, ending in a line break.
///
/// # Errors
/// The run could not be written as JSON: a defect of this program.
pub fn json(run: &Run) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(&Document::of(run))? + "\n")
}

/// The document of a comparison as text, ending in a line break.
///
/// # Errors
/// The comparison could not be written as JSON: a defect of this program.
pub fn compared_json(compared: &Compared) -> Result<String, ReportError> {
    Ok(serde_json::to_string_pretty(&ComparedDocument::of(compared))? + "\n")
}

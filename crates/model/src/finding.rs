//! Something concluded about the storage.

use serde::{Deserialize, Serialize};

use crate::{Detail, FindingName, Note, Op, Unit};

/// Outcome of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A value, with its interval.
    Found,
    /// Looked for and not there.
    Absent,
    /// The trials cannot answer, and the detail says why and what would.
    Inconclusive,
}

/// Conditions under which a finding holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Reads, writes or flushes.
    pub op: Option<Op>,
    /// True for random addresses, `false` for sequential ones.
    pub random: Option<bool>,
    /// Bytes of a request.
    pub block_size_bytes: Option<u64>,
    /// Queue depth over all jobs.
    pub queue_depth: Option<u32>,
    /// The part of the target that is addressed.
    pub span_bytes: Option<u64>,
    /// Number of the stage, from 1, where several follow each other; `None` where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
}

/// Something concluded about the storage.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Registered name.
    pub name: FindingName,
    /// Experiment whose points it rests on, as the study calls it.
    pub experiment: String,
    /// Conditions under which it holds.
    pub conditions: Conditions,
    /// Outcome of the finding.
    pub status: Status,
    /// Value, in `unit`.
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: Unit,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// True if the value is a lower limit: it was still rising at the largest load.
    pub at_least: bool,
    /// Confidence of the interval, as a share: 0.95.
    pub confidence: f64,
    /// Facts of its own beside the value, or why there is none.
    pub detail: Detail,
    /// Facts that other findings and the device add.
    pub notes: Vec<Note>,
    /// Ids of the trials that it rests on.
    pub trials: Vec<u64>,
}

impl Finding {
    /// Whether the finding leaves its question open.
    pub fn is_open(&self) -> bool {
        self.status == Status::Inconclusive || self.detail.is_open()
    }
}

/// Advice that follows from a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Recommended action.
    pub sentence: String,
    /// Reason.
    pub why: String,
    /// The findings that it rests on.
    pub findings: Vec<FindingName>,
}

//! Something concluded about the storage.

use serde::{Deserialize, Serialize};

use crate::{FindingName, Op};

/// Whether there is a conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// A value, with its interval.
    Found,
    /// Looked for and not there.
    None,
    /// The trials cannot answer, and `why` says what would.
    Refused,
}

/// Under which conditions a finding holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Reads, writes or flushes.
    pub op: Option<Op>,
    /// Whether addresses are random; `false` where they follow each other.
    pub random: Option<bool>,
    /// Bytes of a request.
    pub block_size_bytes: Option<u64>,
    /// Requests in flight over all jobs.
    pub queue_depth: Option<u32>,
    /// The part of the target that is addressed.
    pub span_bytes: Option<u64>,
    /// Of several that follow each other, which: 1 is the first. `None` where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
}

/// Something concluded about the storage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its name: `base_latency`.
    pub name: FindingName,
    /// The experiment whose points it rests on.
    pub experiment: String,
    /// Under which conditions it holds.
    pub conditions: Conditions,
    /// Whether there is one.
    pub status: Status,
    /// The value, in `unit`.
    pub value: Option<f64>,
    /// `B/s`, `IOPS`, `ns`, `B`, `requests`, `ratio`, `1/h`.
    pub unit: String,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether there may be more than `value`: it is the highest that was measured, and still rose there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Of the interval, as a share: 0.95.
    pub confidence: f64,
    /// For people, with the interval in it.
    pub sentence: String,
    /// Assumptions, or why it was refused and what would answer.
    pub why: Option<String>,
    /// The trials that it rests on.
    pub trials: Vec<u64>,
}

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What to do.
    pub sentence: String,
    /// Why.
    pub why: String,
    /// The findings that it rests on.
    pub findings: Vec<FindingName>,
}

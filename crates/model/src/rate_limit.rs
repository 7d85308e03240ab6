//! A rate limit from the first second on, as a finding tells it.

use serde::Serialize;

use crate::{
    Detail, Finding, Op, Status, Unit,
    detail::{ConstantLimit, Counted},
};

/// Rate limit that holds storage from the first second on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateLimit {
    /// Unit of the value: `IOPS` or `B/s`.
    pub unit: Unit,
    /// Value of the limit.
    pub value: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Direction that it is for; absent where it holds both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Whether reads and writes share it; absent where no mix of both was measured at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<bool>,
    /// Size of the parts of which each counts as a request; absent where a request counts once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_bytes: Option<u64>,
}

impl RateLimit {
    /// The limit that a finding tells of, if it does.
    pub fn of(finding: &Finding) -> Option<Self> {
        let Detail::ConstantLimit(ConstantLimit::Held { counted, shared, .. }) = finding.detail else {
            return None;
        };
        let value = finding.value.filter(|_| finding.status == Status::Found)?;
        let chunk_bytes = match counted {
            Counted::Chunks { chunk_bytes } => Some(chunk_bytes),
            Counted::Requests | Counted::Bytes => None,
        };
        let (low, high) = (finding.low, finding.high);
        Some(Self { unit: finding.unit, value, low, high, op: finding.conditions.op, shared, chunk_bytes })
    }
}

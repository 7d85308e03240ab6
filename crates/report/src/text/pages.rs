//! What clients that read 8 KiB pages get, as a database's do: one after another, and many at once.
//!
//! One client's rate follows from the law of single requests: t(b) = t0 (1 + b / n½). Many get no more than the
//! highest rate of requests that are no larger, and no more than the bandwidth allows; where that rate was still rising
//! at the deepest point, this limit is unknown. Where reads of 8 KiB themselves were measured, these are
//! taken, alone and at their highest rate.

use iosonde_model::{Estimate, Finding, FindingName, Op, Run};

use iosonde_infer::finding::lookup::all_found;
use iosonde_infer::finding::lookup::estimate;
use iosonde_infer::finding::lookup::found;

/// The page of many databases.
const PAGE_BYTES: u64 = 8192;

/// Pages a second.
pub struct Pages<'a> {
    pub one: Estimate,
    /// `None` where no random reads of so few bytes were measured at their highest rate.
    pub many: Option<Many>,
    /// What it rests on.
    pub findings: Vec<&'a Finding>,
}

/// What many clients get at once.
pub enum Many {
    AtMost(Estimate),
    /// More than was measured.
    Rising,
}

impl<'a> Pages<'a> {
    pub fn of(run: &'a Run) -> Option<Self> {
        Self::measured(run).or_else(|| Self::worked_out(run))
    }

    fn measured(run: &'a Run) -> Option<Self> {
        let page = |finding: &&Finding| {
            let conditions = &finding.conditions;
            conditions.block_size_bytes == Some(PAGE_BYTES) && conditions.random == Some(true)
        };
        let alone = all_found(run, FindingName::BaseLatency, Op::Read).find(page)?;
        let most = all_found(run, FindingName::MaxIops, Op::Read).find(page);
        let a_second = |latency_ns: Option<f64>| Some(1e9 / latency_ns?);
        // The longest wait is the lowest rate.
        let one =
            Estimate { value: a_second(alone.value)?, low: a_second(alone.high), high: a_second(alone.low) };
        let many = most.map(|most| if most.at_least { Many::Rising } else { Many::AtMost(estimate(most)) });
        let findings = [alone].into_iter().chain(most).collect();
        Some(Self { one, many, findings })
    }

    fn worked_out(run: &'a Run) -> Option<Self> {
        let (cost, half) = (
            found(run, FindingName::PerRequestCost, Op::Read)?,
            found(run, FindingName::HalfSize, Op::Read)?,
        );
        // The ends of both intervals at once are wider than needed, and safe.
        let rate = |t0_ns: Option<f64>, half_bytes: Option<f64>| {
            Some(1e9 / (t0_ns? * (1.0 + PAGE_BYTES as f64 / half_bytes?)))
        };
        let value = rate(cost.value, half.value)?;
        let one = Estimate { value, low: rate(cost.high, half.low), high: rate(cost.low, half.high) };
        let (many, more) = many(run).unzip();
        let findings = [cost, half].into_iter().chain(more.into_iter().flatten()).collect();
        Some(Self { one, many, findings })
    }
}

fn many(run: &Run) -> Option<(Many, Vec<&Finding>)> {
    let bytes = |finding: &&Finding| finding.conditions.block_size_bytes.unwrap_or(u64::MAX);
    let small = |finding: &&Finding| finding.conditions.random == Some(true) && bytes(finding) <= PAGE_BYTES;
    let most = all_found(run, FindingName::MaxIops, Op::Read).filter(small).max_by_key(bytes)?;
    if most.at_least {
        return Some((Many::Rising, vec![most]));
    }
    let bandwidth = found(run, FindingName::DeviceBandwidth, Op::Read)?;
    let least =
        |iops: Option<f64>, bytes_per_s: Option<f64>| Some(iops?.min(bytes_per_s? / PAGE_BYTES as f64));
    let value = least(most.value, bandwidth.value)?;
    let (low, high) = (least(most.low, bandwidth.low), least(most.high, bandwidth.high));
    let bounds = if most.value == Some(value) { most } else { bandwidth };
    Some((Many::AtMost(Estimate { value, low, high }), vec![bounds]))
}

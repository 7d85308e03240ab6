//! The block size at which two limits meet: a volume allows so many requests and so many bytes a second, and below
//! that size the one is reached first, above it the other.

use iosonde_infer::finding::lookup::estimate;
use iosonde_model::{
    Detail, Estimate, Finding, Op, Run, Status, Unit,
    detail::{ConstantLimit, Counted},
    units,
};

use super::number::figure;

/// Where a limit of requests and one of bytes meet.
pub(super) struct LimitsMeet<'a> {
    /// `for bandwidth, use requests of 64 KiB or more: below 43 KiB, 3.00 k IOPS are reached before 131 MB/s`.
    pub(super) told: String,
    /// How it is computed.
    pub(super) why: String,
    /// The limits.
    pub(super) findings: Vec<&'a Finding>,
}

/// That size, for each direction that has limits of its own; `None` without both limits.
pub(super) fn limits_meet(run: &Run) -> Option<LimitsMeet<'_>> {
    let mut pairs: Vec<[&Finding; 2]> = Op::TRANSFERS
        .into_iter()
        .filter_map(|op| Some([limit(run, op, Unit::Iops)?, limit(run, op, Unit::Rate)?]))
        .collect();
    pairs.dedup();
    let sizes: Vec<[String; 2]> = pairs.iter().filter_map(|pair| sizes(*pair)).collect();
    let told = match sizes.as_slice() {
        [[usual, meet], other] if sizes[0] == *other => {
            format!(
                "use reads and writes of {usual} or more: below {meet} their limits of IOPS bind, not those of \
                 bandwidth"
            )
        }
        _ => pairs.iter().zip(&sizes).map(|(pair, sizes)| words(*pair, sizes)).collect::<Vec<_>>().join("; "),
    };
    let size = size(*pairs.first()?)?;
    Some(LimitsMeet {
        told: format!("for bandwidth, {told}"),
        why: format!(
            "the limit in bytes divided by that in requests: {}",
            figure(Unit::Bytes, &size).in_words()
        ),
        findings: pairs.into_iter().flatten().collect(),
    })
}

/// A limit of a direction. Where a large request counts several times, no one size parts the two.
fn limit(run: &Run, op: Op, unit: Unit) -> Option<&Finding> {
    run.findings.iter().find(|finding| {
        let counts_once = matches!(
            finding.detail,
            Detail::ConstantLimit(ConstantLimit::Held { counted: Counted::Requests | Counted::Bytes, .. })
        );
        let of_op = finding.conditions.op.is_none_or(|own| own == op);
        counts_once && of_op && finding.unit == unit && finding.status == Status::Found
    })
}

fn size([requests, bytes]: [&Finding; 2]) -> Option<Estimate> {
    Some(Estimate {
        value: bytes.value? / requests.value?,
        low: Some(bytes.low? / requests.high?),
        high: Some(bytes.high? / requests.low?),
    })
}

/// The size that people use, 64 KiB where the limits meet at 64.1 ±0.2 KiB, too; and where they meet.
fn sizes(pair: [&Finding; 2]) -> Option<[String; 2]> {
    let size = size(pair)?;
    Some([units::size((size.low? as u64).next_power_of_two()), figure(Unit::Bytes, &size).value])
}

fn words(pair: [&Finding; 2], [usual, meet]: &[String; 2]) -> String {
    let whose = pair.iter().find_map(|limit| limit.conditions.op);
    let whose = whose.map_or_else(|| "requests".to_owned(), |op| format!("{op}s"));
    let [requests, bytes] = pair.map(|limit| figure(limit.unit, &estimate(limit)).value);
    format!("use {whose} of {usual} or more: below {meet}, {requests} are reached before {bytes}")
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Conditions, FindingName};

    use super::*;
    use crate::text::finding::example;

    fn run(limits: &[(Option<Op>, Unit, f64, Counted)]) -> Run {
        let finding = |&(op, unit, value, counted): &(Option<Op>, Unit, f64, Counted)| {
            let held = ConstantLimit::Held {
                counted,
                shared: None,
                points: 14,
                apart_share: 0.001,
                scatter_ratio: Some(0.02),
                portions_s: None,
                exceeded_share: None,
            };
            let detail = Detail::ConstantLimit(held);
            let found = example::found(FindingName::ConstantLimit, Op::Read, (value, unit), detail);
            Finding { conditions: Conditions { op, ..Conditions::default() }, ..found }
        };
        let mut run = iosonde_testkit::specimen::run(iosonde_testkit::specimen::usual());
        run.findings = limits.iter().map(finding).collect();
        run
    }

    #[test]
    fn two_limits_meet_at_bytes_over_requests() {
        let told = |limits: &[_]| limits_meet(&run(limits)).map(|meet| meet.told);
        let (requests, bytes) = (Counted::Requests, Counted::Bytes);
        // 131,072,000 / 3,000 = 43,691 B = 42.7 KiB.
        let shared = [(None, Unit::Iops, 3000.0, requests), (None, Unit::Rate, 131.072e6, bytes)];
        let expected = "for bandwidth, use requests of 64 KiB or more: below 43 KiB, 3.00 k IOPS are reached \
                        before 131 MB/s";
        assert_eq!(told(&shared).as_deref(), Some(expected));
        let apart = [
            (Some(Op::Read), Unit::Iops, 2000.0, requests),
            (Some(Op::Read), Unit::Rate, 100e6, bytes),
            (Some(Op::Write), Unit::Iops, 1000.0, requests),
            (Some(Op::Write), Unit::Rate, 100e6, bytes),
        ];
        let expected = "for bandwidth, use reads of 64 KiB or more: below 49 KiB, 2.00 k IOPS are reached \
                        before 100 MB/s; use writes of 128 KiB or more: below 98 KiB, 1.00 k IOPS are reached before \
                        100 MB/s";
        assert_eq!(told(&apart).as_deref(), Some(expected));
        let alike = [apart[0], apart[1], apart[2], (Some(Op::Write), Unit::Rate, 50e6, bytes)];
        let expected = "for bandwidth, use reads and writes of 64 KiB or more: below 49 KiB their limits of IOPS bind, \
                        not those of bandwidth";
        assert_eq!(told(&alike).as_deref(), Some(expected));
        assert_eq!(told(&shared[..1]), None, "one limit meets none");
        let chunks = (None, Unit::Iops, 3000.0, Counted::Chunks { chunk_bytes: 16384 });
        assert_eq!(told(&[chunks, shared[1]]), None, "a large request counts several times");
    }
}

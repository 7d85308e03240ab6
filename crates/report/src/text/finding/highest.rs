//! Words of the highest of several points.

use crate::text::number;
use iosonde_infer::finding::lookup::estimate;
use iosonde_model::{
    Finding, FindingName,
    detail::{Highest, SizeAndDepth},
    units,
};

use super::{
    inconclusive,
    subject::subject,
    value::{depths, value},
};

/// One sentence; a throughput that still rises is a least.
pub(super) fn sentence(finding: &Finding, facts: &Highest) -> String {
    let subject = subject(finding);
    let at = match finding.name {
        FindingName::MaxIops => queue_depths(facts),
        _ => points(facts),
    };
    match (finding.name, finding.at_least) {
        (FindingName::MaxIops, true) => {
            format!(
                "{subject}: {}; still rising at {at}.",
                number::at_least(finding.unit, &estimate(finding))
            )
        }
        _ => format!("{subject}: {} at {at}.", value(finding)),
    }
}

/// `QD 32`, `QD 4–128`.
pub(in crate::text) fn queue_depths(facts: &Highest) -> String {
    let [first, last] = facts.queue_depths;
    if first == last { format!("QD {first}") } else { format!("QD {first}–{last}") }
}

/// Block sizes and queue depths of the highest points: `1 MiB, QD 8`.
fn points(facts: &Highest) -> String {
    let [first, last] = facts.block_sizes_bytes.map(units::size);
    let sizes = if first == last { first } else { format!("{first}–{last}") };
    format!("{sizes}, {}", queue_depths(facts))
}

/// Workloads that were excluded; of IOPS all have one block size.
fn excluded(name: FindingName, workloads: &[SizeAndDepth]) -> String {
    if name == FindingName::MaxIops {
        return depths(&workloads.iter().map(|one| one.queue_depth).collect::<Vec<_>>());
    }
    let told = |one: &SizeAndDepth| format!("{}, QD {}", units::size(one.block_size_bytes), one.queue_depth);
    workloads.iter().map(told).collect::<Vec<_>>().join("; ")
}

pub(super) fn why(finding: &Finding, facts: &Highest) -> String {
    let mut all = match finding.at_least {
        true => format!("Value at the largest of {} queue depths.", facts.points),
        false => format!("Highest of {} points, corrected for choosing the maximum.", facts.points),
    };
    if !facts.imprecise.is_empty() {
        all += &format!(" Excluded as too imprecise: {}.", excluded(finding.name, &facts.imprecise));
    }
    if let [first, others @ ..] = &facts.invalid[..] {
        all += &format!(" Not compared: {}", inconclusive::words(first));
        all += &match others.len() {
            0 => ".".to_owned(),
            count => format!("; and {count} more of its points."),
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Unit};

    use super::super::{sentence, tests::reads, why_of};
    use super::*;

    #[test]
    fn a_maximum_names_its_queue_depths_and_what_was_excluded() {
        let facts = Highest {
            points: 6,
            best_points: vec![3, 5],
            queue_depths: [16, 128],
            block_sizes_bytes: [4096, 4096],
            imprecise: vec![SizeAndDepth { block_size_bytes: 4096, queue_depth: 32 }],
            invalid: Vec::new(),
        };
        let of = |at_least| {
            let name = FindingName::MaxIops;
            let found = reads(name, Unit::Iops, [80e3, 79e3, 81e3], Detail::Highest(facts.clone()));
            Finding { at_least, ..found }
        };
        assert_eq!(
            sentence(&of(false)),
            "Highest IOPS of 4 KiB random reads: 80.0 k IOPS (±1.3 %) at QD 16–128."
        );
        assert_eq!(
            why_of(&of(false)).unwrap(),
            "Highest of 6 points, corrected for choosing the maximum. Excluded as too imprecise: QD 32."
        );
        assert!(sentence(&of(true)).ends_with("at least 80.0 k IOPS (±1.3 %); still rising at QD 16–128."));
    }
}

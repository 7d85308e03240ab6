//! Words of the highest of several points.

use iosonde_infer::finding::lookup::estimate;
use iosonde_infer::words;
use iosonde_model::{Finding, FindingName, detail::Highest};

use super::{depths, inconclusive, subject, value};

/// One sentence; a throughput that still rises is a least.
pub(super) fn sentence(finding: &Finding, facts: &Highest) -> String {
    let (subject, [first, last]) = (subject(finding), facts.queue_depths);
    let at = if first == last { format!("QD {first}") } else { format!("QD {first} to {last}") };
    match (finding.name, finding.at_least) {
        (FindingName::MaxIops, true) => {
            format!("{subject}: {}; still rising at {at}.", words::at_least(finding.unit, &estimate(finding)))
        }
        _ => format!("{subject}: {} at {at}.", value(finding)),
    }
}

pub(super) fn why(finding: &Finding, facts: &Highest) -> String {
    let mut all = match finding.at_least {
        true => format!("Value at the largest of {} queue depths.", facts.points),
        false => format!("Highest of {} points, corrected for choosing the maximum.", facts.points),
    };
    if !facts.imprecise_queue_depths.is_empty() {
        all += &format!(" Excluded as too imprecise: {}.", depths(&facts.imprecise_queue_depths));
    }
    if !facts.invalid.is_empty() {
        let invalid: Vec<String> = facts.invalid.iter().map(inconclusive::words).collect();
        all += &format!(" Not compared: {}.", invalid.join("; "));
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
            queue_depths: [16, 128],
            imprecise_queue_depths: vec![32],
            invalid: Vec::new(),
        };
        let of = |at_least| {
            let name = FindingName::MaxIops;
            let found = reads(name, Unit::Iops, [80e3, 79e3, 81e3], Detail::Highest(facts.clone()));
            Finding { at_least, ..found }
        };
        assert_eq!(
            sentence(&of(false)),
            "Highest IOPS of 4 KiB random reads: 80 k IOPS [79, 81] at QD 16 to 128."
        );
        assert_eq!(
            why_of(&of(false)).unwrap(),
            "Highest of 6 points, corrected for choosing the maximum. Excluded as too imprecise: QD 32."
        );
        assert!(sentence(&of(true)).ends_with("at least 80 k IOPS [79, 81]; still rising at QD 16 to 128."));
    }
}

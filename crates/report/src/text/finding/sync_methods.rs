//! Words of `fastest_sync`.

use iosonde_infer::finding::effect::{self, MARGIN};
use iosonde_model::{
    Finding, Unit,
    detail::{SyncMethod, SyncMethods},
};

use super::{effect::margin, value::value};
use crate::text::{case::capitalised, number::with_interval, workload::workload};

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: &SyncMethods) -> String {
    let what = format!("Durable {}", workload(&finding.conditions));
    let ratio = with_interval(Unit::Ratio, &facts.slowest_ratio);
    let all = facts.fastest.len() + facts.others.len();
    let fastest = match facts.others.as_slice() {
        [] => format!("by each of {all} methods"),
        others if others.len() < facts.fastest.len() => {
            format!("by each of {all} methods but {}", names(others))
        }
        _ => format!("by {}", names(&facts.fastest)),
    };
    let slowest = if effect::inside(&facts.slowest_ratio, MARGIN) {
        format!("all are equal within {}", margin(MARGIN))
    } else if facts.slowest_ratio.high.is_some_and(|high| high < 1.0) {
        format!("{} reaches {ratio} of that", name(&facts.slowest))
    } else {
        format!("slowest over fastest {ratio}, undecided")
    };
    capitalised(&format!("{what}: {} {fastest}; {slowest}.", value(finding)))
}

/// How it was worked out.
pub(super) fn why(facts: &SyncMethods) -> String {
    let left_out = match facts.left_out.is_empty() {
        true => String::new(),
        false => format!(" Left out as invalid or too imprecise: {}.", names(&facts.left_out)),
    };
    format!(
        "Highest of {} methods, corrected for choosing the maximum; the ratio holds for all pairs together.{left_out}",
        facts.fastest.len() + facts.others.len()
    )
}

fn names(methods: &[SyncMethod]) -> String {
    methods.iter().map(name).collect::<Vec<_>>().join(" or ")
}

/// `fdatasync:1 (direct)`.
fn name(method: &SyncMethod) -> String {
    method.to_string().replacen(", ", " (", 1) + ")"
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Estimate, FindingName, Op};

    use super::*;
    use crate::text::finding::{example, sentence};

    const ALL: [(&str, bool); 4] =
        [("dsync", true), ("osync", true), ("fdatasync:1", true), ("fsync:1", false)];

    fn said(fastest: &[(&str, bool)], ratio: [f64; 3]) -> String {
        let method = |&(sync, direct): &(&str, bool)| SyncMethod { sync: sync.parse().unwrap(), direct };
        let [value, low, high] = ratio;
        let detail = Detail::SyncMethods(SyncMethods {
            fastest: fastest.iter().map(method).collect(),
            others: ALL.iter().filter(|one| !fastest.contains(one)).map(method).collect(),
            slowest: method(&("fsync:1", false)),
            slowest_ratio: Estimate { value, low: Some(low), high: Some(high) },
            left_out: Vec::new(),
        });
        sentence(&example::found(FindingName::FastestSync, Op::Write, (3340.0, Unit::Iops), detail))
    }

    #[test]
    fn the_fastest_method_is_named_and_equal_ones_are_called_equal() {
        assert_eq!(
            said(&[("dsync", true), ("osync", true)], [0.45, 0.41, 0.50]),
            "Durable 4 KiB random writes: 3.34 k IOPS (±2 %) by dsync (direct) or osync (direct); fsync:1 (buffered) \
             reaches 0.45× (0.41–0.50) of that."
        );
        assert_eq!(
            said(&ALL, [0.99, 0.98, 1.0]),
            "Durable 4 KiB random writes: 3.34 k IOPS (±2 %) by each of 4 methods; all are equal within 5 %."
        );
        assert_eq!(
            said(&ALL, [0.9, 0.7, 1.1]),
            "Durable 4 KiB random writes: 3.34 k IOPS (±2 %) by each of 4 methods; slowest over fastest 0.90× \
             (0.70–1.10), undecided."
        );
    }
}

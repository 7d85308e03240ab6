//! Words of `fastest_sync`.

use iosonde_infer::finding::effect::{self, MARGIN};
use iosonde_model::{
    Finding, Unit,
    detail::{SyncMethod, SyncMethods},
};

use super::{effect::margin, value::value};
use crate::text::{case::capitalised, number::with_interval, workload::workload};

/// Ways that are named; of more, only how many they are.
const NAMED: usize = 3;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: &SyncMethods) -> String {
    let what = format!("Durable {}", workload(&finding.conditions));
    let ratio = with_interval(Unit::Ratio, &facts.slowest_ratio);
    let compared = facts.compared;
    let said = if effect::inside(&facts.slowest_ratio, MARGIN) {
        format!("by each of {compared} methods; they are equal within {}", margin(MARGIN))
    } else if facts.fastest.len() == compared {
        format!("by each of {compared} methods; slowest over fastest {ratio}, undecided")
    } else {
        format!("by {}; {} reaches {ratio} of that", names(&facts.fastest), name(&facts.slowest))
    };
    capitalised(&format!("{what}: {} {said}.", value(finding)))
}

/// How it was worked out.
pub(super) fn why(facts: &SyncMethods) -> String {
    let left_out = match facts.left_out.is_empty() {
        true => String::new(),
        false => format!(" Not compared, without a valid figure: {}.", names(&facts.left_out)),
    };
    format!(
        "Highest of {} methods, corrected for choosing the maximum; the ratio holds for all pairs together.{left_out}",
        facts.compared
    )
}

fn names(methods: &[SyncMethod]) -> String {
    if methods.len() > NAMED {
        return format!("{} of the methods", methods.len());
    }
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

    fn said(fastest: &[(&str, bool)], ratio: [f64; 3]) -> String {
        let method = |&(sync, direct): &(&str, bool)| SyncMethod { sync: sync.parse().unwrap(), direct };
        let [value, low, high] = ratio;
        let detail = Detail::SyncMethods(SyncMethods {
            fastest: fastest.iter().map(method).collect(),
            compared: 4,
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
            "Durable 4 KiB random writes: 3.34 k IOPS [3.27, 3.41] by dsync (direct) or osync (direct); fsync:1 \
             (buffered) reaches 0.45× [0.41, 0.50] of that."
        );
        let all = [("dsync", true), ("osync", true), ("fdatasync:1", true), ("fsync:1", false)];
        assert_eq!(
            said(&all, [0.99, 0.98, 1.0]),
            "Durable 4 KiB random writes: 3.34 k IOPS [3.27, 3.41] by each of 4 methods; they are equal within 5 %."
        );
        assert_eq!(
            said(&all, [0.9, 0.7, 1.1]),
            "Durable 4 KiB random writes: 3.34 k IOPS [3.27, 3.41] by each of 4 methods; slowest over fastest 0.90× \
             [0.70, 1.10], undecided."
        );
    }
}

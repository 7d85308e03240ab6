//! Words of `constant_limit`.

use iosonde_model::{Estimate, Finding, Op, RateLimit, detail::ConstantLimit, units};

use crate::text::number::figure;
use iosonde_infer::finding::lookup::estimate;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: ConstantLimit) -> String {
    match facts {
        ConstantLimit::Held { .. } => format!("Limited to {}.", limit(finding)),
        ConstantLimit::None { .. } => "No rate limit from the first second on was found.".to_owned(),
    }
}

/// All limits of a run: `2.00 k IOPS (±0.2 %) and 99.9 MB/s (±0.8 %) for reads, and to 1.00 k IOPS (±0.3 %) for
/// writes`.
pub(in crate::text) fn together(limits: impl Iterator<Item = RateLimit>) -> String {
    // Each limit with its interval, and without.
    let mut groups: Vec<(AppliesTo, Vec<[String; 2]>)> = Vec::new();
    for limit in limits {
        let applies_to = match (limit.op, limit.shared) {
            (Some(op), _) => AppliesTo::Alone(op),
            (None, Some(true)) => AppliesTo::Together,
            (None, Some(false)) => AppliesTo::Each,
            (None, None) => AppliesTo::NotTested,
        };
        let figure = figure(limit.unit, &Estimate { value: limit.value, low: limit.low, high: limit.high });
        let value = [figure.in_words() + &parts(limit.chunk_bytes), figure.value];
        match groups.iter_mut().find(|group| group.0 == applies_to) {
            Some((_, values)) => values.push(value),
            None => groups.push((applies_to, vec![value])),
        }
    }
    let is_told_apart = groups.len() > 1;
    let who = |applies_to: &AppliesTo, values: &str| match applies_to {
        AppliesTo::Alone(Op::Read) => " for reads".to_owned(),
        AppliesTo::Alone(_) => " for writes".to_owned(),
        AppliesTo::Together => TOGETHER.to_owned(),
        AppliesTo::Each => " for reads and writes each".to_owned(),
        AppliesTo::NotTested if is_told_apart => {
            format!("; whether reads and writes share the {values} was not tested")
        }
        AppliesTo::NotTested => String::new(),
    };
    // What is said of one limit would be read as said of the next one too.
    groups.sort_by_key(|(applies_to, _)| *applies_to == AppliesTo::NotTested);
    let joined = |values: &[[String; 2]], at: usize| {
        values.iter().map(|value| value[at].as_str()).collect::<Vec<_>>().join(" and ")
    };
    let each = groups
        .iter()
        .map(|(applies_to, values)| format!("{}{}", joined(values, 0), who(applies_to, &joined(values, 1))));
    each.collect::<Vec<_>>().join(", and to ")
}

/// Directions that a limit applies to.
#[derive(PartialEq)]
enum AppliesTo {
    Alone(Op),
    /// Reads and writes share it.
    Together,
    /// Reads and writes have one of this height each.
    Each,
    /// No mix was measured at it.
    NotTested,
}

const TOGETHER: &str = ", shared by reads and writes";

/// What counts several times.
fn parts(chunk_bytes: Option<u64>) -> String {
    chunk_bytes
        .map_or_else(String::new, |bytes| format!(" (each {} of a request counts)", units::size(bytes)))
}

/// `6.00 k IOPS (±0.2 %), shared by reads and writes`.
fn limit(finding: &Finding) -> String {
    let Some(RateLimit { op, shared, chunk_bytes, .. }) = RateLimit::of(finding) else {
        return String::new();
    };
    let who = match (op, shared) {
        (Some(Op::Read), _) => " for reads",
        (Some(_), _) => " for writes",
        (None, Some(true)) => TOGETHER,
        (None, _) => " for reads",
    };
    let parts = parts(chunk_bytes);
    let value = figure(finding.unit, &estimate(finding)).in_words();
    // Two limits of one height.
    let again = match (op, shared) {
        (None, Some(false) | None) => format!(" and {value} for writes"),
        _ => String::new(),
    };
    format!("{value}{who}{again}{parts}")
}

/// Why it is a limit, or why there is none.
pub(super) fn why(facts: ConstantLimit) -> String {
    match facts {
        ConstantLimit::Held { points, apart_share, scatter_ratio, portions_s, exceeded_share, .. } => {
            let unlimited = "that storage without a limit would have";
            let evidence = match (portions_s, scatter_ratio) {
                _ if exceeded_share.is_some() => format!(
                    "the volume counted {} of the time above its limit",
                    units::percent(exceeded_share.unwrap_or_default())
                ),
                (Some(period_s), _) => {
                    format!("requests pass in portions, one each {}", units::time(period_s * 1e9))
                }
                (None, Some(ratio)) => {
                    format!("trials have {} of the variance {unlimited}", units::percent(ratio))
                }
                (None, None) => format!("requests at QD 1 lack the fixed cost {unlimited}"),
            };
            format!("{points} workloads agree within {}; {evidence}.", units::percent(apart_share))
        }
        ConstantLimit::None { points } => format!(
            "No quantity is the same at several of {points} workloads and steadier than the storage's latencies."
        ),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Unit, detail::Counted};

    use super::*;
    use crate::text::finding::{example, sentence, why_of};

    fn held(counted: Counted, shared: Option<bool>) -> ConstantLimit {
        ConstantLimit::Held {
            counted,
            shared,
            points: 14,
            apart_share: 0.001,
            scatter_ratio: Some(0.02),
            portions_s: None,
            exceeded_share: None,
        }
    }

    #[test]
    fn what_is_said_of_one_limit_is_not_read_as_said_of_the_next() {
        let of = |unit, facts| {
            let found = example::found(
                FindingName::ConstantLimit,
                Op::Read,
                (6000.0, unit),
                Detail::ConstantLimit(facts),
            );
            Finding { conditions: iosonde_model::Conditions::default(), ..found }
        };
        let told = |limits: &[(Unit, ConstantLimit)]| {
            together(limits.iter().filter_map(|(unit, facts)| RateLimit::of(&of(*unit, *facts))))
        };
        let bytes = (Unit::Rate, held(Counted::Bytes, None));
        let requests = (Unit::Iops, held(Counted::Requests, Some(true)));
        assert_eq!(told(&[bytes]), "6.00 kB/s (±2 %)");
        assert_eq!(
            told(&[bytes, requests]),
            "6.00 k IOPS (±2 %), shared by reads and writes, and to 6.00 kB/s (±2 %); whether reads \
             and writes share the 6.00 kB/s was not tested"
        );
    }

    #[test]
    fn a_limit_is_said_with_its_value_and_who_shares_it() {
        let of = |op, facts| {
            let detail = Detail::ConstantLimit(facts);
            let found = example::found(FindingName::ConstantLimit, Op::Read, (6000.0, Unit::Iops), detail);
            let conditions = iosonde_model::Conditions { op, ..Default::default() };
            Finding { conditions, ..found }
        };
        let both = of(None, held(Counted::Requests, Some(true)));
        assert_eq!(sentence(&both), "Limited to 6.00 k IOPS (±2 %), shared by reads and writes.");
        assert_eq!(
            why_of(&both).as_deref(),
            Some(
                "14 workloads agree within 0.1 %; trials have 2.0 % of the variance that storage without a limit \
                 would have."
            )
        );
        let ConstantLimit::Held { counted, shared, points, apart_share, .. } = held(Counted::Requests, None)
        else {
            unreachable!("it is held")
        };
        let portions_s = Some(0.1);
        let sliced = ConstantLimit::Held {
            counted,
            shared,
            points,
            apart_share,
            scatter_ratio: None,
            portions_s,
            exceeded_share: None,
        };
        assert_eq!(
            why_of(&of(None, sliced)).as_deref(),
            Some("14 workloads agree within 0.1 %; requests pass in portions, one each 100 ms.")
        );
        let chunks = of(Some(Op::Write), held(Counted::Chunks { chunk_bytes: 1 << 14 }, Some(false)));
        assert_eq!(
            sentence(&chunks),
            "Limited to 6.00 k IOPS (±2 %) for writes (each 16 KiB of a request counts)."
        );
    }
}

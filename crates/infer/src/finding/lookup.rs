//! Found findings by name, direction and size.

use iosonde_model::{About, Conditions, Detail, Estimate, Finding, FindingName, Op, Run, Status, Unit};

use super::kind;

/// The found finding of a name and direction: of the smallest requests where there are several sizes, at random where
/// both orders were measured, else the first.
pub fn found(run: &Run, name: FindingName, op: Op) -> Option<&Finding> {
    all_found(run, name, op).min_by_key(|finding| {
        let Conditions { random, block_size_bytes, .. } = finding.conditions;
        (block_size_bytes, random == Some(false))
    })
}

/// The found finding for requests of this size and order.
pub fn found_like<'a>(run: &'a Run, name: FindingName, op: Op, like: &Conditions) -> Option<&'a Finding> {
    all_found(run, name, op).find(|finding| {
        let own = &finding.conditions;
        own.block_size_bytes == like.block_size_bytes && own.random == like.random
    })
}

/// Found findings of a name and direction, in the order of the run.
pub fn all_found(run: &Run, name: FindingName, op: Op) -> impl Iterator<Item = &Finding> {
    run.findings.iter().filter(move |finding| {
        finding.name == name && finding.status == Status::Found && finding.conditions.op == Some(op)
    })
}

/// Trials that a finding's value rests on: those of its best points, where it is the highest of many.
pub fn trials_behind(run: &Run, finding: &Finding) -> Vec<u64> {
    let Detail::Highest(facts) = &finding.detail else { return finding.trials.clone() };
    let best = run.points.iter().filter(|point| facts.best_points.contains(&point.id));
    best.flat_map(|point| point.trial_ids.iter().copied()).collect()
}

/// Figures of its trials that a finding is computed from.
pub fn figures_behind(finding: &Finding) -> &'static [About] {
    kind(finding.name).computed_from().unwrap_or(match finding.unit {
        Unit::Iops | Unit::Rate => &[About::Rate],
        Unit::Time => &[About::Latency],
        _ => &[About::All],
    })
}

/// A finding's value with its interval.
pub fn estimate(finding: &Finding) -> Estimate {
    // A found finding has a value; NaN would be seen at once.
    Estimate { value: finding.value.unwrap_or(f64::NAN), low: finding.low, high: finding.high }
}

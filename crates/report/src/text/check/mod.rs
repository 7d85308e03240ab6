//! Words of verdicts, one file for each check.

mod above_the_limit;
pub(super) mod brief;
pub(super) mod cache_served;
mod clock;
mod compressible;
mod corrupted;
mod depth_not_reached;
mod direct_ignored;
mod drift;
mod early_flush;
mod errors;
mod generator_bound;
mod host_slowed;
mod hosts_apart;
mod interference;
mod littles_law;
mod missed_rate;
mod multimodal;
mod no_witness;
mod not_steady;
mod odd_host;
mod outliers;
mod saturated;
mod tally;
mod throttled;
mod too_few_samples;
mod units;
mod unmapped;
mod working_set;
mod write_back;

use std::collections::BTreeMap;

use iosonde_model::{Cause, Judgement};

/// Why a check says what it says, in a sentence without its full stop; empty for a pass.
pub fn why(judgement: &Judgement) -> String {
    judgement.cause.as_ref().map_or_else(String::new, cause)
}

/// Why a check says what it says of a point, where the workload is named already.
pub fn why_at_point(judgement: &Judgement) -> String {
    match &judgement.cause {
        Some(Cause::AtPoint { cause: seen, .. }) => cause(seen),
        _ => why(judgement),
    }
}

fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Tally(tally) => tally::words(tally, self::cause),
        Cause::AtPoint { spec, cause } => format!("{}: {}", spec.describe(), self::cause(cause)),
        Cause::Errors(facts) => errors::words(facts),
        Cause::Corrupted(facts) => corrupted::words(facts),
        Cause::Units(facts) => units::words(facts),
        Cause::NoWitness(facts) => no_witness::words(facts),
        Cause::CacheServed(facts) => cache_served::words(facts),
        Cause::DirectIgnored(facts) => direct_ignored::words(facts),
        Cause::Unmapped(facts) => unmapped::words(facts),
        Cause::WriteBack(facts) => write_back::words(facts),
        Cause::EarlyFlush(facts) => early_flush::words(facts),
        Cause::AboveTheLimit(facts) => above_the_limit::words(facts),
        Cause::Clock(facts) => clock::words(facts),
        Cause::HostsApart(facts) => hosts_apart::words(facts),
        Cause::Compressible(facts) => compressible::words(facts),
        Cause::WorkingSet(facts) => working_set::words(facts),
        Cause::DepthNotReached(facts) => depth_not_reached::words(facts),
        Cause::LittlesLaw(facts) => littles_law::words(facts),
        Cause::GeneratorBound(facts) => generator_bound::words(facts),
        Cause::Saturated(facts) => saturated::words(facts),
        Cause::TooFewSamples(facts) => too_few_samples::words(facts),
        Cause::MissedRate(facts) => missed_rate::words(facts),
        Cause::Outliers(facts) => outliers::words(facts),
        Cause::NotSteady(facts) => not_steady::words(facts),
        Cause::Drift(facts) => drift::words(facts),
        Cause::Interference(facts) => interference::words(facts),
        Cause::Throttled(facts) => throttled::words(facts),
        Cause::Multimodal(facts) => multimodal::words(facts),
        Cause::OddHost(facts) => odd_host::words(facts),
        Cause::HostSlowed(facts) => host_slowed::words(facts),
    }
}

/// Numbers of a verdict by their names, which carry the units.
pub fn figures(judgement: &Judgement) -> BTreeMap<String, f64> {
    judgement.cause.as_ref().map(numbers).unwrap_or_default()
}

fn numbers(cause: &Cause) -> BTreeMap<String, f64> {
    if let Cause::AtPoint { cause, .. } = cause {
        return numbers(cause);
    }
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(cause) else { return BTreeMap::new() };
    fields.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        About, CheckName, Op, TrialSpec, Verdict,
        cause::{Cap, Multimodal, Throttled},
    };

    use super::*;

    fn warning(cause: Cause) -> Judgement {
        let verdict = Verdict::Warning(iosonde_model::Reason::new(About::Rate, cause));
        Judgement::new(CheckName::Throttled, "run", None, None, verdict)
    }

    #[test]
    fn figures_are_the_numbers_of_a_cause() {
        let cap = Some(Cap { kept_within_share: 0.001, credit_requests: 33_800.0 });
        let fell = |cap| Throttled::Fell {
            throttle_iops: 3000.0,
            before_iops: 16_000.0,
            at_s: 2.6,
            temperature_celsius: None,
            cap,
            writes: true,
        };
        let names = |cause: Cause| figures(&warning(cause)).into_keys().collect::<Vec<_>>().join(" ");
        assert_eq!(names(fell(None).into()), "at_s before_iops throttle_iops");
        let with_cap = "at_s before_iops credit_requests kept_within_share throttle_iops";
        assert_eq!(names(fell(cap).into()), with_cap);
    }

    #[test]
    fn a_cause_at_a_point_names_the_workload_and_keeps_its_figures() {
        let groups = Multimodal::Groups {
            op: Op::Read,
            low_share: 0.9,
            low_ns: 1e4,
            high_share: 0.1,
            high_ns: 1e5,
            mean_ns: 1.9e4,
        };
        let spec = TrialSpec::default();
        let judgement = warning(Cause::from(groups).at_point(&spec));
        assert_eq!(figures(&judgement).get("high_ns"), Some(&1e5));
        assert!(why(&judgement).starts_with(&format!("{}: two latency groups", spec.describe())));
    }
}

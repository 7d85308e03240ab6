//! Words of verdicts, one file for each check.

mod above_the_limit;
mod cache_served;
mod clock;
mod compressible;
mod corrupted;
mod direct_ignored;
mod errors;
mod no_witness;
mod tally;
mod units;
mod unmapped;
mod working_set;
mod write_back;
mod depth_not_reached;
mod drift;
mod generator_bound;
mod interference;
mod littles_law;
mod missed_rate;
mod multimodal;
mod not_steady;
mod outliers;
mod throttled;
mod too_few_samples;

use std::collections::BTreeMap;

use iosonde_model::{Cause, Judgement};

/// Why a check says what it says, in a sentence without its full stop; empty for a pass.
pub fn why(judgement: &Judgement) -> String {
    judgement.cause.as_ref().map_or_else(String::new, cause)
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
        Cause::AboveTheLimit(facts) => above_the_limit::words(facts),
        Cause::Clock(facts) => clock::words(facts),
        Cause::Compressible(facts) => compressible::words(facts),
        Cause::WorkingSet(facts) => working_set::words(facts),
        Cause::DepthNotReached(facts) => depth_not_reached::words(facts),
        Cause::LittlesLaw(facts) => littles_law::words(facts),
        Cause::GeneratorBound(facts) => generator_bound::words(facts),
        Cause::TooFewSamples(facts) => too_few_samples::words(facts),
        Cause::MissedRate(facts) => missed_rate::words(facts),
        Cause::Outliers(facts) => outliers::words(facts),
        Cause::NotSteady(facts) => not_steady::words(facts),
        Cause::Drift(facts) => drift::words(facts),
        Cause::Interference(facts) => interference::words(facts),
        Cause::Throttled(facts) => throttled::words(facts),
        Cause::Multimodal(facts) => multimodal::words(facts),
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

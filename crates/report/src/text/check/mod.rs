//! Words of verdicts, one file for each check.

mod depth_not_reached;
mod drift;
mod generator_bound;
mod interference;
mod littles_law;
mod missed_rate;
mod multimodal;
mod not_steady;
mod outliers;
mod tally;
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
        Cause::Said { why, .. } => why.clone(),
        Cause::Tally(tally) => tally::words(tally),
        Cause::AtPoint { spec, cause } => format!("{}: {}", spec.describe(), self::cause(cause)),
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
    match &judgement.cause {
        Some(Cause::Said { figures, .. }) => figures.clone(),
        Some(cause) => numbers(cause),
        None => BTreeMap::new(),
    }
}

fn numbers(cause: &Cause) -> BTreeMap<String, f64> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(cause) else { return BTreeMap::new() };
    fields.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
}

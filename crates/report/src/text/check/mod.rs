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

use std::collections::BTreeMap;

use iosonde_model::{Cause, Judgement};

/// Why a check says what it says, in a sentence without its full stop; empty for a pass.
pub fn why(judgement: &Judgement) -> String {
    judgement.cause.as_ref().map_or_else(String::new, cause)
}

fn cause(cause: &Cause) -> String {
    match cause {
        Cause::Said { why, .. } => why.clone(),
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
    }
}

/// Numbers of a verdict by their names, which carry the units.
pub fn figures(judgement: &Judgement) -> BTreeMap<String, f64> {
    judgement.cause.as_ref().map(numbers).unwrap_or_default()
}

fn numbers(cause: &Cause) -> BTreeMap<String, f64> {
    match cause {
        Cause::Said { figures, .. } => return figures.clone(),
        Cause::AtPoint { cause, .. } => return numbers(cause),
        _ => {}
    }
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(cause) else { return BTreeMap::new() };
    fields.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect()
}

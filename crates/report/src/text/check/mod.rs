//! Words of verdicts, one file for each check.

mod tally;

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

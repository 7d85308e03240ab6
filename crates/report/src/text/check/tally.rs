//! Words of the count of a check's verdicts.

use iosonde_model::{Cause, Scopes, Tally};

/// `216 of 216 trials pass`, `3 of 27 points not checked: ..`.
pub(super) fn words(tally: &Tally, cause: impl Fn(&Cause) -> String) -> String {
    let of = match tally.of {
        Scopes::Trials => "trials",
        Scopes::TrialsAndRun => "trials and runs",
        Scopes::TrialsAndPoints => "trials and points",
        Scopes::Points => "points",
        Scopes::Run => "runs",
    };
    match &tally.first {
        None if tally.of == Scopes::Run => "the run passes".to_owned(),
        None => format!("{} of {} {of} pass", tally.passed, tally.judged),
        Some(first) if tally.judged == 1 => cause(first),
        Some(first) => {
            format!("{} of {} {of} not checked: {}", tally.unchecked, tally.judged, cause(first))
        }
    }
}

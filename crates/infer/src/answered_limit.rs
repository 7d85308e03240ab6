//! A run that asked for nothing but a limit and found one: what a limit does to figures is then the answer, and no
//! doubt.

use std::borrow::Cow;

use iosonde_model::{CheckName, Finding, FindingName, Op, Run};

use crate::finding::lookup::found;

/// What says of a rate that fell that it fell: two rates in one mean, and trials far from it.
const OF_A_FALL: [CheckName; 5] = [
    CheckName::Throttled,
    CheckName::Outliers,
    CheckName::NotSteady,
    CheckName::Drift,
    CheckName::Multimodal,
];

/// The limit that the whole run asked for. `None` where it found none, or has points of other experiments.
pub fn answer(run: &Run) -> Option<&Finding> {
    let limit = Op::TRANSFERS.into_iter().find_map(|op| found(run, FindingName::ThrottleRate, op))?;
    run.points.iter().all(|point| point.belongs_to(&limit.experiment)).then_some(limit)
}

/// The run without the verdicts that only say so in other words.
pub fn beyond_it(run: &Run) -> Cow<'_, Run> {
    if answer(run).is_none() {
        return Cow::Borrowed(run);
    }
    let mut rest = run.clone();
    rest.verdicts.retain(|judgement| !OF_A_FALL.contains(&judgement.check));
    Cow::Owned(rest)
}

//! A run that only measures a limit and found one: the effect of the limit on figures is then the answer, and no
//! warning.

use std::borrow::Cow;

use iosonde_model::{Finding, Run, Status};

use iosonde_judge::check::{Symptom, symptom_of};

use crate::finding;

/// The symptoms that are this run's answer: a finding explains them, and the whole run measures it. Beside other
/// questions, the same symptom is a warning about their figures.
///
/// A check states the symptom that it sees, and a finding the symptom that it explains, so that neither names the
/// other: a new check of several rates in one mean is explained by a limit as soon as it says what it sees.
pub fn explained(run: &Run) -> Vec<Symptom> {
    let whole = |finding: &&Finding| {
        finding.status == Status::Found
            && run.points.iter().all(|point| point.belongs_to(&finding.experiment))
    };
    let explains = |finding: &Finding| finding::kind(finding.name).explains();
    run.findings.iter().filter(whole).filter_map(explains).collect()
}

/// The run without the verdicts that only show an explained symptom.
pub fn beyond<'a>(run: &'a Run, explained: &[Symptom]) -> Cow<'a, Run> {
    if explained.is_empty() {
        return Cow::Borrowed(run);
    }
    let mut rest = run.clone();
    rest.verdicts
        .retain(|judgement| symptom_of(judgement.check).is_none_or(|symptom| !explained.contains(&symptom)));
    Cow::Owned(rest)
}

//! A run that asked for nothing but a limit and found one: what a limit does to figures is then the answer, and no
//! doubt.

use std::borrow::Cow;

use iosonde_model::{Finding, Run, Status};

use crate::{
    check::{Symptom, symptom_of},
    finding::{FINDINGS, FindingKind},
};

/// What the first lines say instead.
pub(crate) const ANSWERED: &str = "a limit was asked for and found: rates here are its figures, not the storage's, \
     and where it set in late a mean over the whole run describes neither rate";

/// The symptoms that are this run's answer: a finding explains them, and the whole run asked for it. Beside other
/// questions, the same symptom is a doubt about their figures.
///
/// A check states the symptom that it sees, and a finding the symptom that it explains, so that neither names the
/// other: a new check of several rates in one mean is explained by a limit as soon as it says what it sees.
pub(crate) fn explained(run: &Run) -> Vec<Symptom> {
    let whole = |finding: &&Finding| {
        finding.status == Status::Found
            && run.points.iter().all(|point| point.belongs_to(&finding.experiment))
    };
    let explains = |finding: &Finding| FINDINGS.find(&finding.name).ok().and_then(FindingKind::explains);
    run.findings.iter().filter(whole).filter_map(explains).collect()
}

/// The run without the verdicts that only show an explained symptom.
pub(crate) fn beyond<'a>(run: &'a Run, explained: &[Symptom]) -> Cow<'a, Run> {
    if explained.is_empty() {
        return Cow::Borrowed(run);
    }
    let mut rest = run.clone();
    rest.verdicts
        .retain(|judgement| symptom_of(&judgement.check).is_none_or(|symptom| !explained.contains(&symptom)));
    Cow::Owned(rest)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{About, Judgement, Reason, Status, Verdict};

    use super::*;
    use crate::{
        belief::{Belief, belief},
        conclude::conclude,
        pretend::Pretend,
    };

    const STUDY: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"limit\"";

    fn believed(study: &str) -> (Belief, String) {
        let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(study, 1);
        run.info.device.burst_credit = Some(true);
        conclude(&mut run, None).unwrap();
        let fell = Verdict::Doubt(Reason::new(About::Rate, "one point fell to a limit"));
        run.verdicts.push(Judgement::new("throttled", "run", None, None, fell));
        let limit = run.findings.iter_mut().find(|finding| finding.name == "throttle_rate").unwrap();
        (limit.status, limit.value, limit.low, limit.high) =
            (Status::Found, Some(3000.0), Some(2999.0), Some(3001.0));
        let advised =
            crate::advice::advice(&run).iter().map(|advice| format!("{}\n", advice.sentence)).collect();
        (belief(&run), advised)
    }

    #[test]
    fn a_limit_that_was_asked_for_is_the_answer_and_no_doubt() {
        let (belief, advised) = believed(STUDY);
        let said = |text: &str| belief.lines.iter().any(|line| line.text.contains(text));
        assert!(said(ANSWERED) && !said("fell to a limit"), "{belief:?}");
        assert!(!said("sold with credit"), "its end was seen: {belief:?}");
        assert_eq!(
            advised,
            "count on 3.000 k IOPS [2.999, 3.001] of reads; for more, have the limit raised\n"
        );
        // Beside other questions it stays a doubt about their figures.
        let both = format!("{STUDY}\n[[experiment]]\nkind = \"queue-depth\"\ndepth = 2");
        let (belief, _) = believed(&both);
        assert!(belief.lines.iter().any(|line| line.text.contains("fell to a limit")), "{belief:?}");
    }
}

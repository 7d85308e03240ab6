//! A run that asked for nothing but a limit and found one: what a limit does to figures is then the answer, and no
//! doubt.

use std::borrow::Cow;

use iosonde_model::{CheckName, Finding, FindingName, Op, Run};

use crate::storage::found;

/// What says of a rate that fell that it fell: two rates in one mean, and trials far from it.
const OF_A_FALL: [CheckName; 5] = [
    CheckName::Throttled,
    CheckName::Outliers,
    CheckName::NotSteady,
    CheckName::Drift,
    CheckName::Multimodal,
];

/// What the first lines say instead.
pub(crate) const ANSWERED: &str = "a limit was asked for and found: rates here are its figures, not the storage's, \
     and where it set in late a mean over the whole run describes neither rate";

/// The limit that the whole run asked for. `None` where it found none, or has points of other experiments.
pub(crate) fn answer(run: &Run) -> Option<&Finding> {
    let limit = Op::TRANSFERS.into_iter().find_map(|op| found(run, FindingName::ThrottleRate, op))?;
    run.points.iter().all(|point| point.belongs_to(&limit.experiment)).then_some(limit)
}

/// The run without the verdicts that only say so in other words.
pub(crate) fn beyond_it(run: &Run) -> Cow<'_, Run> {
    if answer(run).is_none() {
        return Cow::Borrowed(run);
    }
    let mut rest = run.clone();
    rest.verdicts.retain(|judgement| !OF_A_FALL.contains(&judgement.check));
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
        run.info.device.model = Some("Amazon Elastic Block Store".into());
        conclude(&mut run, None).unwrap();
        let fell = Verdict::Doubt(Reason::new(About::Rate, "one point fell to a limit"));
        run.verdicts.push(Judgement::new(CheckName::Throttled, "run", None, None, fell));
        let limit =
            run.findings.iter_mut().find(|finding| finding.name == FindingName::ThrottleRate).unwrap();
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

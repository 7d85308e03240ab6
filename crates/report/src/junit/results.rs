//! Another tool's results, judged: a test for each result.

use iosonde_model::Run;

use super::{Case, Outcome, document};
use crate::text::{
    imported::{ResultLine, of_all, result_lines},
    validity::Weight,
};

/// A class of its own for each number of files would rename every test when a file is added.
const CLASS: &str = "iosonde judge";

/// A test for each result, in the file's order: an invalid one failed; `strict`: one with a warning failed, too. Each
/// file that could not be read, given by its name and the reason, is a test with an error.
pub fn results_junit<'a>(
    run: &Run,
    strict: bool,
    unread: impl Iterator<Item = (&'a str, &'a str)>,
) -> String {
    let mut lines = result_lines(run);
    lines.sort_by_key(|line| line.trial);
    let outcome = |mark: Weight, verdict: &str, why: &str| {
        let fails = mark == Weight::No || (strict && mark == Weight::Doubt);
        match (fails, why) {
            (true, _) => {
                Outcome::Failed { kind: verdict.to_owned(), message: why.to_owned(), text: String::new() }
            }
            (false, "") => Outcome::Passed(String::new()),
            (false, _) => Outcome::Passed(format!("{verdict}: {why}")),
        }
    };
    let of_result = |line: &ResultLine| {
        let job = run.trial(line.trial).map_or("", |trial| trial.experiment.as_str());
        let name =
            if job == "result" { line.workload.whole() } else { format!("{job}: {}", line.workload.whole()) };
        let outcome = outcome(line.mark, &line.verdict, &line.why);
        Case { class: CLASS.to_owned(), name, outcome }
    };
    // What is wrong with all results is a doubt, and more.
    let all = of_all(run).into_iter().map(|(mark, verdict, why)| Case {
        class: CLASS.to_owned(),
        name: "all results".to_owned(),
        outcome: outcome(mark.max(Weight::Doubt), &verdict, &why),
    });
    let unread = unread.map(|(name, why)| Case {
        class: CLASS.to_owned(),
        name: name.to_owned(),
        outcome: Outcome::Undecided { message: why.to_owned(), text: String::new() },
    });
    let cases: Vec<Case> = lines.iter().map(of_result).chain(all).chain(unread).collect();
    document("iosonde judge", &[], &cases)
}

//! A check of a requirement: one test for each limit.

use iosonde_model::{RequirementVerdict, Run};

use super::{Case, Outcome, document};
use crate::text::requirement;

/// The requirement that a run checked, as XML; `None` for other runs.
pub fn requirement_junit(run: &Run) -> Option<String> {
    let table = requirement::of_run(run)?;
    let case = |row: &requirement::RequirementRow| {
        let told = format!("{} {}; {} needs {}", row.figure, row.measured, table.name, row.limit);
        let basis = format!("{}\n{}", row.basis, table.source);
        let outcome = match row.verdict {
            RequirementVerdict::Pass => Outcome::Passed(format!("{told}\n{basis}")),
            RequirementVerdict::Fail => {
                Outcome::Failed { kind: "fail".to_owned(), message: told, text: basis }
            }
            RequirementVerdict::Inconclusive => {
                Outcome::Undecided { message: format!("inconclusive: {told}"), text: basis }
            }
        };
        Case { class: format!("iosonde.{}", table.name), name: row.figure.clone(), outcome }
    };
    let cases: Vec<Case> = table.rows.iter().map(case).collect();
    let more = [("time", format!("{:.3}", run.info.elapsed_s)), ("hostname", run.info.target.clone())];
    Some(document(&table.name, &more, &cases))
}

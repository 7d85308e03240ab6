//! A check of a requirement as a JUnit file: one test for each limit, for the pages of build servers.
//!
//! The form is that of the Ant task `junitreport`, which every build server reads. An inconclusive limit is neither
//! passed nor failed: it is an `error`, a test that could not decide.

use iosonde_model::{RequirementVerdict, Run};

use crate::{picture::escaped, text::requirement};

/// The requirement that a run checked, as XML; `None` for other runs.
pub fn junit(run: &Run) -> Option<String> {
    let table = requirement::of_run(run)?;
    let count = |verdict| table.rows.iter().filter(|row| row.verdict == verdict).count();
    let (name, target) = (escaped(&table.name), escaped(&run.info.target));
    let head = format!(
        "name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3}\"",
        table.rows.len(),
        count(RequirementVerdict::Fail),
        count(RequirementVerdict::Inconclusive),
        run.info.elapsed_s
    );
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite {head} hostname=\"{target}\">\n"
    );
    for row in &table.rows {
        let told = format!("{} {}; {} needs {}", row.figure, row.measured, table.name, row.limit);
        let (told, basis) = (escaped(&told), escaped(&format!("{}\n{}", row.basis, table.source)));
        out += &format!("<testcase classname=\"iosonde.{name}\" name=\"{}\"", escaped(&row.figure));
        out += &match row.verdict {
            RequirementVerdict::Pass => format!("><system-out>{told}\n{basis}</system-out></testcase>\n"),
            RequirementVerdict::Fail => {
                format!("><failure message=\"{told}\">{basis}</failure></testcase>\n")
            }
            RequirementVerdict::Inconclusive => {
                format!("><error message=\"inconclusive: {told}\">{basis}</error></testcase>\n")
            }
        };
    }
    Some(out + "</testsuite>\n</testsuites>\n")
}

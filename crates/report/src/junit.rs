//! Another tool's results, judged, as JUnit's XML: a test for each result, which continuous integration shows.

use iosonde_model::Run;
use quick_xml::escape::escape;

use crate::{
    paint::clean,
    text::{
        imported::{ResultLine, of_all, result_lines},
        validity::Weight,
    },
};

/// A test for each result, in the file's order: an invalid one failed; `strict`: one with a warning failed, too.
pub fn junit(run: &Run, strict: bool) -> String {
    let mut lines = result_lines(run);
    lines.sort_by_key(|line| line.trial);
    let failed = |line: &ResultLine| line.mark == Weight::No || (strict && line.mark == Weight::Doubt);
    let all = of_all(run);
    let failures = lines.iter().filter(|line| failed(line)).count();
    let failures = failures + all.iter().filter(|(mark, ..)| strict || *mark == Weight::No).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", lines.len() + all.len());
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"iosonde judge\" {counts}>\n"
    );
    for line in &lines {
        let name = run.trial(line.trial).map_or("", |trial| trial.experiment.as_str());
        let named =
            if name == "result" { line.workload.clone() } else { format!("{name}: {}", line.workload) };
        let (class, named) = (text(&run.info.target), text(&named));
        out += &format!("    <testcase classname=\"{class}\" name=\"{named}\"");
        let (verdict, why) = (text(&line.verdict), text(&line.why));
        out += &if failed(line) {
            format!(">\n      <failure type=\"{verdict}\" message=\"{why}\"/>\n    </testcase>\n")
        } else if why.is_empty() {
            "/>\n".to_owned()
        } else {
            format!(">\n      <system-out>{verdict}: {why}</system-out>\n    </testcase>\n")
        };
    }
    for (mark, verdict, why) in &all {
        let (class, verdict, why) = (text(&run.info.target), text(verdict), text(why));
        out += &format!("    <testcase classname=\"{class}\" name=\"all results\">\n");
        out += &if strict || *mark == Weight::No {
            format!("      <failure type=\"{verdict}\" message=\"{why}\"/>\n    </testcase>\n")
        } else {
            format!("      <system-out>{verdict}: {why}</system-out>\n    </testcase>\n")
        };
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Text without characters that XML does not allow.
fn text(words: &str) -> String {
    escape(clean(words)).into_owned()
}

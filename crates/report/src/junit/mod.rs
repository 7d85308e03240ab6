//! Answers as JUnit's XML, which build servers show: results of another tool, and checks of requirements.
//!
//! The form is that of the Ant task `junitreport`, which every build server reads.

mod requirement;
mod results;

use quick_xml::escape::escape;

use crate::paint::clean;

pub use requirement::requirement_junit;
pub use results::results_junit;

/// A test of one suite.
struct Case {
    class: String,
    name: String,
    outcome: Outcome,
}

/// What a test ended with.
enum Outcome {
    /// With a text, mostly empty.
    Passed(String),
    Failed {
        kind: String,
        message: String,
        text: String,
    },
    /// Neither passed nor failed: it could not decide.
    Undecided {
        message: String,
        text: String,
    },
}

/// One suite of tests; `attributes` are further ones of the suite.
fn document(name: &str, attributes: &[(&str, String)], cases: &[Case]) -> String {
    let count = |wanted: fn(&Outcome) -> bool| cases.iter().filter(|case| wanted(&case.outcome)).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\"",
        cases.len(),
        count(|outcome| matches!(outcome, Outcome::Failed { .. })),
        count(|outcome| matches!(outcome, Outcome::Undecided { .. }))
    );
    let more: String = attributes.iter().map(|(key, value)| format!(" {key}=\"{}\"", text(value))).collect();
    let cases: String = cases.iter().map(case).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  \
         <testsuite name=\"{}\" {counts}{more}>\n{cases}  </testsuite>\n</testsuites>\n",
        text(name)
    )
}

fn case(case: &Case) -> String {
    let inside = match &case.outcome {
        Outcome::Passed(told) if told.is_empty() => None,
        Outcome::Passed(told) => Some(format!("<system-out>{}</system-out>", text(told))),
        Outcome::Failed { kind, message, text: told } => Some(format!(
            "<failure type=\"{}\" message=\"{}\">{}</failure>",
            text(kind),
            text(message),
            text(told)
        )),
        Outcome::Undecided { message, text: told } => {
            Some(format!("<error message=\"{}\">{}</error>", text(message), text(told)))
        }
    };
    let head = format!("    <testcase classname=\"{}\" name=\"{}\"", text(&case.class), text(&case.name));
    match inside {
        None => head + "/>\n",
        Some(inside) => format!("{head}>\n      {inside}\n    </testcase>\n"),
    }
}

/// Text without characters that XML does not allow; its line ends are ours.
fn text(words: &str) -> String {
    words.split('\n').map(|line| escape(clean(line)).into_owned()).collect::<Vec<_>>().join("\n")
}

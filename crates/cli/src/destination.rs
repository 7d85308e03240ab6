//! Where a campaign's results go, and how a command ends that has shown them.

use std::path::{Path, PathBuf};

use iosonde_infer::requirement;
use iosonde_model::{Outcome, Phase, RequirementVerdict, Run, Trial};
use iosonde_report::text;
use iosonde_rig::guard::Protected;

use crate::{
    failure::{DOUBT, Failure, INCONCLUSIVE},
    output::{self, result, write},
    screen::Screen,
};

/// Where results go.
#[derive(Debug, Clone, Default)]
pub struct Destination {
    /// The HTML report.
    pub out: Option<PathBuf>,
    /// The JSON document: `-` is stdout.
    pub json: Option<PathBuf>,
    /// The JUnit file of a check.
    pub junit: Option<PathBuf>,
    /// Whether a warning is a failure.
    pub strict: bool,
    /// Whether the notebook alone gets the result.
    pub kept_only: bool,
}

/// A result in every form that may be requested; a form is made when it is needed.
pub struct Shown<'a> {
    /// For the terminal.
    pub text: &'a dyn Fn() -> String,
    /// The page, where there can be one.
    pub html: &'a dyn Fn() -> Result<Option<Vec<u8>>, Failure>,
    /// The JUnit file, where there is a requirement.
    pub junit: &'a dyn Fn() -> Option<String>,
    /// The document.
    pub json: &'a dyn Fn() -> Result<String, Failure>,
    /// Default name of the page.
    pub name: PathBuf,
    /// What shows it again.
    pub again: String,
}

/// Between the report's name and what shows the run again.
const APART: &str = "     ";

impl Destination {
    /// What cannot be written should be known before an hour of measuring, not after. `apart` is what the run needs.
    pub fn check(&self, apart: &[Protected], screen: Screen) -> Result<(), Failure> {
        if self.out.as_deref() == Some(Path::new("-")) {
            return Err(Failure::usage(
                "-o names the file of the HTML report, and stdout is for the summary; for the report on stdout:  \
                 iosonde report -o -",
            ));
        }
        let out = self.out.as_deref().unwrap_or(Path::new("./iosonde-STUDY-ID.html"));
        let named = [
            ("-o", self.out.as_deref()),
            ("--json", self.json.as_deref()),
            ("--junit", self.junit.as_deref()),
        ];
        for (nth, (option, path)) in named.iter().enumerate() {
            let is_same = |other: &Path| path.is_some_and(|own| output::is_same(own, other));
            let other = named[..nth].iter().find(|(_, other)| other.is_some_and(is_same));
            if let Some((other, _)) = other {
                return Err(Failure::usage(format!(
                    "{other} and {option} name the same file; give each its own"
                )));
            }
        }
        output::check(out, apart, screen)?;
        self.junit.as_deref().map_or(Ok(()), |junit| output::check(junit, apart, screen))?;
        self.json.as_deref().map_or(Ok(()), |json| output::check(json, apart, screen))
    }

    /// The files of the results: no target is one of them.
    pub fn files(&self) -> Vec<Protected> {
        let one = |path: &Option<PathBuf>, what| path.clone().map(|path| Protected { path, what });
        let all = [
            one(&self.out, "the report of this run"),
            one(&self.json, "the JSON document of this run"),
            one(&self.junit, "the JUnit file of this run"),
        ];
        all.into_iter().flatten().collect()
    }

    /// Prints the summary and writes the requested files.
    pub fn show(&self, shown: Shown, screen: Screen) -> Result<(), Failure> {
        let json_to_stdout = self.json.as_deref() == Some(Path::new("-"));
        // The summary first: whatever becomes of the files, it has been seen.
        if !json_to_stdout && self.junit.as_deref() != Some(Path::new("-")) {
            screen.result(&(shown.text)())?;
        }
        let path = self.out.clone().unwrap_or(shown.name);
        let page = (shown.html)()?;
        if let Some(page) = &page {
            write(&path, page, screen).map_err(elsewhere)?;
        }
        if let (Some(junit), Some(text)) = (&self.junit, (shown.junit)()) {
            result(junit, &text, screen).map_err(elsewhere)?;
        }
        if let Some(json) = &self.json {
            let text = (shown.json)()?;
            if json_to_stdout {
                screen.result(&text)?
            } else {
                write(json, text.as_bytes(), screen).map_err(elsewhere)?
            }
        }
        if !json_to_stdout && self.junit.as_deref() != Some(Path::new("-")) {
            let again = format!("show again  `{}`", shown.again);
            let lines = match page.map(|_| format!("report  {}", path.display())) {
                // Side by side where there is room: neither name can be broken.
                Some(report)
                    if (report.chars().count() + APART.len() + again.chars().count()) <= screen.width =>
                {
                    format!("{report}{APART}{again}")
                }
                Some(report) => format!("{report}\n{again}"),
                None => again,
            };
            screen.result(&format!("\n{lines}\n"))?;
        }
        Ok(())
    }
}

/// Where a report could not be written, the run is not lost.
fn elsewhere(failure: Failure) -> Failure {
    let text = format!(
        "{}. The run is kept; write its report elsewhere with `iosonde report -o PATH`",
        failure.text
    );
    Failure { text, ..failure }
}

/// How a command ends that has shown a run: nothing worked, which is no result at all, or `--strict` and a warning.
pub fn failure_of(run: &Run, strict: bool) -> Option<Failure> {
    if let Some(why) = nothing_worked(run) {
        return Some(Failure::failed(why));
    }
    if let Some(answer) = requirement_of(run).filter(|answer| *answer != RequirementVerdict::Pass) {
        let code = if answer == RequirementVerdict::Fail { DOUBT } else { INCONCLUSIVE };
        // The screen has said why.
        return Some(Failure { code, text: String::new() });
    }
    let doubtful = run.verdicts.iter().any(|verdict| verdict.verdict >= Outcome::Warning);
    (strict && doubtful)
        .then(|| Failure { code: DOUBT, text: "--strict: a verdict is a warning or invalid".into() })
}

/// The answer to the requirement that a run checked; `None` for other runs.
fn requirement_of(run: &Run) -> Option<RequirementVerdict> {
    requirement::checked(run).map(|(_, lines)| requirement::verdict(&lines))
}

/// Why a run is no result at all: every request of it failed.
fn nothing_worked(run: &Run) -> Option<String> {
    let measured = || run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let done: u64 = measured().flat_map(Trial::directions).map(|(_, direction)| direction.ios).sum();
    let failed = measured().rfind(|trial| trial.errors() > 0).filter(|_| done == 0)?;
    let example = failed.error_examples.first();
    let example = example.map_or_else(|| "the system did not say why".to_owned(), text::counted_error);
    Some(format!("{}: every request failed ({example})", run.info.target))
}

/// `iosonde-quick-7f3a91.html`, here.
pub fn default_out(run: &Run, extension: &str) -> PathBuf {
    let safe = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
    };
    PathBuf::from(format!("iosonde-{}-{}.{extension}", safe(&run.info.study), safe(&run.info.id)))
}

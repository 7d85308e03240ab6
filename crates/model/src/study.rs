//! A list of experiments with their parameters: a TOML file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    requirement::{Requirement, RequirementFile},
    sheet::{Sheet, SheetFile},
    toml_file::{FileError, Problem, TextPosition, TomlDocument},
    units::{Percentage, SizeBytes, TimeNs},
};

/// Study as defined in a TOML file.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Name of the study: `quick`.
    pub name: String,
    /// Question that the study answers.
    pub question: String,
    /// Default budget, preparation included.
    pub time_ns: u64,
    /// Default precision: half an interval's width as a share of the value.
    pub precision: f64,
    /// Default size of the prepared area.
    pub size_bytes: Option<u64>,
    /// The part of it that is addressed, from its beginning; all where absent.
    pub span_bytes: Option<u64>,
    /// True if points that write follow those that only read, within each round.
    pub reads_first: bool,
    /// Points that may be added to those of the grid.
    pub adaptive: Adaptive,
    /// The experiments, in order.
    pub experiments: Vec<ExperimentSpec>,
    /// The vendor's sheet whose lines it measures.
    pub sheet: Option<Sheet>,
    /// The requirement whose figures it measures.
    pub requirement: Option<Requirement>,
    /// The file's text.
    pub source: String,
}

/// Points that may be added to those of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adaptive {
    /// None.
    No,
    /// Deeper queues, where throughput still rises at the deepest.
    Deeper,
    /// These, and points between those of the grid that narrow a finding.
    All,
}

/// Experiment of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentSpec {
    /// A registered experiment.
    pub kind: String,
    /// Name in this study; the name of its kind unless the study gives another.
    pub name: String,
    /// Kind of storage that the experiment is limited to; `None` for any storage.
    pub only_on: Option<StorageKind>,
    /// Parameters, checked by the experiment.
    pub parameters: toml::Table,
    /// Line of its table in the file, from 1.
    pub line: usize,
    /// Lines of its keys.
    pub lines: BTreeMap<String, usize>,
}

/// Kind of storage that an experiment may be limited to: `only_on = "rotating"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StorageKind {
    /// Platters and an arm.
    Rotating,
    /// Neither.
    Solid,
}

impl StorageKind {
    /// Returns true if storage that `rotates` or not is of this kind; true as well where that is unknown.
    pub fn may_be(self, rotates: Option<bool>) -> bool {
        rotates.is_none_or(|rotates| rotates == (self == Self::Rotating))
    }
}

#[derive(Deserialize)]
struct StudyFile {
    // Checked before all else: a newer version's keys would be unknown.
    #[serde(rename = "iosonde")]
    _iosonde: Option<String>,
    name: String,
    question: String,
    time: Option<TimeNs>,
    precision: Option<Percentage>,
    size: Option<SizeBytes>,
    span: Option<SizeBytes>,
    #[serde(default)]
    order: Order,
    #[serde(default)]
    adaptive: AdaptiveKey,
    experiment: Vec<ExperimentFile>,
    sheet: Option<SheetFile>,
    requirement: Option<RequirementFile>,
}

/// `adaptive = true`, `false` or `"deeper"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected true, false or \"deeper\"")]
enum AdaptiveKey {
    All(bool),
    Only(Deeper),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Deeper {
    Deeper,
}

impl Default for AdaptiveKey {
    fn default() -> Self {
        Self::All(false)
    }
}

impl From<AdaptiveKey> for Adaptive {
    fn from(key: AdaptiveKey) -> Self {
        match key {
            AdaptiveKey::All(false) => Self::No,
            AdaptiveKey::All(true) => Self::All,
            AdaptiveKey::Only(Deeper::Deeper) => Self::Deeper,
        }
    }
}

/// Order of the points within a round.
#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    #[default]
    Random,
    ReadsFirst,
}

#[derive(Deserialize)]
struct ExperimentFile {
    kind: String,
    name: Option<String>,
    only_on: Option<StorageKind>,
    #[serde(flatten)]
    parameters: toml::Table,
}

/// Examples of what a study cannot do without.
const NEEDED: &[(&str, &str)] = &[
    ("name", "for example name = \"my-study\""),
    ("question", "for example question = \"What is to be known?\""),
    (
        "experiment",
        "write [[experiment]] and kind = \"queue-depth\" below it; `iosonde experiments` lists them",
    ),
    ("sheet.claim", "add a [[sheet.claim]] with line, rw and value"),
    ("experiment.kind", "for example kind = \"queue-depth\"; `iosonde experiments` lists them"),
];

/// What people write one table too early.
const EXPERIMENT_KEYS: [&str; 6] = ["kind", "rw", "block_size", "depth", "jobs", "engine"];

impl Study {
    /// Reads a study's text; `origin` is what errors call it.
    ///
    /// # Errors
    /// Returns the place, the key and the rule that it breaks.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let document = TomlDocument::parse(text, format!("study {origin}"))?;
        refuse_a_newer_version(&document)?;
        let file: StudyFile = document.read().map_err(explained)?;
        if file.experiment.is_empty() {
            return Err(document.missing("experiment", "").explained(NEEDED));
        }
        if file.sheet.as_ref().is_some_and(|sheet| sheet.claim.is_empty()) {
            return Err(document.missing("sheet.claim", "").explained(NEEDED));
        }
        let requirement = file.requirement.map(|own| Requirement::checked(own, &document, "requirement."));
        let mut experiments: Vec<ExperimentSpec> = Vec::new();
        for (index, table) in file.experiment.into_iter().enumerate() {
            let ExperimentFile { kind, name, only_on, parameters } = table;
            let name = name.unwrap_or_else(|| kind.clone());
            let (line, lines) = lines(&document, index);
            if experiments.iter().any(|known| known.name == name) {
                let twice =
                    format!("two experiments are named `{name}`; give one of them another `name = \"..\"`");
                let place = Some(TextPosition { line, column: 1 });
                return Err(FileError { place, ..document.whole(twice) });
            }
            experiments.push(ExperimentSpec { kind, name, only_on, parameters, line, lines });
        }
        Ok(Self {
            name: file.name,
            question: file.question,
            time_ns: file.time.map_or(300_000_000_000, |time| time.0),
            precision: file.precision.map_or(0.02, |precision| precision.0),
            size_bytes: file.size.map(|size| size.0),
            span_bytes: file.span.map(|span| span.0),
            reads_first: matches!(file.order, Order::ReadsFirst),
            adaptive: file.adaptive.into(),
            experiments,
            sheet: file.sheet.map(Sheet::from),
            requirement: requirement.transpose()?,
            source: text.to_owned(),
        })
    }

    /// Returns the line of an experiment's key, or of the experiment's beginning; `None` for an experiment that is not
    /// in the file.
    pub fn line_of(&self, experiment: &str, key: Option<&str>) -> Option<usize> {
        let spec = self.experiments.iter().find(|spec| spec.name == experiment)?;
        Some(key.and_then(|key| spec.lines.get(key)).copied().unwrap_or(spec.line))
    }
}

/// Lines of an experiment's table and of its keys.
fn lines(document: &TomlDocument, index: usize) -> (usize, BTreeMap<String, usize>) {
    let table = document.get("experiment").and_then(|list| list.get_ref().get(index));
    let table = table.expect("the experiment was just read from it");
    let keys = table.get_ref().as_table().into_iter().flatten();
    let lines = keys.map(|(key, _)| (key.get_ref().to_string(), document.line(key.span().start)));
    (document.line(table.span().start), lines.collect())
}

fn explained(mut error: FileError) -> FileError {
    if let (Problem::Unknown { belongs_to, .. }, Some(key)) = (&mut *error.problem, error.key.as_deref()) {
        *belongs_to = EXPERIMENT_KEYS.contains(&key).then_some("[[experiment]]");
    }
    error.explained(NEEDED)
}

/// A study may say for which version it was written: `iosonde = "0.3"`.
fn refuse_a_newer_version(document: &TomlDocument) -> Result<(), FileError> {
    let wanted = document.get("iosonde").and_then(|value| value.get_ref().as_str());
    let Some(wanted) = wanted else { return Ok(()) };
    let own = env!("CARGO_PKG_VERSION");
    let why = match (version(wanted), version(own)) {
        (None, _) => format!("`{wanted}` is not a version; write for example iosonde = \"{own}\""),
        (Some(wanted_parts), Some(own_parts)) if wanted_parts > own_parts => format!(
            "this study was written for iosonde {wanted}, and this is {own}: take a newer iosonde, or leave the line \
             out and see what is not understood"
        ),
        _ => return Ok(()),
    };
    Err(document.error("iosonde", Problem::Value(why)))
}

/// The numbers of a version: what is left out is 0.
fn version(text: &str) -> Option<[u64; 3]> {
    let mut parts = [0; 3];
    let numbers: Vec<&str> = text.split('.').collect();
    if numbers.len() > parts.len() {
        return None;
    }
    for (part, number) in parts.iter_mut().zip(numbers) {
        *part = number.parse().ok()?;
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_experiments_with_their_parameters() {
        let study = Study::parse(
            "name = \"x\"\nquestion = \"?\"\ntime = \"4m\"\n[[experiment]]\nkind = \"queue-depth\"\ndepth = \"1..8*2\"",
            "x.toml",
        )
        .unwrap();
        assert_eq!(study.time_ns, 240_000_000_000);
        assert_eq!(study.experiments[0].name, "queue-depth");
        assert_eq!(study.experiments[0].parameters["depth"].as_str(), Some("1..8*2"));
    }

    fn said(text: &str) -> String {
        let error = Study::parse(text, "x.toml").expect_err(text).to_string();
        assert!(!error.contains('\n'), "more than one line: {error}");
        error
    }

    #[test]
    fn every_error_is_one_line_with_its_place_and_a_remedy() {
        let head = "name = \"x\"\nquestion = \"?\"\n";
        let cases = [
            (
                "tiem = \"4m\"\nexperiment = []",
                "x.toml:3:1: the file has no key `tiem`; did you mean `time`?",
            ),
            (
                "depth = 4\nexperiment = []",
                "x.toml:3:1: the file has no key `depth`; `depth` belongs under [[experiment]]",
            ),
            (
                "flavour = 4\nexperiment = []",
                "`flavour` (it has iosonde, name, question, time, precision, size, ",
            ),
            ("time = 4\nexperiment = []", "x.toml:3:8: `time` must be a time such as \"80us\", not 4"),
            ("\ntime = \"4x\"\nexperiment = []", "x.toml:4:8: `time`: `4x` is not a time; write for example"),
            ("", "study x.toml: the file lacks `experiment` (write [[experiment]]"),
            ("experiment = []", "study x.toml: the file lacks `experiment` (write [[experiment]]"),
            (
                "order = \"sorted\"\nexperiment = []",
                "x.toml:3:9: `order` is one of \"random\", \"reads-first\", not \"sorted\"",
            ),
            (
                "[[experiment]]\nkind = \"mix\"\n[sheet]\nname = \"y\"\nsummary = \"\"\nsource = \"\"\nclaim = []",
                "[sheet] lacks `claim` (add a [[sheet.claim]]",
            ),
            ("[[experiment]]\nname = \"a\"", "x.toml:3:1: [experiment] lacks `kind` (for example kind ="),
            ("[[experiment]]\nkind = 4", "x.toml:4:8: [experiment] kind must be text in quotes, not 4"),
            (
                "[[experiment]]\nkind = \"disk\"\nonly_on = \"tape\"",
                "x.toml:5:11: [experiment] only_on is one of \"rotating\", \"solid\", not \"tape\"",
            ),
            ("time = \"4m\nexperiment = []", "x.toml:3:11: this is not TOML: "),
            (
                "iosonde = \"99.1\"\nflavour = 4",
                "x.toml:3:11: `iosonde`: this study was written for iosonde 99.1, and this is",
            ),
            ("iosonde = \"new\"\nexperiment = []", "x.toml:3:11: `iosonde`: `new` is not a version"),
            ("[[experiment]\nkind = \"mix\"", "x.toml:3:14: this is not TOML: "),
        ];
        for (rest, wanted) in cases {
            let error = said(&format!("{head}{rest}"));
            assert!(error.contains(wanted), "{error}\nlacks {wanted}");
        }
        assert!(said("question = \"?\"").contains("lacks `name` (for example name = \"my-study\")"));
    }

    #[test]
    fn a_name_given_twice_is_said() {
        let twice =
            "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"mix\"\n[[experiment]]\nkind = \"mix\"";
        assert!(said(twice).contains("x.toml:5:1: two experiments are named `mix`"));
    }

    #[test]
    fn a_parameter_is_found_on_its_line() {
        let text = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"mix\"\n\n[[experiment]]\n\
                    kind = \"queue-depth\"\nblock_size = \"4k\"\n  depth= [1]\n[[experiment]]\nkind=\"block-size\"\n\
                    depth = 3\n";
        let study = Study::parse(text, "x.toml").unwrap();
        assert_eq!(study.line_of("queue-depth", Some("depth")), Some(9));
        assert_eq!(study.line_of("queue-depth", Some("block")), Some(6));
        assert_eq!(study.line_of("mix", Some("depth")), Some(3));
        assert_eq!(study.line_of("block-size", Some("depth")), Some(12));
        assert_eq!(study.line_of("other", None), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,60}", lines in prop::collection::vec("[a-z\\[\\]=\"0-9 ]{0,20}", 0..6)) {
            let _ = Study::parse(&text, "x");
            let _ = Study::parse(&lines.join("\n"), "x").map_err(|error| error.to_string());
        }
    }
}

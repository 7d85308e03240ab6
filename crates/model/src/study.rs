//! A list of experiments with their parameters: a TOML file.

use serde::Deserialize;
use toml::Spanned;

use crate::{Device, nearest, units};

/// What a TOML file says is to be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Its name: `quick`.
    pub name: String,
    /// What it answers.
    pub question: String,
    /// Default budget, preparation included.
    pub time_ns: u64,
    /// Default precision: half an interval's width as a share of the value.
    pub precision: f64,
    /// Default size of the prepared area.
    pub size_bytes: Option<u64>,
    /// The part of it that is addressed, from its beginning; all where absent.
    pub span_bytes: Option<u64>,
    /// Whether within each round points that write come after those that only read.
    pub reads_first: bool,
    /// Whether points are added between the grid's where they narrow a finding.
    pub adaptive: bool,
    /// The experiments, in order.
    pub experiments: Vec<ExperimentSpec>,
    /// The file's text.
    pub source: String,
}

/// One experiment of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentSpec {
    /// A registered experiment.
    pub kind: String,
    /// What to call it here; the kind's name unless the study says otherwise.
    pub name: String,
    /// The storage that it asks about, where it would tell nothing of other storage.
    pub only_on: Option<StorageKind>,
    /// Its parameters, checked by the experiment.
    pub parameters: toml::Table,
    /// Where its table begins in the file, counted from 1.
    pub line: usize,
}

/// What an experiment may be confined to: `only_on = "rotating"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageKind {
    /// Platters and an arm.
    Rotating,
    /// Neither.
    Solid,
}

impl StorageKind {
    /// Whether a device is of this kind; one that does not say may be.
    pub fn may_be(self, device: &Device) -> bool {
        device.rotates().is_none_or(|rotates| rotates == (self == Self::Rotating))
    }

    /// Why it tells nothing of other storage.
    pub fn why(self) -> &'static str {
        match self {
            Self::Rotating => "it asks about platters and an arm, and nothing turns here",
            Self::Solid => "it asks about storage without an arm, and this is a disk that turns",
        }
    }
}

/// A study that cannot be read, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("study {origin}{}: {message}", .line.map_or_else(String::new, |line| format!(":{line}")))]
pub struct StudyError {
    /// The file or the built-in name.
    pub origin: String,
    /// The line, counted from 1, where there is one to point at.
    pub line: Option<usize>,
    /// What is wrong, and what would be right.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyFile {
    // Read before all else: a newer version's keys would be unknown.
    #[serde(rename = "iosonde")]
    _iosonde: Option<String>,
    name: String,
    question: String,
    time: Option<Spanned<String>>,
    precision: Option<Spanned<String>>,
    size: Option<Spanned<String>>,
    span: Option<Spanned<String>>,
    order: Option<Spanned<String>>,
    #[serde(default)]
    adaptive: bool,
    experiment: Vec<Spanned<toml::Table>>,
}

impl Study {
    /// Reads a study's text; `origin` is what errors call it.
    pub fn parse(text: &str, origin: &str) -> Result<Self, StudyError> {
        let reader = Reader { text, origin };
        reader.refuse_a_newer_version()?;
        let file: StudyFile = toml::from_str(text).map_err(|error| reader.not_read(&error))?;
        let mut experiments: Vec<ExperimentSpec> = Vec::new();
        for table in file.experiment {
            let experiment = reader.experiment(table)?;
            if experiments.iter().any(|known| known.name == experiment.name) {
                let name = &experiment.name;
                let message =
                    format!("two experiments are named `{name}`; give one of them another `name = \"..\"`");
                return Err(StudyError { line: Some(experiment.line), ..reader.fail(None, message) });
            }
            experiments.push(experiment);
        }
        let study = Self {
            name: file.name,
            question: file.question,
            time_ns: reader.quantity(&file.time, units::parse_time_with_unit)?.unwrap_or(300_000_000_000),
            precision: reader.quantity(&file.precision, units::parse_percent)?.unwrap_or(0.02),
            size_bytes: reader.quantity(&file.size, units::parse_size)?,
            span_bytes: reader.quantity(&file.span, units::parse_size)?,
            reads_first: reader.reads_first(&file.order)?,
            adaptive: file.adaptive,
            experiments,
            source: text.to_owned(),
        };
        if study.experiments.is_empty() {
            let message = "it asks nothing; write [[experiment]] and kind = \"queue-depth\" below it \
                           (`iosonde experiments` lists them)";
            return Err(reader.fail(None, message.to_owned()));
        }
        Ok(study)
    }

    /// The line of the file that an experiment's key stands on, or where the experiment begins; `None` for an
    /// experiment that is not in it.
    pub fn line_of(&self, experiment: &str, key: Option<&str>) -> Option<usize> {
        let begins = self.experiments.iter().find(|spec| spec.name == experiment)?.line;
        let inside = self.source.lines().zip(1..).skip(begins);
        let mut inside = inside.take_while(|(line, _)| !line.trim_start().starts_with('['));
        let is_key = |line: &str, key: &str| {
            line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        let stands = key.and_then(|key| inside.find(|(line, _)| is_key(line, key)));
        Some(stands.map_or(begins, |(_, line)| line))
    }
}

/// A study's text, and how its errors are said.
struct Reader<'a> {
    text: &'a str,
    origin: &'a str,
}

impl Reader<'_> {
    /// An error at a byte of the text.
    fn fail(&self, at: Option<usize>, message: String) -> StudyError {
        StudyError { origin: self.origin.to_owned(), line: at.map(|at| self.line(at)), message }
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
    }

    /// A study may say for which version it was written: `iosonde = "0.3"`.
    fn refuse_a_newer_version(&self) -> Result<(), StudyError> {
        // What is no TOML, or no text, is said where the whole is read.
        let Ok(table) = toml::from_str::<toml::Table>(self.text) else { return Ok(()) };
        let Some(wanted) = table.get("iosonde").and_then(toml::Value::as_str) else { return Ok(()) };
        let line = self.text.lines().position(|line| line.trim_start().starts_with("iosonde"));
        let fail = |message| Err(StudyError { line: line.map(|at| at + 1), ..self.fail(None, message) });
        let own = env!("CARGO_PKG_VERSION");
        match (version(wanted), version(own)) {
            (None, _) => fail(format!("`{wanted}` is not a version; write for example iosonde = \"{own}\"")),
            (Some(wanted_parts), Some(own_parts)) if wanted_parts > own_parts => fail(format!(
                "this study was written for iosonde {wanted}, and this is {own}: take a newer iosonde, or leave the \
                 line out and see what is not understood"
            )),
            _ => Ok(()),
        }
    }

    fn quantity<T>(
        &self,
        text: &Option<Spanned<String>>,
        read: impl Fn(&str) -> Result<T, units::ParseQuantity>,
    ) -> Result<Option<T>, StudyError> {
        let Some(text) = text else { return Ok(None) };
        read(text.get_ref()).map(Some).map_err(|error| self.fail(Some(text.span().start), error.to_string()))
    }

    fn reads_first(&self, order: &Option<Spanned<String>>) -> Result<bool, StudyError> {
        let Some(order) = order else { return Ok(false) };
        match order.get_ref().as_str() {
            "random" => Ok(false),
            "reads-first" => Ok(true),
            other => Err(self.fail(
                Some(order.span().start),
                format!("an order within rounds is \"random\" or \"reads-first\", not \"{other}\""),
            )),
        }
    }

    fn experiment(&self, table: Spanned<toml::Table>) -> Result<ExperimentSpec, StudyError> {
        let at = table.span().start;
        let mut parameters = table.into_inner();
        let mut take = |key: &str| match parameters.remove(key) {
            Some(toml::Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.fail(Some(at), format!("`{key}` must be text, not {other}"))),
            None => Ok(None),
        };
        let kind = take("kind")?.ok_or_else(|| {
            let example = "an [[experiment]] has no `kind`; write for example kind = \"queue-depth\"";
            self.fail(Some(at), format!("{example} (`iosonde experiments` lists them)"))
        })?;
        let name = take("name")?.unwrap_or_else(|| kind.clone());
        let only_on = match take("only_on")?.as_deref() {
            None => None,
            Some("rotating") => Some(StorageKind::Rotating),
            Some("solid") => Some(StorageKind::Solid),
            Some(other) => {
                let message = format!("`only_on` is \"rotating\" or \"solid\", not \"{other}\"");
                return Err(self.fail(Some(at), message));
            }
        };
        Ok(ExperimentSpec { kind, name, only_on, parameters, line: self.line(at) })
    }

    /// What serde and the TOML parser say, in one line and with the likeliest remedy.
    fn not_read(&self, error: &toml::de::Error) -> StudyError {
        let words = error.message();
        let quoted: Vec<&str> = words.split('`').skip(1).step_by(2).collect();
        let at = error.span().map(|span| span.start);
        if words.starts_with("unknown field")
            && let [typed, keys @ ..] = &quoted[..]
        {
            let hint = match nearest(typed, keys.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if EXPERIMENT_KEYS.contains(typed) => format!("`{typed}` belongs under [[experiment]]"),
                None => format!("it has {} and [[experiment]]", TOP_KEYS.join(", ")),
            };
            return self.fail(at, format!("a study has no key `{typed}`; {hint}"));
        }
        if words.starts_with("missing field")
            && let [key] = &quoted[..]
        {
            let example = match *key {
                "name" => "name = \"my-study\"",
                "experiment" => "[[experiment]] with kind = \"queue-depth\" below it",
                _ => "question = \"What is to be known?\"",
            };
            // Of the whole file: no line is to blame.
            return self.fail(None, format!("`{key}` is missing; write for example {example}"));
        }
        if let Some((got, wanted)) =
            words.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
        {
            return self.fail(
                at,
                format!("this must be {}, not {got}", wanted.replace("a string", "text in quotes")),
            );
        }
        let words: Vec<&str> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        self.fail(at, format!("this is not TOML: {}", words.join("; ")))
    }
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

const TOP_KEYS: [&str; 9] =
    ["name", "question", "time", "precision", "size", "span", "order", "adaptive", "iosonde"];
/// What people write one table too early.
const EXPERIMENT_KEYS: [&str; 6] = ["kind", "rw", "block_size", "depth", "jobs", "engine"];

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
            ("tiem = \"4m\"\nexperiment = []", "x.toml:3: a study has no key `tiem`; did you mean `time`?"),
            ("depth = 4\nexperiment = []", "x.toml:3: a study has no key `depth`; `depth` belongs under"),
            (
                "flavour = 4\nexperiment = []",
                "`flavour`; it has name, question, time, precision, size, span, order, adaptive, iosonde and",
            ),
            ("time = 4\nexperiment = []", "x.toml:3: this must be text in quotes, not integer `4`"),
            ("\ntime = \"4x\"\nexperiment = []", "x.toml:4: `4x` is not a time; write for example"),
            ("", "study x.toml: `experiment` is missing; write for example [[experiment]]"),
            ("experiment = []", "study x.toml: it asks nothing; write [[experiment]]"),
            ("order = \"sorted\"\nexperiment = []", "x.toml:3: an order within rounds is"),
            ("order = \"sorted\"\n[[experiment]]\nkind = \"mix\"", "x.toml:3: an order within rounds is"),
            ("[[experiment]]\nname = \"a\"", "x.toml:3: an [[experiment]] has no `kind`; write for example"),
            ("[[experiment]]\nkind = 4", "x.toml:3: `kind` must be text, not 4"),
            ("time = \"4m\nexperiment = []", "x.toml:3: this is not TOML: "),
            (
                "iosonde = \"99.1\"\nflavour = 4",
                "x.toml:3: this study was written for iosonde 99.1, and this is",
            ),
            ("iosonde = \"new\"\nexperiment = []", "x.toml:3: `new` is not a version"),
            ("[[experiment]\nkind = \"mix\"", "x.toml:3: this is not TOML: "),
        ];
        for (rest, wanted) in cases {
            let error = said(&format!("{head}{rest}"));
            assert!(error.contains(wanted), "{error}\nlacks {wanted}");
        }
        assert!(
            said("question = \"?\"").contains("`name` is missing; write for example name = \"my-study\"")
        );
    }

    #[test]
    fn a_name_given_twice_is_said() {
        let twice =
            "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"mix\"\n[[experiment]]\nkind = \"mix\"";
        assert!(said(twice).contains("x.toml:5: two experiments are named `mix`"));
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

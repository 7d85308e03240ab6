//! A list of experiments with their parameters: a TOML file.

use serde::Deserialize;

use crate::units;

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
    /// Its parameters, checked by the experiment.
    pub parameters: toml::Table,
}

/// A study that cannot be read, and where.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("study {origin}: {message}")]
pub struct StudyError {
    /// The file or the built-in name.
    pub origin: String,
    /// What is wrong, and with what.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyFile {
    name: String,
    question: String,
    time: Option<String>,
    precision: Option<String>,
    size: Option<String>,
    experiment: Vec<toml::Table>,
}

impl Study {
    /// Reads a study's text; `origin` is what errors call it.
    pub fn parse(text: &str, origin: &str) -> Result<Self, StudyError> {
        let fail = |message: String| StudyError { origin: origin.to_owned(), message };
        let file: StudyFile = toml::from_str(text).map_err(|e| fail(e.to_string().trim_end().to_owned()))?;
        let quantity = |e: units::ParseQuantity| fail(e.to_string());
        let mut experiments: Vec<ExperimentSpec> = Vec::new();
        for mut table in file.experiment {
            let mut take = |key: &str| match table.remove(key) {
                Some(toml::Value::String(text)) => Ok(Some(text)),
                Some(other) => Err(fail(format!("`{key}` must be text, not {other}"))),
                None => Ok(None),
            };
            let kind = take("kind")?.ok_or_else(|| fail("an [[experiment]] has no `kind`".into()))?;
            let name = take("name")?.unwrap_or_else(|| kind.clone());
            if experiments.iter().any(|e| e.name == name) {
                return Err(fail(format!(
                    "two experiments are named `{name}`; give one of them another `name = \"..\"`"
                )));
            }
            experiments.push(ExperimentSpec { kind, name, parameters: table });
        }
        Ok(Self {
            name: file.name,
            question: file.question,
            time_ns: file.time.as_deref().map_or(Ok(300_000_000_000), units::parse_time).map_err(quantity)?,
            precision: file.precision.as_deref().map_or(Ok(0.02), units::parse_percent).map_err(quantity)?,
            size_bytes: file.size.as_deref().map(units::parse_size).transpose().map_err(quantity)?,
            experiments,
            source: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_wrong_key_or_a_name_given_twice_is_said() {
        let wrong = Study::parse("name = \"x\"\nquestion = \"?\"\ntiem = \"4m\"\nexperiment = []", "x.toml");
        assert!(wrong.unwrap_err().to_string().contains("tiem"));
        let twice =
            "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"mix\"\n[[experiment]]\nkind = \"mix\"";
        assert!(Study::parse(twice, "x.toml").unwrap_err().message.contains("named `mix`"));
    }
}

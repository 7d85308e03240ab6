//! A run in a file of its own, as `export -f run` (or `-f json`) wrote it.

use serde::Deserialize;
use serde_json::Value;
use std::{fs::File, io::Read, path::Path, str::FromStr};

use iosonde_model::{CheckName, FindingName, RUN_SCHEMA, Run};

use crate::{
    read::restore_histograms,
    text_file::{VALUES_MAX, read_text, values_of},
};

/// The largest run that is read: one of 1,000 trials has some 20 MB.
const BYTES_MAX: u64 = 256 << 20;

/// As much as it takes to know a run's file.
const BEGIN_BYTES: u64 = 64;

/// A file that holds no run that this version can open. Each is a sentence with the file's name.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The sentences say what the variants mean.
pub enum RunFileError {
    #[error("{path} cannot be read: {source}")]
    Read { path: String, source: std::io::Error },
    #[error(
        "{path} holds no run: {why}; `iosonde export RUN -f run` writes one, and `iosonde judge` reads other tools' \
         results"
    )]
    NoRun { path: String, why: String },
    #[error(
        "{path} was written by iosonde {iosonde} in schema {schema}, and this one knows up to {RUN_SCHEMA}; use the \
         newer one"
    )]
    Newer { path: String, iosonde: String, schema: u64 },
}

/// What a document says of the program that wrote it.
#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    schema: u64,
    #[serde(default = "unknown_version")]
    iosonde: String,
}

fn unknown_version() -> String {
    "of an unknown version".to_owned()
}

/// True of a file that begins as a run's does.
pub fn holds_run(path: &Path) -> bool {
    // A pipe has a beginning only once.
    let begin = path.is_file().then(|| {
        let mut begin = Vec::new();
        File::open(path)?.take(BEGIN_BYTES).read_to_end(&mut begin).map(|_| begin)
    });
    let Some(Ok(begin)) = begin else { return false };
    begins_as_run(&String::from_utf8_lossy(&begin))
}

/// True of a text that begins as a run's does.
pub(crate) fn begins_as_run(text: &str) -> bool {
    text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"iosonde\""))
}

/// Reads a run from a file. Its conclusions are kept as written; conclude again to judge with this version.
///
/// # Errors
/// Returns a [`RunFileError`] if the file cannot be read, holds no run, or a run of a newer version.
pub fn read_run(path: &Path) -> Result<Run, RunFileError> {
    let name = path.display().to_string();
    let text =
        read_text(path, BYTES_MAX).map_err(|source| RunFileError::Read { path: name.clone(), source })?;
    parse(&text, name)
}

fn parse(text: &str, path: String) -> Result<Run, RunFileError> {
    let no_run =
        |error: serde_json::Error| RunFileError::NoRun { path: path.clone(), why: error.to_string() };
    // What is not read takes no memory, whatever it is.
    let Version { schema, iosonde } = serde_json::from_str(text).map_err(no_run)?;
    if schema > u64::from(RUN_SCHEMA) {
        return Err(RunFileError::Newer { path, iosonde, schema });
    }
    let mut run: Run = match serde_json::from_str(text) {
        Ok(run) => run,
        // It may have names that only a later version knows.
        Err(_) if values_of(text) <= VALUES_MAX => {
            let mut document: Value = serde_json::from_str(text).map_err(no_run)?;
            leave_out_later_names(&mut document);
            serde_json::from_value(document).map_err(no_run)?
        }
        Err(error) => return Err(no_run(error)),
    };
    run.trials.iter_mut().for_each(restore_histograms);
    Ok(run)
}

/// Leaves out verdicts, findings and advice under names that only a later version of this schema knows.
fn leave_out_later_names(document: &mut Value) {
    // A name that is no text is an error when the run is read.
    fn known<Name: FromStr>(name: &Value) -> bool {
        name.as_str().is_none_or(|name| name.parse::<Name>().is_ok())
    }
    let mut retain = |key: &str, keep: &dyn Fn(&Value) -> bool| {
        if let Some(list) = document.get_mut(key).and_then(Value::as_array_mut) {
            list.retain(keep);
        }
    };
    retain("verdicts", &|one| known::<CheckName>(&one["check"]));
    retain("findings", &|one| known::<FindingName>(&one["name"]));
    retain("advice", &|one| {
        one["findings"].as_array().is_none_or(|names| names.iter().all(known::<FindingName>))
    });
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use iosonde_model::{Device, Host, IMPORT, RunInfo, RunState};

    /// A run of the fixture's results.
    pub(crate) fn imported() -> Run {
        let trials = crate::import::import(include_str!("../tests/data/fio-3.33-jobs.json")).unwrap().trials;
        let info = RunInfo {
            id: "abc".into(),
            label: None,
            note: None,
            study: IMPORT.into(),
            series: None,
            in_turn_with: Vec::new(),
            over: None,
            against: None,
            repeat: None,
            study_source: String::new(),
            target: "jobs.json".into(),
            seed: 0,
            started_at: "2026-01-01T00:00:00Z".into(),
            elapsed_s: 3.0,
            state: RunState::Done,
            command: String::new(),
            bytes_written: 0,
            budget_s: None,
            precision: 0.0,
            confidence: 0.95,
            rounds: 1,
            device: Device::unknown("imported", 0),
            host: Host::default(),
            options: serde_json::Value::Null,
            hosts: Vec::new(),
            fio: None,
        };
        Run::new(info, trials)
    }

    #[test]
    fn what_was_written_reads_back() {
        let run = imported();
        // The others are for other programs.
        let whole = |name| ["run", "json"].contains(&name);
        for format in crate::export::EXPORTS.iter().filter(|format| whole(format.name())) {
            let text = format.write(&run).unwrap();
            assert_eq!(parse(&text, "f".into()).unwrap(), run, "{}", format.name());
        }
    }

    /// Takes every absent value out, as a program did that did not know the key yet, and adds a key that none knows.
    fn as_before(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(map) => {
                map.retain(|_, value| !value.is_null());
                map.values_mut().for_each(as_before);
            }
            serde_json::Value::Array(list) => list.iter_mut().for_each(as_before),
            _ => {}
        }
    }

    #[test]
    fn a_file_of_before_a_key_was_added_opens_and_so_does_one_of_after() {
        let run = imported();
        let mut document = serde_json::to_value(&run).unwrap();
        as_before(&mut document);
        for place in ["", "/run", "/run/device", "/trials/0", "/trials/0/spec"] {
            let object = document.pointer_mut(place).and_then(serde_json::Value::as_object_mut).unwrap();
            object.insert("added_later".into(), 1.into());
        }
        document["verdicts"] = serde_json::json!([{ "check": "added-later" }]);
        document["findings"] = serde_json::json!([{ "name": "added_later" }]);
        document["advice"] = serde_json::json!([{ "findings": [FindingName::BaseLatency, "added_later"] }]);
        assert_eq!(parse(&document.to_string(), "f".into()).unwrap(), run);
        // Without what every version wrote it is no run, and the missing key is named.
        document["run"].as_object_mut().unwrap().remove("study");
        let error = parse(&document.to_string(), "old.json".into()).unwrap_err().to_string();
        assert!(error.starts_with("old.json holds no run: missing field `study`"), "{error}");
    }

    #[test]
    fn what_is_no_run_is_said() {
        let said = |text: &str| parse(text, "f.json".into()).unwrap_err().to_string();
        assert!(said("{").starts_with("f.json holds no run: EOF"), "{}", said("{"));
        assert!(
            said("{\"fio version\": \"fio-3.33\"}").contains("`iosonde judge` reads other tools' results")
        );
        assert!(said("{\"schema\": 9, \"iosonde\": \"7.0\"}").contains("by iosonde 7.0 in schema 9"));
        assert!(
            read_run(Path::new("/no/such.json"))
                .unwrap_err()
                .to_string()
                .starts_with("/no/such.json cannot be")
        );
    }
}

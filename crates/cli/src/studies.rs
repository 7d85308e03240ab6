//! The built-in studies, compiled in, and studies from files.

use std::path::Path;

use clap::CommandFactory;
use iosonde_infer::requirement::REQUIREMENTS;
use iosonde_model::{Device, Study, nearest};
use iosonde_plan::{
    experiment::EXPERIMENTS,
    points::{self, Plan, PlanError},
};
use iosonde_report::text;
use iosonde_rig::guard::Writes;
use iosonde_store::{TEXT_BYTES_MAX, read_text};

use crate::{
    args::Cli,
    failure::{Failure, in_words},
};

/// Name and text of each built-in study.
pub static STUDIES: &[(&str, &str)] = &[
    ("quick", include_str!("../../../studies/quick.toml")),
    ("mac-microbenchmarks", include_str!("../../../studies/mac-microbenchmarks.toml")),
    ("fio-matrix", include_str!("../../../studies/fio-matrix.toml")),
    ("four-media", include_str!("../../../studies/four-media.toml")),
    ("machine-suite", include_str!("../../../studies/machine-suite.toml")),
    ("fio-ssd-profiling", include_str!("../../../studies/fio-ssd-profiling.toml")),
    ("database", include_str!("../../../studies/database.toml")),
    ("full", include_str!("../../../studies/full.toml")),
    ("layers", include_str!("../../../studies/layers.toml")),
    ("sync-methods", include_str!("../../../studies/sync-methods.toml")),
    ("io-cost", include_str!("../../../studies/io-cost.toml")),
    ("dataset", include_str!("../../../studies/dataset.toml")),
    ("checkpoint", include_str!("../../../studies/checkpoint.toml")),
    ("kv-cache", include_str!("../../../studies/kv-cache.toml")),
];

/// Whether a word is the name of a built-in study.
pub fn is_name(word: &str) -> bool {
    STUDIES.iter().any(|(name, _)| *name == word)
}

/// Whether a word is the name of a built-in study or of an experiment.
pub fn is_known(word: &str) -> bool {
    is_name(word) || EXPERIMENTS.find(word).is_ok()
}

/// A study by its name, by an experiment's name (with that experiment's defaults), or from a file.
pub fn find(word: &str) -> Result<Study, Failure> {
    if word.ends_with(".toml") {
        let text = read_text(Path::new(word), TEXT_BYTES_MAX)
            .map_err(|e| Failure::usage(format!("the study {word} cannot be read: {}", in_words(&e))))?;
        return checked(Study::parse(&text, word).map_err(Failure::usage)?, word);
    }
    if let Some((name, text)) = STUDIES.iter().find(|(name, _)| *name == word) {
        return Study::parse(text, name).map_err(Failure::usage);
    }
    if let Ok(experiment) = EXPERIMENTS.find(word) {
        let question = experiment.question();
        let text = format!("name = {word:?}\nquestion = {question:?}\n\n[[experiment]]\nkind = {word:?}\n");
        return Study::parse(&text, word).map_err(Failure::usage);
    }
    if let Some(other) = other_command(word) {
        return Err(Failure::usage(format!(
            "there is no study or experiment named `{word}`; try  iosonde {other}"
        )));
    }
    let names = STUDIES.iter().map(|(name, _)| *name).chain(EXPERIMENTS.iter().map(|e| e.id().as_str()));
    let hint = nearest(word, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    Err(Failure::usage(format!(
        "there is no study or experiment named `{word}`{hint}\n  iosonde studies, iosonde experiments: list them"
    )))
}

/// The command that answers what a word asks which is no study's name: a requirement's, or a command's.
fn other_command(word: &str) -> Option<String> {
    if REQUIREMENTS.iter().any(|(name, _)| *name == word) {
        return Some(format!("check {word} ./"));
    }
    let all = Cli::command();
    let command = all.find_subcommand(word)?;
    let has_target = command.get_positionals().any(|argument| argument.get_id() == "target");
    Some(format!("{word} {}", if has_target { "./" } else { "--help" }))
}

/// A study with parameters from the command line: `depth=1,4` for every experiment that has it, `mix.depth=32` for
/// one by its name.
pub fn with_settings(study: Study, settings: &[String]) -> Result<Study, Failure> {
    if settings.is_empty() {
        return Ok(study);
    }
    let mut file: toml::Table = toml::from_str(&study.source).map_err(Failure::failed)?;
    for setting in settings {
        let Some((key, text)) = setting.split_once('=').filter(|(_, text)| !text.is_empty()) else {
            return Err(Failure::usage(format!("--set {setting}: a parameter is set as in --set depth=1,4")));
        };
        let (only, key) = key.split_once('.').map_or((None, key), |(name, key)| (Some(name), key));
        set(&mut file, only, key, &value(text))
            .map_err(|why| Failure::usage(format!("--set {setting}: {why}")))?;
    }
    let changed = parsed_again(&study, &file)?;
    points::plan(&changed, &anything()).map_err(no_plan)?;
    Ok(changed)
}

/// A study that addresses only the first part of what is prepared.
pub fn with_span(study: Study, span_bytes: Option<u64>) -> Result<Study, Failure> {
    let Some(span_bytes) = span_bytes else { return Ok(study) };
    if span_bytes < 4096 {
        return Err(Failure::usage("--span is at least 4KiB: less than a page cannot be measured"));
    }
    let mut file: toml::Table = toml::from_str(&study.source).map_err(Failure::failed)?;
    file.insert("span".into(), toml::Value::String(span_bytes.to_string()));
    parsed_again(&study, &file)
}

fn parsed_again(study: &Study, file: &toml::Table) -> Result<Study, Failure> {
    let source = toml::to_string(file).map_err(Failure::failed)?;
    Study::parse(&source, &study.name).map_err(Failure::usage)
}

fn set(file: &mut toml::Table, only: Option<&str>, key: &str, value: &toml::Value) -> Result<(), String> {
    let experiments = file.get_mut("experiment").and_then(toml::Value::as_array_mut);
    let (mut keys, mut names, mut is_set) = (Vec::new(), Vec::new(), false);
    for table in experiments.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        let text = |key: &str| table.get(key).and_then(toml::Value::as_str);
        let kind = text("kind").unwrap_or_default();
        let name = text("name").unwrap_or(kind).to_owned();
        let Ok(experiment) = EXPERIMENTS.find(kind) else { continue };
        if only.is_none_or(|only| only == name) {
            let known = experiment.parameters().iter().map(|parameter| parameter.key);
            if known.clone().any(|known| known == key) {
                table.insert(key.to_owned(), value.clone());
                is_set = true;
            }
            keys.extend(known);
        }
        names.push(name);
    }
    let near = |typed: &str, known: &[&str]| {
        nearest(typed, known.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    };
    match only.filter(|only| !names.iter().any(|name| name == only)) {
        _ if is_set => Ok(()),
        Some(only) => {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Err(format!(
                "the study has no experiment `{only}`{} (it has {})",
                near(only, &names),
                names.join(", ")
            ))
        }
        None => {
            let hint = near(key, &keys);
            keys.sort_unstable();
            keys.dedup();
            Err(format!(
                "none of its experiments has a parameter `{key}`{hint} (they have {})",
                keys.join(", ")
            ))
        }
    }
}

/// A value as typed: TOML where it is, else a list where it has commas, else text.
fn value(text: &str) -> toml::Value {
    let table = toml::from_str::<toml::Table>(&format!("v = {text}"));
    match table.ok().and_then(|mut table| table.remove("v")) {
        Some(value) => value,
        None if text.contains(',') => {
            toml::Value::Array(text.split(',').map(|one| value(one.trim())).collect())
        }
        None => toml::Value::String(text.to_owned()),
    }
}

/// What a file can get wrong beyond its form: the bounds that the options have as well, names and parameters.
fn checked(study: Study, origin: &str) -> Result<Study, Failure> {
    let fail = |line: Option<usize>, message: String| {
        let place = line.map_or_else(String::new, |line| format!(":{line}"));
        Failure::usage(format!("study {origin}{place}: {message}"))
    };
    if !(0.001..=0.5).contains(&study.precision) {
        return Err(fail(None, "a precision lies between 0.1% and 50%".into()));
    }
    if study.size_bytes.is_some_and(|bytes| bytes < 4096) {
        return Err(fail(None, "a size is at least 4KiB: less than a page cannot be measured".into()));
    }
    match points::plan(&study, &anything()) {
        Ok(_) => Ok(study),
        Err(error) => Err(fail(line_of(&study, &error), error.to_string())),
    }
}

/// The line that an error is about.
fn line_of(study: &Study, error: &PlanError) -> Option<usize> {
    match error {
        PlanError::Unknown(unknown) => {
            let wrong = study.experiments.iter().find(|spec| spec.kind == unknown.typed)?;
            study.line_of(&wrong.name, Some("kind"))
        }
        PlanError::Parameter(wrong) => study.line_of(&wrong.experiment, wrong.key.as_deref()),
        PlanError::Study(_) | PlanError::Nothing { .. } => None,
    }
}

/// A device that allows everything.
pub fn anything() -> Device {
    // 64 hosts: a number of hosts is an experiment's only where there are several.
    Device { engine: "io_uring".into(), hosts: Some(64), ..Device::unknown("directory", 1 << 40) }
}

/// The points of a study on a device.
pub fn plan(study: &Study, device: &Device) -> Result<Plan, Failure> {
    points::plan(study, device).map_err(no_plan)
}

/// Why a study has no points, with the reasons why those that it asks for were left out.
fn no_plan(error: PlanError) -> Failure {
    match &error {
        PlanError::Nothing { left_out, .. } => {
            let reasons: Vec<String> = left_out.iter().map(text::left_out).collect();
            Failure::usage(format!("{error}: {}", reasons.join("; ")))
        }
        _ => Failure::usage(error),
    }
}

/// Most workers of any workload of a study, on a device that allows everything.
pub fn workers(study: &Study) -> Result<u32, Failure> {
    let planned = points::plan(study, &anything()).map_err(no_plan)?;
    let jobs = planned.points.iter().flat_map(|point| point.spec.streams()).map(|stream| stream.jobs);
    Ok(jobs.max().unwrap_or(1))
}

/// Whether a study writes on a device that allows everything, and whether anything is left of it without.
pub fn writes(study: &Study) -> Result<Writes, Failure> {
    let planned = points::plan(study, &anything()).map_err(no_plan)?;
    let writing = planned.points.iter().filter(|point| point.spec.rw.writes()).count();
    Ok(match writing {
        0 => Writes::None,
        all if all == planned.points.len() => Writes::Needed,
        _ => Writes::Optional,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::LeftOut;

    #[test]
    fn every_built_in_study_can_be_planned_and_is_named_as_its_file_is() {
        for (name, text) in STUDIES {
            let study = checked(Study::parse(text, name).unwrap(), name).unwrap();
            assert_eq!(study.name, *name);
            assert!(study.question.ends_with('?'), "{name}");
            let plan = points::plan(&study, &anything()).unwrap();
            // A stride below its block is a row of a cross that nobody asks for.
            let odd: Vec<_> = plan
                .left_out
                .iter()
                .filter(|what| !matches!(what, LeftOut::StrideBelowBlock { .. }))
                .collect();
            assert!(odd.is_empty(), "{name}: {odd:?}");
        }
    }

    #[test]
    fn parameters_are_set_where_they_are_known() {
        let quick = || find("quick").unwrap();
        let points = |settings: &[&str]| {
            let settings: Vec<String> = settings.iter().map(|s| (*s).to_owned()).collect();
            with_settings(quick(), &settings)
                .map(|study| points::plan(&study, &anything()).unwrap().points.len())
        };
        assert_eq!(points(&[]).unwrap(), 27);
        // 27 - 8 depths + 2, of which QD 1 is shared.
        assert_eq!(points(&["queue-depth.depth=1,64"]).unwrap(), 21);
        // 27 and two more mixes, of which reads alone are among the depths already.
        assert_eq!(points(&["mix.mix=[0, 50, 100]"]).unwrap(), 28);
        assert_eq!(points(&["queue-depth.depth=1..4*2"]).unwrap(), 22);
        for (setting, said) in [
            ("depth", "--set depth=1,4"),
            ("dept=4", "did you mean `depth`?"),
            ("mixx.depth=4", "did you mean `mix`?"),
            ("depth=0", "is no count"),
        ] {
            let text = points(&[setting]).unwrap_err().text;
            assert!(text.contains(said), "{setting}: {text}");
        }
    }

    #[test]
    fn every_file_in_the_folder_is_a_built_in_study() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> =
            files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        let mut known: Vec<_> = STUDIES.iter().map(|(name, _)| (*name).to_owned()).collect();
        names.sort();
        known.sort();
        assert_eq!(names, known);
    }
}

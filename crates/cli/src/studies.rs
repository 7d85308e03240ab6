//! The built-in studies, compiled in, and studies from files.

use std::path::Path;

use iosonde_lab::{
    experiment::EXPERIMENTS,
    plan::{self, PlanError},
};
use iosonde_model::{Device, Study, nearest};

use crate::failure::{Failure, in_words};

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
        let text = std::fs::read_to_string(Path::new(word))
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
    let names = STUDIES.iter().map(|(name, _)| *name).chain(EXPERIMENTS.iter().map(|e| e.name()));
    let hint = nearest(word, names).map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    Err(Failure::usage(format!(
        "there is no study or experiment named `{word}`{hint}\n  iosonde studies, iosonde experiments: list them"
    )))
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
    match plan::points(&study, &anything()) {
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
        PlanError::Parameter(wrong) => {
            // The key that is wrong is the first one quoted.
            study.line_of(&wrong.experiment, wrong.message.split('`').nth(1))
        }
        PlanError::Study(_) | PlanError::Nothing { .. } => None,
    }
}

/// A device that allows everything.
pub fn anything() -> Device {
    Device { engine: "io_uring".into(), ..Device::unknown("file", 1 << 40) }
}

/// Whether any point of a study writes, on a device that allows everything.
pub fn writes(study: &Study) -> Result<bool, Failure> {
    let planned = plan::points(study, &anything()).map_err(Failure::usage)?;
    Ok(planned.points.iter().any(|point| point.spec.rw.writes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_study_can_be_planned_and_is_named_as_its_file_is() {
        for (name, text) in STUDIES {
            let study = checked(Study::parse(text, name).unwrap(), name).unwrap();
            assert_eq!(study.name, *name);
            assert!(study.question.ends_with('?'), "{name}");
            let plan = plan::points(&study, &anything()).unwrap();
            // A stride below its block is a row of a cross that nobody asks for.
            let odd: Vec<_> = plan.left_out.iter().filter(|why| !why.contains("stride")).collect();
            assert!(odd.is_empty(), "{name}: {odd:?}");
        }
    }

    #[test]
    fn every_file_in_the_folder_is_a_built_in_study() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut names: Vec<_> =
            files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        let mut known: Vec<_> = STUDIES.iter().map(|(name, _)| (*name).to_owned()).collect();
        (names.sort(), known.sort());
        assert_eq!(names, known);
    }
}

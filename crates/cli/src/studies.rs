//! The built-in studies, compiled in, and studies from files.

use std::path::Path;

use iosonde_lab::{
    experiment::EXPERIMENTS,
    plan::{self, PlanError},
};
use iosonde_model::{Device, Study, nearest};

use crate::failure::{Failure, in_words};

/// Name and text of each built-in study.
pub static STUDIES: &[(&str, &str)] = &[("quick", include_str!("../../../studies/quick.toml"))];

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

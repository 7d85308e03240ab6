//! The built-in studies, compiled in, and studies from files.

use std::path::Path;

use iosonde_lab::{experiment::EXPERIMENTS, plan};
use iosonde_model::{Device, Study, nearest};

use crate::failure::Failure;

/// Name and text of each built-in study.
pub static STUDIES: &[(&str, &str)] = &[("quick", include_str!("../../../studies/quick.toml"))];

/// Whether a word is the name of a built-in study.
pub fn is_name(word: &str) -> bool {
    STUDIES.iter().any(|(name, _)| *name == word)
}

/// A study by its name, by an experiment's name (with that experiment's defaults), or from a file.
pub fn find(word: &str) -> Result<Study, Failure> {
    if word.ends_with(".toml") {
        let text = std::fs::read_to_string(Path::new(word))
            .map_err(|e| Failure::usage(format!("the study {word} cannot be read: {e}")))?;
        return checked(Study::parse(&text, word).map_err(Failure::usage)?);
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
        "there is no study or experiment named `{word}`{hint} List them with `iosonde studies`"
    )))
}

/// The bounds that the options have as well.
fn checked(study: Study) -> Result<Study, Failure> {
    if (0.001..=0.5).contains(&study.precision) {
        return Ok(study);
    }
    Err(Failure::usage(format!("study {}: a precision lies between 0.1% and 50%", study.name)))
}

/// Whether any point of a study writes, on a device that allows everything.
pub fn writes(study: &Study) -> Result<bool, Failure> {
    let anything = Device { engine: "io_uring".into(), ..Device::unknown("file", 1 << 40) };
    let planned = plan::points(study, &anything).map_err(Failure::usage)?;
    Ok(planned.points.iter().any(|point| point.spec.rw.writes()))
}

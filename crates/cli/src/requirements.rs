//! Documented requirements as studies: those that come with the program, and those from files.

use iosonde_infer::requirement::REQUIREMENTS;
use iosonde_model::{Requirement, Study};

use crate::{builtin, failure::Failure};

/// A requirement by its name or from a file.
pub fn find(word: &str) -> Result<Requirement, Failure> {
    Ok(read(word)?.0)
}

/// The text of a requirement's file.
pub fn text(word: &str) -> Result<String, Failure> {
    Ok(read(word)?.1)
}

fn read(word: &str) -> Result<(Requirement, String), Failure> {
    let text = builtin::text(word, REQUIREMENTS, "requirement", "requirements")?;
    Ok((Requirement::parse(&text, word).map_err(Failure::usage)?, text.into_owned()))
}

/// The study that measures a requirement's workloads and keeps the requirement itself: what a run is held against stays
/// with it, and `resume` goes on with the same.
pub fn study(word: &str) -> Result<Study, Failure> {
    let (requirement, text) = read(word)?;
    let own: toml::Table = text.parse().map_err(Failure::failed)?;
    let mut rows: Vec<toml::Table> = Vec::new();
    for row in requirement.limits.iter().map(|limit| limit.workload.row()) {
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    let rows: Vec<toml::Value> = rows.into_iter().map(toml::Value::Table).collect();
    let experiment = toml::Table::from_iter([
        ("kind".to_owned(), "requirement".into()),
        ("rows".to_owned(), toml::Value::Array(rows)),
    ]);
    let question = format!("Does this storage give what {} needs?", requirement.name);
    let mut file = toml::Table::from_iter([
        ("name".to_owned(), requirement.name.clone().into()),
        ("question".to_owned(), question.into()),
        // A check goes on until its time is up: how precise a rate is decides nothing.
        ("precision".to_owned(), "50%".into()),
        ("time".to_owned(), format!("{}ms", requirement.time_ns / 1_000_000).into()),
        ("experiment".to_owned(), toml::Value::Array(vec![experiment.into()])),
        ("requirement".to_owned(), own.into()),
    ]);
    if let Some(bytes) = requirement.size_bytes {
        file.insert("size".to_owned(), bytes.to_string().into());
    }
    let source = toml::to_string(&file).map_err(Failure::failed)?;
    Study::parse(&source, word).map_err(Failure::failed)
}

/// Command that runs a study; a requirement is run by `check`.
pub fn command(study: &Study) -> String {
    let verb = if study.requirement.is_some() { "check" } else { "run" };
    format!("iosonde {verb} {}", study.name)
}

#[cfg(test)]
mod tests {
    use iosonde_model::TrialSpec;
    use iosonde_plan::points;

    use super::*;
    use crate::studies;

    #[test]
    fn every_requirement_becomes_a_study_that_measures_each_of_its_workloads() {
        for (name, _) in REQUIREMENTS {
            let study = study(name).unwrap();
            let planned = points::plan(&study, &studies::anything()).unwrap();
            let specs: Vec<&TrialSpec> = planned.points.iter().map(|point| &point.spec).collect();
            let requirement = study.requirement.clone().unwrap();
            assert_eq!(requirement, find(name).unwrap());
            for limit in &requirement.limits {
                assert!(specs.iter().any(|spec| limit.workload.is_of(spec)), "{name}: {limit:?}");
            }
        }
    }

    #[test]
    fn a_slip_is_told_with_the_nearest_name() {
        let told = find("etdc").unwrap_err().text;
        assert!(told.contains("did you mean `etcd`?") && told.contains("iosonde requirements"), "{told}");
    }
}

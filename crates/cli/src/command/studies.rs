//! `iosonde studies`: the built-in studies, and one's questions or file.

use iosonde_model::{Study, units};
use iosonde_plan::experiment::EXPERIMENTS;

use super::list::list;
use crate::{args::StudiesArgs, failure::Failure, screen::Screen, studies};

/// Lists studies or prints one.
pub fn run(args: &StudiesArgs, screen: Screen) -> Result<(), Failure> {
    match &args.name {
        None => {
            let parsed: Result<Vec<_>, _> =
                studies::STUDIES.iter().map(|(name, text)| Study::parse(text, name)).collect();
            let parsed = parsed.map_err(Failure::failed)?;
            let rows = parsed.iter().map(|study| (study.name.as_str(), study.question.clone()));
            screen.result(&list(rows, screen.width))
        }
        Some(name) if args.toml => screen.result(&studies::find(name)?.source),
        Some(name) => show(name, screen),
    }
}

/// Prints a study.
pub fn show(name: &str, screen: Screen) -> Result<(), Failure> {
    let study = studies::find(name)?;
    let planned = studies::plan(&study, &studies::anything())?;
    let mut text = format!(
        "{} (study)\n\n{}\n\n{} points in {}, to ±{}\n\n",
        study.name,
        study.question,
        planned.points.len(),
        units::duration(study.time_ns as f64 / 1e9),
        units::percent(study.precision),
    );
    for spec in &study.experiments {
        let experiment = EXPERIMENTS.find(&spec.kind).map_err(Failure::usage)?;
        text += &format!("{}  {}\n", spec.name, experiment.question());
        for point in planned.points.iter().filter(|point| point.belongs_to(&spec.name)) {
            let on_all = (!experiment.chooses_hosts()).then(|| point.spec.clone().on_hosts(1));
            text += &format!("    {}\n", on_all.as_ref().unwrap_or(&point.spec).describe());
        }
    }
    text += &format!("\nIts file, to copy and edit:  iosonde studies {} --toml\n", study.name);
    screen.result(&text)
}

//! `iosonde engines`, `checks`, `experiments`, `findings` and `explain`: what can be extended lists itself, and each
//! entry's manual page is the comment at the top of its file.

use iosonde_infer::{
    finding::{FINDINGS, FindingKind},
    requirement::REQUIREMENTS,
};
use iosonde_judge::check::CHECKS;
use iosonde_model::{Named, Registry, nearest, units};
use iosonde_plan::experiment::EXPERIMENTS;
use iosonde_report::{paragraph, text::glossary};
use iosonde_rig::engine::ENGINES;

use super::list::list;
use crate::{failure::Failure, screen::Screen, sheets, studies};

/// Lists a registry, or prints one entry's page.
pub fn show<T: ?Sized + Named>(
    registry: &'static Registry<T>,
    name: Option<&str>,
    screen: Screen,
) -> Result<(), Failure> {
    match name {
        Some(name) => {
            let unknown =
                |error| Failure::usage(format!("{error}\n  iosonde {}s lists them", registry.kind()));
            let entry = registry.entry(name).map_err(unknown)?;
            screen.result(&page(registry.kind(), entry.item.name(), &entry.manual()))
        }
        None => {
            let rows = registry.entries().map(|entry| (entry.item.name(), entry.summary()));
            screen.result(&list(rows, screen.width))
        }
    }
}

/// The options of an engine, under its page.
pub fn engine(name: Option<&str>, screen: Screen) -> Result<(), Failure> {
    show(&ENGINES, name, screen)?;
    let options = name.and_then(|name| ENGINES.find(name).ok()).map_or(&[][..], |kind| kind.options());
    let (Some(name), [first, ..]) = (name, options) else { return Ok(()) };
    let rows = options.iter().map(|option| (option.name, option.explain.to_owned()));
    let rows = list(rows, screen.width.saturating_sub(2));
    let rows: String = rows.lines().map(|line| format!("  {line}\n")).collect();
    screen.result(&format!("\nOptions (as in --engine {name}:{}):\n{rows}", first.name))
}

/// The parameters of an experiment, under its page.
pub fn experiment(name: Option<&str>, screen: Screen) -> Result<(), Failure> {
    show(&EXPERIMENTS, name, screen)?;
    let Some(name) = name else { return Ok(()) };
    let experiment = EXPERIMENTS.find(name).map_err(Failure::usage)?;
    let mut text =
        format!("\nAnswers: {}\n\nParameters (in a study's [[experiment]]):\n", experiment.question());
    for parameter in experiment.parameters() {
        let default = if parameter.default.is_empty() { "none" } else { parameter.default };
        text += &format!("  {:12} {}\n  {:12} default: {default}\n", parameter.key, parameter.explain, "");
    }
    screen.result(&text)
}

/// Everything of this name, in any list, and the findings that the first screen tells under it.
pub fn explain(name: &str, screen: Screen) -> Result<(), Failure> {
    let mut shown = 0;
    let mut also = |there: bool, show: &dyn Fn() -> Result<(), Failure>| {
        if there {
            shown += 1;
            let apart = if shown > 1 { screen.result("\n") } else { Ok(()) };
            return apart.and_then(|()| show());
        }
        Ok(())
    };
    if let Some(term) = glossary::term(name) {
        let text = format!("{} (term)\n\n{}", term.names.join(", "), paragraph(term.meaning, screen.paint()));
        also(true, &|| screen.result(&text))?;
    }
    also(ENGINES.entry(name).is_ok(), &|| engine(Some(name), screen))?;
    also(FINDINGS.entry(name).is_ok(), &|| show(&FINDINGS, Some(name), screen))?;
    for page in label(name) {
        also(true, &|| screen.result(&page))?;
    }
    also(CHECKS.entry(name).is_ok(), &|| show(&CHECKS, Some(name), screen))?;
    let asks = EXPERIMENTS.entry(name).is_ok();
    also(asks, &|| experiment(Some(name), screen))?;
    // A study that asks one experiment's question has its name, and its page says no more.
    also(studies::is_name(name) && !asks, &|| super::studies::show(name, screen))?;
    let device = iosonde_sim::builtin_names().any(|device| device == name);
    also(device, &|| super::devices::show(name, screen))?;
    let sheet = sheets::SHEETS.iter().any(|(sheet, _)| *sheet == name);
    also(sheet, &|| super::spec::list_sheets(Some(name), screen))?;
    let required = REQUIREMENTS.iter().any(|(required, _)| *required == name);
    also(required, &|| super::check::list_requirements(Some(name), screen))?;
    if shown > 0 { Ok(()) } else { Err(unknown(name)) }
}

fn unknown(name: &str) -> Failure {
    let names = ENGINES.iter().map(|e| e.name()).chain(CHECKS.iter().map(|c| c.name()));
    let names = names.chain(FINDINGS.iter().map(|f| f.name())).chain(EXPERIMENTS.iter().map(|e| e.name()));
    let names =
        names.chain(studies::STUDIES.iter().map(|(study, _)| *study)).chain(iosonde_sim::builtin_names());
    let names = names.chain(sheets::SHEETS.iter().map(|(sheet, _)| *sheet));
    let names = names.chain(REQUIREMENTS.iter().map(|(required, _)| *required));
    let names = names.chain(glossary::TERMS.iter().flat_map(|term| term.names.iter().copied()));
    let hint = nearest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let lists =
        "iosonde findings, checks, experiments, engines, studies, devices, specs, requirements: list them";
    Failure::usage(format!("nothing is named `{name}`{hint}\n  {lists}"))
}

/// The pages of the findings that a report's first screen tells under this word: `saturates`, `4 KiB random`.
fn label(word: &str) -> Vec<String> {
    let word = word.strip_prefix("highest ").filter(|what| what.contains("iB")).unwrap_or(word);
    let direction = [" random", " sequential"].iter().find_map(|direction| word.strip_suffix(direction));
    let of_a_size = direction.is_some_and(|size| units::parse_size(&size.replace(' ', "")).is_ok());
    let told = |label: &str| label == word || (of_a_size && ["rate", "latency"].contains(&label));
    let rows = iosonde_report::text::result_table::findings_behind(word);
    let is_told = |item: &dyn FindingKind| told(item.screen_line().label) || rows.contains(&item.id());
    let mut own: Vec<_> =
        FINDINGS.entries().filter(|entry| is_told(entry.item) && entry.item.name() != word).collect();
    // Of several that share a line, the one that it is named after comes first.
    own.sort_by_key(|entry| !entry.item.name().contains(word));
    let mut pages: Vec<String> =
        own.iter().map(|entry| page(FINDINGS.kind(), entry.item.name(), &entry.manual())).collect();
    // Streams that run at the same time have no finding: their points are the answer.
    if word == "concurrent" {
        let matrix = EXPERIMENTS.entry("matrix");
        pages.extend(matrix.map(|entry| page(EXPERIMENTS.kind(), "matrix", &entry.manual())));
    }
    pages
}

fn page(kind: &str, name: &str, manual: &str) -> String {
    format!("{name} ({kind})\n\n{}\n", manual.trim_end())
}

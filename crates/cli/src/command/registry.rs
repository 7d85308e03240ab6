//! `iosonde engines`, `checks`, `experiments`, `findings` and `explain`: what can be extended lists itself, and each
//! entry's manual page is the comment at the top of its file.

use iosonde_lab::{check::CHECKS, experiment::EXPERIMENTS, finding::FINDINGS};
use iosonde_model::{Named, Registry, nearest};
use iosonde_rig::engine::ENGINES;

use crate::{failure::Failure, screen::Screen, sheets, studies};

/// Lists a registry, or prints one entry's page.
pub fn show<T: ?Sized + Named>(
    registry: &'static Registry<T>,
    name: Option<&str>,
    screen: Screen,
) -> Result<(), Failure> {
    match name {
        Some(name) => {
            let entry = registry.entry(name).map_err(Failure::usage)?;
            screen.result(&page(registry.kind(), name, &entry.manual()))
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

/// Finds a name in any list.
pub fn explain(name: &str, screen: Screen) -> Result<(), Failure> {
    fn holds<T: ?Sized + Named>(registry: &'static Registry<T>, name: &str) -> bool {
        registry.entry(name).is_ok()
    }
    if holds(&ENGINES, name) {
        return engine(Some(name), screen);
    }
    if holds(&CHECKS, name) {
        return show(&CHECKS, Some(name), screen);
    }
    if holds(&FINDINGS, name) {
        return show(&FINDINGS, Some(name), screen);
    }
    if holds(&EXPERIMENTS, name) {
        return experiment(Some(name), screen);
    }
    if studies::is_name(name) {
        return super::studies::show(name, screen);
    }
    if iosonde_sim::builtin_names().any(|device| device == name) {
        return super::devices::show(name, screen);
    }
    if sheets::SHEETS.iter().any(|(sheet, _)| *sheet == name) {
        return super::spec::list_sheets(Some(name), screen);
    }
    if let Some(pages) = label(name) {
        return screen.result(&pages);
    }
    let names = ENGINES.iter().map(|e| e.name()).chain(CHECKS.iter().map(|c| c.name()));
    let names = names.chain(FINDINGS.iter().map(|f| f.name())).chain(EXPERIMENTS.iter().map(|e| e.name()));
    let names =
        names.chain(studies::STUDIES.iter().map(|(study, _)| *study)).chain(iosonde_sim::builtin_names());
    let names = names.chain(sheets::SHEETS.iter().map(|(sheet, _)| *sheet));
    let hint = nearest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let lists = "iosonde findings, checks, experiments, engines, studies, devices, specs: list what there is";
    Err(Failure::usage(format!("nothing is named `{name}`{hint}\n  {lists}")))
}

/// The pages of the findings that a report's first screen tells under this word.
fn label(word: &str) -> Option<String> {
    let mut own: Vec<_> = FINDINGS.entries().filter(|entry| entry.item.told().label == word).collect();
    // Of several that share a line, the one that it is named after comes first.
    own.sort_by_key(|entry| !entry.item.name().contains(word));
    let pages: Vec<String> =
        own.iter().map(|entry| page(FINDINGS.kind(), entry.item.name(), &entry.manual())).collect();
    // Streams that run at the same time have no finding: their points are the answer.
    let beside =
        || EXPERIMENTS.entry("matrix").ok().map(|entry| page(EXPERIMENTS.kind(), "matrix", &entry.manual()));
    if word == "beside" { beside() } else { (!pages.is_empty()).then(|| pages.join("\n")) }
}

fn page(kind: &str, name: &str, manual: &str) -> String {
    format!("{name} ({kind})\n\n{}\n", manual.trim_end())
}

/// Names and summaries in two columns, the second wrapped.
pub fn list<'a>(rows: impl Iterator<Item = (&'a str, String)>, width: usize) -> String {
    let rows: Vec<_> = rows.collect();
    let column = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for (name, summary) in rows {
        let mut line = format!("{name:column$}");
        for word in summary.split_whitespace() {
            if line.chars().count() + word.chars().count() + 1 > width {
                text += line.trim_end();
                text.push('\n');
                line = " ".repeat(column);
            }
            line += word;
            line.push(' ');
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

//! The report in Markdown: the same story as the HTML, figures as tables.

use std::fmt::Write;

use crate::text::case::capitalised;
use crate::text::glossary::TERMS;
use crate::text::host_table::{HEADS, host_rows};
use crate::text::point_table::point_table;
use crate::text::requirement::RequirementTable;
use crate::text::results::results;
use crate::text::table::{Cell, ResultRow};
use crate::text::validity::{symbol, validity};
use iosonde_model::Run;

use crate::{
    chart::figures,
    figure::Figure,
    paint::clean,
    picture::sheet,
    story::{self, Fact},
    text,
};

/// A concluded run as Markdown (GitHub's tables), ending in a line break.
pub fn markdown(run: &Run) -> String {
    document(run, false)
}

/// Report as a folder: `report.md` with numbered pictures, and for each the picture and its figures.
pub fn folder(run: &Run) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("report.md".to_owned(), document(run, true).into_bytes())];
    files.extend(chart_files(&figures(run)));
    files
}

/// Each chart as a picture and its figures as CSV.
pub(crate) fn chart_files(figures: &[Figure]) -> impl Iterator<Item = (String, Vec<u8>)> {
    figures.iter().flat_map(|figure| {
        let picture = sheet(std::slice::from_ref(figure)).into_bytes();
        let csv = figure.csv(true).into_bytes();
        [(format!("{}.svg", figure.name), picture), (format!("{}.csv", figure.name), csv)]
    })
}

fn document(run: &Run, pictures: bool) -> String {
    let mut out = String::new();
    put(&mut out, &format!("# {}\n", inline(&story::title(run))));
    put(&mut out, &format!("{}\n", inline(&story::on(run))));
    first_screen(run, &mut out);
    applications(run, &mut out);
    if let Ok(drawn) = iosonde_infer::portrait::portrait(run) {
        put(&mut out, &format!("\n## Fitted model\n\n{}", inline(&crate::text::portrait::sentence(&drawn))));
    }
    findings(run, &mut out);
    let mut figures = Figures { all: figures(run), pictures, next: 1 };
    experiments(run, &mut figures, &mut out);
    hosts(run, &mut out);
    excluded(run, &mut out);
    facts("The storage", &story::device_facts(run), &mut out);
    for note in run.info.device.notes.iter().map(text::note) {
        put(&mut out, &format!("- {}", inline(&note)));
    }
    facts("The machine", &story::host_facts(run), &mut out);
    facts("How it was measured", &story::method_facts(run), &mut out);
    put(&mut out, &format!("\n{}\n", story::method(run).join(" ")));
    trials(run, &mut out);
    if pictures {
        glossary(&mut out);
    }
    out
}

/// The figures of a document, numbered as they are met.
pub(crate) struct Figures {
    pub(crate) all: Vec<Figure>,
    /// Whether they are pictures in files beside the document.
    pub(crate) pictures: bool,
    pub(crate) next: usize,
}

fn glossary(out: &mut String) {
    put(out, "\n## Terms\n");
    for term in TERMS.iter().filter(|term| term.in_reports) {
        put(out, &format!("- **{}**: {}", term.names[..term.names.len().min(2)].join(", "), term.meaning));
    }
}

pub(crate) fn put(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a String cannot fail");
}

/// Text as text: no markup, no new table cell, no new line. Commands between backticks stay as they are; where one
/// backtick has no other, as in somebody's name, none of them is taken for a command's.
pub(crate) fn inline(text: &str) -> String {
    let text = clean(text);
    let text = if text.matches('`').count() % 2 == 1 { text.replace('`', "'") } else { text };
    let parts = text.split('`').enumerate().map(|(i, part)| {
        let part = part.replace('|', "\\|");
        if i % 2 == 1 {
            return part;
        }
        let part = part.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        // `[0.98, 1.02]` is an interval; only with a bracket behind it would it be a link.
        part.replace('*', "\\*").replace("](", "]\\(")
    });
    parts.collect::<Vec<_>>().join("`")
}

/// The requirement that the run checked.
fn requirement(required: RequirementTable, out: &mut String) {
    let verdict = text::requirement::verdict;
    put(out, &format!("**{}**: {}\n", verdict(required.verdict), inline(&required.answer)));
    put(out, &format!("{}. {}\n", inline(&required.summary), inline(&required.why)));
    put(out, &format!("Source: {}, {}\n", inline(&required.source), required.source_date));
    if let Some(state) = &required.state {
        put(out, &format!("State: {}\n", inline(state)));
    }
    let rows = required.rows.into_iter();
    let rows =
        rows.map(|row| [row.figure, row.measured, row.limit, verdict(row.verdict).to_owned(), row.basis]);
    table(&["Figure", "Measured", "Limit", "Verdict", "Workload"], rows, out);
    put(out, "");
}

fn first_screen(run: &Run, out: &mut String) {
    let validity = validity(run);
    put(out, &format!("## Valid: {}\n", inline(&validity.headline)));
    for line in &validity.lines {
        let footnote = line.footnote.map_or_else(String::new, |mark| mark.to_string());
        put(out, &format!("- {}{footnote} {}", symbol(line.mark), inline(&line.text)));
    }
    put(out, "\n## Results\n");
    if let Some(claims) = text::sheet::of_run(run) {
        put(out, &format!("{}: {}\n", inline(&claims.sheet), inline(&claims.answer)));
        let rows = claims.rows.into_iter().map(|row| {
            let measured = row.measured.map_or_else(String::new, |figure| figure.whole());
            [row.line, row.claimed, measured, row.verdict.to_string(), row.why]
        });
        table(&["Line", "Claimed", "Measured", "Verdict", "Conditions"], rows, out);
        put(out, "");
    }
    if let Some(table) = text::requirement::of_run(run) {
        requirement(table, out);
    }
    for (verdict, answer) in text::requirement::beside(run) {
        put(out, &format!("Requirement, {}: {}\n", text::requirement::verdict(verdict), inline(&answer)));
    }
    let results = results(run);
    if !results.storage.is_empty() {
        put(out, &format!("{}\n", inline(&results.storage)));
    }
    for shown in &results.tables {
        let cell = |cell: &Option<Cell>| cell.as_ref().map_or_else(String::new, Cell::whole);
        let heads: Vec<&str> = std::iter::once(shown.corner).chain(shown.heads.iter().copied()).collect();
        let cells = |row: &ResultRow| {
            std::iter::once(row.label.clone()).chain(row.cells.iter().map(cell)).collect::<Vec<_>>()
        };
        table(&heads, shown.rows.iter().map(cells), out);
        put(out, "");
    }
    for line in &results.lines {
        put(out, &format!("- **{}:** {}", inline(&line.label), inline(&line.text)));
    }
    if let Some(table) = point_table(run) {
        let shared =
            if table.shared.is_empty() { String::new() } else { format!(" ({})", inline(&table.shared)) };
        put(out, &format!("\nWhat each workload got{shared}:\n"));
        self::table(&table.heads(), table.rows.iter().map(|row| table.cells(row)), out);
        if table.more > 0 {
            put(out, &format!("\nAnd {} more, listed below.", table.more));
        }
    } else if results.is_empty() && text::sheet::of_run(run).is_none() {
        put(out, "Nothing was found out about the storage.");
    }
    put(out, "\n## Advice\n");
    for advised in crate::text::marks::marked_advice(run) {
        put(out, &format!("- {}. ({})", inline(&advised.marked()), inline(&advised.advice.why)));
    }
    if crate::text::advice::advice(run).is_empty() {
        put(out, "Nothing can be advised from these findings.");
    }
}

fn applications(run: &Run, out: &mut String) {
    let told = crate::text::applications::applications(run);
    if told.iter().all(|application| application.findings.is_empty()) {
        return;
    }
    put(out, "\n## What an application would get\n");
    for application in told {
        put(out, &format!("- **{}:** {}", application.who, inline(&application.gets)));
    }
}

fn findings(run: &Run, out: &mut String) {
    let (found, refused) = story::findings(run);
    if !found.is_empty() {
        put(out, "\n## Findings\n");
        let rows = found.iter().map(|row| {
            let value = row.value.clone().unwrap_or_else(|| "none".into());
            [row.name.clone(), row.conditions.clone(), value, crate::text::sentence(row.finding)]
        });
        table(&["Finding", "Of", "Value", "In a sentence"], rows, out);
    }
    if !refused.is_empty() {
        put(out, "\n## What could not be concluded\n");
        let rows = refused.iter().map(|row| {
            let why = crate::text::why_of(row.finding).unwrap_or_else(|| crate::text::sentence(row.finding));
            [row.name.clone(), row.conditions.clone(), why]
        });
        table(&["Finding", "Of", "Why"], rows, out);
    }
}

fn experiments(run: &Run, figures: &mut Figures, out: &mut String) {
    for section in story::sections(run) {
        put(out, &format!("\n## {}\n", inline(section.question.unwrap_or(&section.name))));
        for answer in &section.answers {
            put(out, &format!("{}\n", inline(answer)));
        }
        put(out, &format!("{}\n", inline(&section.sure)));
        table(&story::POINT_HEADS, section.rows.into_iter(), out);
        let own = |f: &&Figure| f.experiment.as_deref() == Some(section.name.as_str());
        for shown in figures.all.clone().iter().filter(own) {
            figure(shown, figures, out);
        }
    }
    let course = story::course(run);
    if !course.is_empty() {
        put(out, "\n## The course of the run\n");
    }
    for answer in course {
        put(out, &format!("{}\n", inline(&answer)));
    }
    for shown in figures.all.clone().iter().filter(|figure| figure.experiment.is_none()) {
        put(out, &format!("\n## {}\n", shown.title));
        figure(shown, figures, out);
    }
}

fn hosts(run: &Run, out: &mut String) {
    let Some(rows) = host_rows(run) else { return };
    put(out, &format!("\n## Hosts\n\n{}.\n", inline(&rows.caption)));
    table(&HEADS, rows.rows.into_iter(), out);
    for note in &rows.notes {
        put(out, &format!("\n{}.", inline(&capitalised(note))));
    }
}

pub(crate) fn figure(figure: &Figure, figures: &mut Figures, out: &mut String) {
    put(out, &format!("\n### {}\n", inline(&figure.title)));
    // An experiment's answers stand at the head of its section already.
    let answer = figure.experiment.is_none().then_some(&figure.answer);
    for text in answer.into_iter().chain([&figure.reading]).filter(|text| !text.is_empty()) {
        put(out, &format!("{}\n", inline(text)));
    }
    if figures.pictures {
        let (number, name) = (figures.next, &figure.name);
        figures.next += 1;
        let (y, x) = (inline(&figure.y.title()), inline(&figure.x.title()));
        let shown =
            if figure.cells.is_empty() { format!("{y} against {x}") } else { format!("by {y} and {x}") };
        put(out, &format!("![Figure {number}: {}]({name}.svg)\n", inline(&figure.title)));
        put(
            out,
            &format!(
                "*Figure {number}: {} {shown}; bars are intervals. The figures: [{name}.csv]({name}.csv).*\n",
                inline(&figure.title)
            ),
        );
    }
    let (heads, rows) = figure.table();
    let heads: Vec<String> = heads.iter().map(|head| inline(head)).collect();
    table(&heads.iter().map(String::as_str).collect::<Vec<_>>(), rows.into_iter(), out);
}

fn excluded(run: &Run, out: &mut String) {
    let excluded = story::excluded(run);
    if excluded.is_empty() {
        return;
    }
    put(out, "\n## Invalid figures and warnings\n");
    let rows = excluded.iter().map(|e| {
        [story::outcome(e.outcome).to_owned(), e.check.to_owned(), e.what.clone(), e.why.to_owned()]
    });
    table(&["Verdict", "Check", "Of", "Why"], rows, out);
}

pub(crate) fn facts(title: &str, facts: &[Fact], out: &mut String) {
    put(out, &format!("\n## {title}\n"));
    for (label, value) in facts {
        put(out, &format!("- {label}: {}", inline(value)));
    }
}

fn trials(run: &Run, out: &mut String) {
    put(out, "\n## Every trial\n");
    let worst = story::worst_verdicts(run);
    let rows = run.trials.iter().flat_map(|trial| story::trial_rows(trial, worst.get(&trial.id)));
    table(&story::TRIAL_HEADS, rows, out);
}

pub(crate) fn table<R: IntoIterator<Item = String>>(
    heads: &[&str],
    rows: impl Iterator<Item = R>,
    out: &mut String,
) {
    put(out, &format!("| {} |", heads.join(" | ")));
    put(out, &format!("|{}", " --- |".repeat(heads.len())));
    for row in rows {
        let cells: Vec<String> = row.into_iter().map(|cell| inline(&cell)).collect();
        put(out, &format!("| {} |", cells.join(" | ")));
    }
}

//! The first screen: whether the run is valid, its results, what to do, and one chart.

use crate::text::footnote::WARNINGS_MAX;
use crate::text::point_table::PointTable;
use crate::text::point_table::point_table;
use crate::text::requirement::{self, RequirementTable};
use crate::text::results::results;
use crate::text::sheet::{self, ClaimTable};
use crate::text::storage_line::StorageLine;
use crate::text::table::ResultTable;
use crate::text::validity::{ValidityLine, Weight, symbol, validity};
use crate::text::{applications, case::lowered, quantity};
use iosonde_model::FindingName;
use iosonde_model::{Run, Status};
use maud::{Markup, html};

use super::charts::Charts;
use super::parts::{capital, prose};
use crate::story;

pub(super) fn header(run: &Run) -> Markup {
    let info = &run.info;
    html! {
        header {
            p.about { "iosonde " (info.study) }
            h1 { @match &info.label { Some(label) => (label), None => (story::storage_name(run)) } }
            p.about {
                (info.target) " – "
                (story::on(run))
                " – " (story::day(&info.started_at))
            }
            @if let Some(note) = &info.note { p { (note) } }
        }
    }
}

pub(super) fn first_screen(run: &Run, charts: &Charts) -> Markup {
    html! {
        div.first {
            div.answers { (believe(run)) (storage(run)) }
            div.answers {
                @if let Some(chart) = charts.first() { (chart) }
                (advice(run))
            }
        }
    }
}

fn believe(run: &Run) -> Markup {
    let validity = validity(run);
    let (notes, mut shown): (Vec<_>, Vec<_>) =
        validity.lines.iter().partition(|line| line.mark == Weight::Note);
    let warnings = shown.iter().filter(|line| line.mark > Weight::Note).count();
    let more = shown.drain(WARNINGS_MAX.min(warnings)..warnings);
    let folded: Vec<_> = more.chain(notes).collect();
    html! {
        section aria-labelledby="believe" {
            h2 #believe { "Valid?" }
            p class={ "headline " (class(validity.mark)) } { (prose(&capital(&validity.headline))) }
            (marked(&shown))
            @if !folded.is_empty() {
                details {
                    summary { (folded.len()) @if folded.len() == 1 { " more note" } @else { " more notes" } }
                    (marked(&folded))
                }
            }
        }
    }
}

fn marked(lines: &[&ValidityLine]) -> Markup {
    html! {
        ul.marked {
            @for line in lines {
                li {
                    span class={ "mark " (class(line.mark)) } {
                        span aria-hidden="true" { (symbol(line.mark)) }
                        span.unseen { (spoken(line.mark)) }
                    }
                    span {
                        @if let Some(mark) = line.footnote { (mark) " " }
                        (prose(&capital(&line.text)))
                    }
                }
            }
        }
    }
}

fn class(mark: Weight) -> &'static str {
    match mark {
        Weight::Yes => "good",
        Weight::Note => "quiet",
        Weight::Doubt => "doubt",
        Weight::No => "bad",
    }
}

/// What a mark says to somebody who does not see it.
fn spoken(mark: Weight) -> &'static str {
    match mark {
        Weight::Yes => "Valid: ",
        Weight::Note => "Note: ",
        Weight::Doubt => "Warning: ",
        Weight::No => "Not valid: ",
    }
}

fn storage(run: &Run) -> Markup {
    let results = results(run);
    // Whole sentences of experiments stand with these; here they wait until somebody asks.
    let (mut figures, mut sentences): (Vec<_>, Vec<_>) = results.lines.iter().partition(|line| !line.folded);
    // Nobody unfolds the only answer.
    if figures.is_empty() && results.tables.is_empty() {
        figures.append(&mut sentences);
    }
    let points = point_table(run);
    html! {
        section aria-labelledby="storage" {
            h2 #storage { "Results" }
            @if let Some(table) = sheet::of_run(run) { (claims(&table)) }
            @if let Some(table) = requirement::of_run(run) { (required(&table)) }
            @for (verdict, answer) in &requirement::beside(run) {
                p { (capital(requirement::verdict(*verdict))) ": " (prose(answer)) }
            }
            @if !results.storage.is_empty() { p { (prose(&capital(&results.storage))) } }
            @for table in &results.tables { (result_table(table)) }
            (lines_of(&figures))
            @if !sentences.is_empty() {
                details {
                    summary { "More: " (names(&sentences)) }
                    (lines_of(&sentences))
                }
            }
            @if let Some(table) = &points { (points_of(table)) }
            @else if results.is_empty() && sheet::of_run(run).is_none() { p { (nothing_concluded(run)) } }
        }
    }
}

/// The requirement that the run checked.
fn required(table: &RequirementTable) -> Markup {
    html! {
        p { strong { (capital(requirement::verdict(table.verdict))) } ": " (prose(&table.answer)) }
        p {
            (prose(&table.summary)) ". " (prose(&table.why))
            " Source: " (prose(&table.source)) ", " (table.source_date) "."
            @if let Some(state) = &table.state { " State: " (prose(state)) "." }
        }
        table.results.stack {
            thead { tr { th {} @for head in ["measured", "limit", "verdict"] { th { (head) } } } }
            tbody {
                @for row in &table.rows {
                    tr {
                        th scope="row" { (row.figure) span.why { (prose(&row.basis)) } }
                        td { (prose(&row.measured)) }
                        td { (prose(&row.limit)) }
                        td { (requirement::verdict(row.verdict)) }
                    }
                }
            }
        }
    }
}

/// The sheet whose lines the run measured.
fn claims(table: &ClaimTable) -> Markup {
    html! {
        p { (prose(&format!("{}: {}", table.sheet, table.answer))) }
        table.results.stack {
            thead { tr { th {} @for head in ["claimed", "measured", "verdict"] { th { (head) } } } }
            tbody {
                @for row in &table.rows {
                    tr {
                        th scope="row" { (row.line) span.why { (prose(&row.why)) } }
                        td { (prose(&row.claimed)) }
                        td { @if let Some(figure) = &row.measured {
                            span { (prose(&figure.value)) } " " span.quiet { (figure.interval) }
                        } }
                        td { (row.verdict) }
                    }
                }
            }
        }
    }
}

/// Figures with their intervals.
pub(super) fn result_table(table: &ResultTable) -> Markup {
    html! {
        table.results {
            thead {
                tr {
                    th { (table.corner) }
                    @for head in &table.heads { th { (head) } }
                }
            }
            tbody {
                @for row in &table.rows {
                    tr {
                        th scope="row" class=[row.indented.then_some("indented")] { (crate::paint::glue(&row.label)) }
                        @for cell in &row.cells {
                            td {
                                @if let Some(cell) = cell {
                                    span { (prose(&cell.figure.value)) }
                                    @if !cell.figure.interval.is_empty() {
                                        " " span.quiet { (cell.figure.interval) }
                                    }
                                    (cell.marks)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What each workload got, where no finding says it.
fn points_of(table: &PointTable) -> Markup {
    html! {
        p { "What each workload got" @if !table.shared.is_empty() { " (" (table.shared) ")" } ":" }
        table.results {
            thead { tr { @for head in table.heads() { th { (head) } } } }
            tbody {
                @for (row, rate) in table.rows.iter().map(|row| (row, table.rate(row))) {
                    tr {
                        th scope="row" { (prose(&row.workload)) }
                        td { (prose(&rate.value)) " " span.quiet { (rate.interval) } }
                        @for time in &PointTable::latencies(row) { td { (prose(time)) } }
                    }
                }
            }
        }
        @if table.more > 0 { p.small.quiet { "And " (table.more) " more, listed below." } }
    }
}

fn lines_of(lines: &[&StorageLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            dl { @for line in lines { dt { (capital(&line.label)) } dd { (prose(&line.text)) } } }
        }
    }
}

fn names(lines: &[&StorageLine]) -> String {
    let mut names: Vec<&str> = lines.iter().map(|line| line.label.as_str()).collect();
    names.dedup();
    names.join(", ")
}

fn in_words(findings: &[FindingName]) -> String {
    findings.iter().map(|name| lowered(quantity(*name))).collect::<Vec<_>>().join(", ")
}

/// What three kinds of applications would get, each with the findings that say so.
pub(super) fn applications(run: &Run) -> Markup {
    let told = applications::applications(run);
    html! {
        @if told.iter().any(|application| !application.findings.is_empty()) {
            section #applications aria-labelledby="applications-head" {
                h2 #applications-head { "What an application would get" }
                div.applications {
                    @for application in &told {
                        div {
                            h3 { (application.who) }
                            p { (prose(&capital(&application.gets))) }
                            @if !application.findings.is_empty() {
                                p.small.quiet { "Computed from: " (in_words(&application.findings)) "." }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn nothing_concluded(run: &Run) -> &'static str {
    match story::is_study(run) {
        true => "Nothing was found out about the storage.",
        false => "One workload was run, not a study. Its results are below; one trial gives no interval.",
    }
}

fn advice(run: &Run) -> Markup {
    let refused =
        run.findings.iter().filter(|f| f.status == Status::Inconclusive).find_map(crate::text::why_of);
    html! {
        section aria-labelledby="do" {
            h2 #do { "Advice" }
            ul.marked {
                @for advised in crate::text::marks::marked_advice(run) {
                    li {
                        span.mark.good aria-hidden="true" { "→" }
                        span {
                            (prose(&capital(&advised.marked())))
                            span.why { (prose(&capital(&advised.advice.why))) }
                        }
                    }
                }
            }
            @if crate::text::advice::advice(run).is_empty() {
                p {
                    @if story::is_study(run) { "Nothing can be advised from these findings. " }
                    @else {
                        "To learn what the storage is like, run a study: "
                        code { "iosonde run quick " (run.info.target) }
                    }
                    @if let Some(why) = refused { (prose(&capital(&why))) }
                }
            }
        }
    }
}

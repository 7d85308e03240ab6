//! What follows the first screen: experiments, the circumstances, the method, and everything else, folded.

use iosonde_model::{Outcome, Run};
use maud::{Markup, html};

use super::charts::Charts;
use super::{
    parts::{capital, prose},
    tables,
};
use crate::story::{self, Fact, FindingRow, Section};
use crate::text::{self, host_table::host_rows};

/// Charts of an experiment that are not folded: two stand side by side.
const CHARTS_SHOWN: usize = 2;

/// Links to every section.
pub(super) fn contents(run: &Run) -> Markup {
    html! {
        nav #contents aria-label="On this page" {
            ul {
                li { a href="#believe" { "The answers" } }
                @for (place, section) in story::sections(run).iter().enumerate() {
                    li { a href={ "#experiment-" (place) } { (capital(&section.name.replace('-', " "))) } }
                }
                @if run.info.hosts.len() > 1 { li { a href="#hosts" { "Hosts" } } }
                li { a href="#circumstances" { "Storage and machine" } }
                li { a href="#method" { "Method" } }
                li { a href="#everything" { "Everything else" } }
            }
        }
    }
}

fn reason(refused: &[FindingRow]) -> Markup {
    let first = refused.first().and_then(|row| crate::text::why_of(row.finding));
    html! { @match first { Some(why) => (prose(&why)), None => "not measured in this run." } }
}

pub(super) fn experiments(run: &Run, charts: &Charts) -> Markup {
    let (whole, course) = (charts.of(None), story::course(run));
    html! {
        @for (place, section) in story::sections(run).iter().enumerate() {
            (experiment(place, section, charts))
        }
        @if !whole.is_empty() || !course.is_empty() {
            section aria-labelledby="course" {
                h2 #course { "The course of the run" }
                @for answer in &course { p.answer-line { (prose(answer)) } }
                details {
                    summary { (counted(whole.len(), "chart over time")) }
                    div.charts { @for chart in &whole { (chart) } }
                }
            }
        }
    }
}

fn experiment(place: usize, section: &Section, charts: &Charts) -> Markup {
    let own = charts.of(Some(&section.name));
    let elsewhere = charts.elsewhere(&section.name);
    let head = format!("experiment-{place}-head");
    html! {
        section id={ "experiment-" (place) } aria-labelledby={ (head) "-name " (head) } {
            p.eyebrow id={ (head) "-name" } { (capital(&section.name.replace('-', " "))) }
            h2 id=(head) { (section.question.unwrap_or("What was measured")) }
            @if let Some(first) = section.answers.first() { p.answer-line { (prose(first)) } }
            p.sure { (prose(&section.sure)) }
            (more_answers(section.answers.get(1..).unwrap_or_default()))
            @if !elsewhere.is_empty() {
                p.sure {
                    "Also shown in: "
                    @for (i, (title, name)) in elsewhere.iter().enumerate() {
                        @if i > 0 { " · " }
                        a href={ "#chart-" (name) } { (title) }
                    }
                }
            }
            @let (shown, more) = own.split_at(own.len().min(CHARTS_SHOWN));
            @if !shown.is_empty() { div.charts { @for chart in shown { (chart) } } }
            @if !more.is_empty() {
                details {
                    summary { (counted(more.len(), "more chart")) }
                    div.charts { @for chart in more { (chart) } }
                }
            }
            details open[own.is_empty() && elsewhere.is_empty()] {
                summary { "All points of this experiment" }
                (tables::points(&section.name, &section.rows))
            }
        }
    }
}

/// Hosts beside each other, where there are several.
pub(super) fn hosts(run: &Run) -> Markup {
    html! {
        @if let Some(table) = host_rows(run) {
            section #hosts aria-labelledby="hosts-head" {
                h2 #hosts-head { "Hosts" }
                (tables::hosts(&table))
            }
        }
    }
}

/// The other findings of an experiment; one is not worth a click.
fn more_answers(answers: &[String]) -> Markup {
    let lines = html! { @for answer in answers { p.answer-line { (prose(answer)) } } };
    html! {
        @match answers.len() {
            0 | 1 => (lines),
            count => details { summary { (counted(count, "more finding")) } (lines) },
        }
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What few readers need, folded: every finding, what was left out and why, every trial.
pub(super) fn everything(run: &Run) -> Markup {
    let excluded = story::excluded(run);
    let (found, refused) = story::findings(run);
    let all_valid = !excluded.iter().any(|row| row.outcome == Outcome::Invalid);
    let fold = |id: &str, summary: &str, table: Markup| {
        html! { details id=(id) { summary { (summary) } (table) } }
    };
    html! {
        section #everything aria-labelledby="everything-head" {
            h2 #everything-head { "Everything else" }
            @if found.is_empty() { p { "No finding: " (reason(&refused)) } }
            @if all_valid { p { "All trials are valid." } }
            @if !found.is_empty() {
                (fold("findings", &counted(found.len(), "finding"), tables::findings(&found, run.info.confidence)))
            }
            @if !refused.is_empty() {
                (fold("unanswered", &counted(refused.len(), "inconclusive finding"), tables::refused(&refused)))
            }
            @if !excluded.is_empty() {
                @let summary = format!("{} that did not pass", counted(excluded.len(), "check"));
                (fold("left-out", &summary, tables::excluded(&excluded)))
            }
            (tables::trials(run))
        }
    }
}

pub(super) fn circumstances(run: &Run) -> Markup {
    html! {
        section #circumstances aria-labelledby="circumstances-head" {
            h2 #circumstances-head { "The storage and the machine" }
            div.columns {
                div { h3 { "Storage" } (facts(&story::device_facts(run))) }
                div {
                    h3 { "Machine" }
                    (facts(&story::host_facts(run)))
                    @if !run.info.device.notes.is_empty() {
                        h3.later { "Notes" }
                        @for note in run.info.device.notes.iter().map(text::note) { p { (prose(&note)) } }
                    }
                }
            }
        }
    }
}

pub(super) fn method(run: &Run) -> Markup {
    html! {
        section #method aria-labelledby="method-head" {
            h2 #method-head { "How it was measured" }
            @let own = story::method_facts(run);
            @let (left, right) = own.split_at(own.len().div_ceil(2));
            div.columns { div { (facts(left)) } div { (facts(right)) } }
            details {
                summary { "What these words mean" }
                @for sentence in story::method(run) { p { (prose(sentence)) } }
            }
            @if !run.info.study_source.is_empty() {
                details {
                    summary { "The study, as it was run" }
                    pre.scroll tabindex="0" { code { (run.info.study_source) } }
                }
            }
        }
    }
}

pub(super) fn facts(facts: &[Fact]) -> Markup {
    html! {
        dl {
            @for (label, value) in facts {
                dt { (label) }
                dd { @if *label == "Command" { code { (value) } } @else { (value) } }
            }
        }
    }
}

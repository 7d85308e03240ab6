//! Tables: each in a container that scrolls by itself and can be reached with the keyboard.

use crate::text::{
    self,
    host_table::{HEADS, HostRows},
};
use iosonde_model::{Outcome, Run, units};
use maud::{Markup, html};

use super::parts::{capital, prose};
use crate::story::{self, Excluded, FindingRow};

pub(crate) fn scroll(label: &str, table: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (table) } }
}

fn heads(heads: &[&str]) -> Markup {
    html! { thead { tr { @for head in heads { th scope="col" { (head) } } } } }
}

pub(super) fn findings(rows: &[FindingRow], confidence: f64) -> Markup {
    let table = html! {
        table.stack {
            caption {
                "Values with their " (units::percent(confidence))
                " intervals in brackets; below a sentence, on what it rests."
            }
            (heads(&["Finding", "Value", "Of", "In words"]))
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (capital(&row.name)) }
                        td.n { (row.value.as_deref().unwrap_or("none")) }
                        td { (row.conditions) }
                        td {
                            (prose(&text::sentence(row.finding)))
                            @if let Some(why) = text::why_of(row.finding) { span.why { (prose(&capital(&why))) } }
                        }
                    }
                }
            }
        }
    };
    scroll("Findings", &table)
}

pub(super) fn refused(rows: &[FindingRow]) -> Markup {
    let table = html! {
        table.stack {
            (heads(&["Finding", "Of", "Why not, and what would answer"]))
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" { (capital(&row.name)) }
                        td { (row.conditions) }
                        @let why = text::why_of(row.finding).unwrap_or_else(|| text::sentence(row.finding));
                        td { (prose(&capital(&why))) }
                    }
                }
            }
        }
    };
    scroll("Refused findings", &table)
}

pub(super) fn points(name: &str, rows: &[[String; 8]]) -> Markup {
    let table = html! {
        table.figures {
            (heads(&story::POINT_HEADS))
            tbody {
                @for row in rows {
                    tr {
                        @for (i, cell) in row.iter().enumerate() {
                            @if i == 0 { th scope="row" { (cell) } } @else { td.n { (cell) } }
                        }
                    }
                }
            }
        }
    };
    scroll(&format!("Points of {name}"), &table)
}

pub(super) fn hosts(table: &HostRows) -> Markup {
    // The last column is about hosts that differ.
    let differ = table.rows.iter().any(|row| row.last().is_some_and(|cell| !cell.is_empty()));
    let columns = HEADS.len() - usize::from(!differ);
    let markup = html! {
        table.figures {
            caption { (table.caption) "." }
            (heads(&HEADS.map(|head| if head.is_empty() { "differs" } else { head })[..columns]))
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (i, cell) in row.iter().take(columns).enumerate() {
                            @if i == 0 { th scope="row" { (cell) } } @else { td.n { (cell) } }
                        }
                    }
                }
            }
        }
    };
    html! {
        (scroll("Hosts", &markup))
        @for note in &table.notes { p { (prose(&format!("{}.", capital(note)))) } }
    }
}

pub(super) fn figures(title: &str, heads: &[String], rows: &[Vec<String>]) -> Markup {
    let table = html! {
        table.figures {
            thead { tr { @for head in heads { th scope="col" { (capital(head)) } } } }
            tbody {
                @for row in rows {
                    tr {
                        @for (i, cell) in row.iter().enumerate() {
                            @if i == 0 { th scope="row" { (cell) } } @else { td.n { (cell) } }
                        }
                    }
                }
            }
        }
    };
    scroll(&format!("Figures of: {title}"), &table)
}

pub(super) fn excluded(rows: &[Excluded]) -> Markup {
    let class = |outcome: Outcome| match outcome {
        Outcome::Invalid => "bad",
        Outcome::Warning => "doubt",
        Outcome::NotChecked | Outcome::Pass => "quiet",
    };
    let table = html! {
        table.stack {
            caption { "No finding uses invalid figures; figures with a warning are kept, and marked." }
            (heads(&["Verdict", "Check", "Of", "Why"]))
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" class=(class(row.outcome)) { (capital(story::outcome(row.outcome))) }
                        td { (row.check) }
                        td { (row.what) }
                        td { (prose(&row.why)) }
                    }
                }
            }
        }
    };
    scroll("Verdicts", &table)
}

/// Every trial, for readers who want more than the points; sorts by any column.
pub(super) fn trials(run: &Run) -> Markup {
    let worst = story::worst_verdicts(run);
    let count = run.trials.len();
    html! {
        details #trials {
            summary { (count) @if count == 1 { " trial" } @else { " trials" } }
            p {
                "Preparation and canaries are among them. A row for each direction; latencies are of single trials and \
                 have no interval. Histograms and windows are in the JSON document: "
                code { "iosonde report " (run.info.id) " -f json" } "."
            }
            div.scroll.tall tabindex="0" role="region" aria-label="Table of every trial" {
                (trial_table(run, &worst))
            }
        }
    }
}

fn trial_table(run: &Run, worst: &std::collections::BTreeMap<u64, (Outcome, String)>) -> Markup {
    html! {
        table.trials {
            thead {
                tr { @for head in story::TRIAL_HEADS { th scope="col" { button type="button" { (head) } } } }
            }
            tbody {
                @for trial in &run.trials {
                    @let verdict = worst.get(&trial.id);
                    @for row in story::trial_rows(trial, verdict) {
                        tr title=[verdict.map(|(_, why)| why)] {
                            @for cell in &row { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

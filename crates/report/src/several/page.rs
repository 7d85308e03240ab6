//! The page of several runs.

use crate::{
    html::{capital, chart, document, prose, scroll},
    story,
    text::{
        compare,
        compare_table::{self, CompareRow},
        layer, odd_side,
        ranking_table::{self, NONE, stands_for},
        validity::{Weight, validity},
    },
};
use iosonde_infer::compare::Side;
use iosonde_model::{Compared, ComparedPair, Comparison, Layer, Likeness, units};
use maud::{Markup, html};

use super::{ratios_of_pairs, side_by_side};

/// Whose runs they are: an id says nothing to anybody.
fn what_they_are(sides: &[Side]) -> String {
    let told = sides.iter().filter_map(|side| {
        let run = side.runs.first()?;
        Some(format!("{}: {} on {}", side.name, run.info.study, story::storage_name(run)))
    });
    told.collect::<Vec<_>>().join(" · ")
}

/// Several sides on one HTML page.
pub fn several(sides: &[Side], compared: &Compared) -> String {
    let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
    let title = names.join(" · ");
    let (ratios, others) = (ratios_of_pairs(compared), side_by_side(sides));
    let body = html! {
        a.skip href="#answer" { "Skip to the answer" }
        header {
            p.about { "iosonde, " (sides.len()) " sides compared" }
            h1 { (title) }
            p.about { (what_they_are(sides)) }
        }
        main {
            (answer(sides, compared))
            @for (place, (pair, ratios)) in compared.pairs.iter().zip(&ratios).enumerate() {
                (one_pair(compared, pair, place, ratios.as_ref()))
            }
            @if !others.is_empty() {
                section #relations aria-labelledby="relations-head" {
                    h2 #relations-head { "Side by side" }
                    div.charts { @for figure in &others { (chart(figure)) } }
                }
            }
            (who(sides))
            (method(compared))
        }
        footer {
            p { "Written by iosonde " (env!("CARGO_PKG_VERSION")) ". Everything is in this file; it loads nothing." }
        }
    };
    document(&title, env!("CARGO_PKG_VERSION"), &body)
}

fn answer(sides: &[Side], compared: &Compared) -> Markup {
    html! {
        section #answer aria-labelledby="answer-head" {
            h2.unseen #answer-head { "The answer" }
            @if let Some(found) = &compared.odd_sides { p.headline { (prose(&odd_side::answer(found))) } }
            @for pair in compared.pairs.iter().filter(|pair| !stands_for(compared, pair)) {
                // One answer is a headline; of several, each is a line.
                p class=(if compared.pairs.len() == 1 { "headline" } else { "answer-line" }) {
                    @match &pair.layer {
                        Some(found) => (prose(&layer::answer(pair, found))),
                        None => (prose(&compare::answer(pair))),
                    }
                }
                @for sign in pair.layer.iter().flat_map(|found| layer::signs(pair, found)) {
                    p { (prose(&sign)) }
                }
            }
            @if compared.is_ranked() {
                h3.later { "From fastest to slowest" }
                (ranking(compared))
            }
            h3.later { "Valid?" }
            dl {
                @for side in sides {
                    @if let Some(run) = side.runs.first() {
                        dt { (side.name) }
                        dd {
                            @let validity = validity(run);
                            (capital(&validity.headline))
                            @for line in validity.lines.iter().filter(|line| line.mark > Weight::Note) {
                                span.why { (prose(&capital(&line.text))) }
                            }
                            @if side.runs.len() > 1 { span.why { (compare::of_all_repeats(side)) } }
                        }
                    }
                }
            }
        }
    }
}

fn one_pair(
    compared: &Compared,
    pair: &ComparedPair,
    place: usize,
    ratios: Option<&crate::figure::Figure>,
) -> Markup {
    let shown = compare_table::table(compared, pair, false);
    let everything = compare_table::table(compared, pair, true);
    let refused: Vec<&Comparison> =
        compared.lines(pair).filter(|line| line.verdict == Likeness::NotComparable).collect();
    html! {
        section id={ "pair-" (place) } aria-labelledby={ "pair-" (place) "-head" } {
            h2 id={ "pair-" (place) "-head" } { (pair.b) " against " (pair.a) }
            @match &pair.layer {
                Some(layer) => (layer_table(pair, layer)),
                None if !shown.rows.is_empty() => (line_table(pair, &shown.rows)),
                None => {}
            }
            @if let Some(figure) = ratios { (chart(figure)) }
            @if everything.rows.len() > shown.rows.len() {
                details {
                    summary { "Every workload and p99 latency (" (everything.rows.len()) " rows)" }
                    (line_table(pair, &everything.rows))
                }
            }
            @if !refused.is_empty() || pair.unmatched > 0 {
                h3.later { "Not compared" }
                (left_out(&refused, pair.unmatched))
            }
            @if !pair.differences.is_empty() {
                h3.later { "Other differences" }
                p.quiet { "Each of them could explain a ratio as well as the storage does." }
                (differences(pair))
            }
        }
    }
}

/// What has no ratio, and why; more than a few are folded away.
fn left_out(refused: &[&Comparison], unmatched: usize) -> Markup {
    let each = html! {
        ul { @for line in refused { li { (line.spec.describe()) ": " (prose(&compare::limits(line))) } } }
    };
    html! {
        @if unmatched > 0 { p { (unmatched) " points that only one side has." } }
        @match refused {
            [] => {}
            [first, _, _, _, ..] => {
                p {
                    (refused.len()) " like points, for example " (first.spec.describe()) ": "
                    (prose(&compare::limits(first))) "."
                }
                details { summary { "Each of them (" (refused.len()) ")" } (each) }
            }
            _ => (each)
        }
    }
}

/// A line for each side, with what stands below.
fn ranking(compared: &Compared) -> Markup {
    let groups = ranking_table::groups(compared);
    let table = html! {
        table.figures {
            thead { tr { @for head in ranking_table::heads(&groups) { th scope="col" { (head) } } } }
            tbody {
                @for (at, (place, name)) in ranking_table::places(compared).enumerate() {
                    tr {
                        th scope="row" { (place) ". " (name) }
                        @for cell in groups.iter().flat_map(|group| &group.rows[at]) {
                            td.n { (cell.as_deref().unwrap_or(NONE)) }
                        }
                    }
                }
            }
        }
    };
    html! {
        (scroll("From fastest to slowest", &table))
        @for note in ranking_table::notes(compared, &groups) { p.quiet { (prose(&note)) } }
    }
}

/// On a narrow screen the ratio comes before the figures that scroll away.
fn line_table(pair: &ComparedPair, rows: &[CompareRow]) -> Markup {
    let table = html! {
        table.figures {
            thead { tr {
                @for head in ["Workload", &format!("{} is", pair.b), &pair.a, &pair.b] {
                    th scope="col" { (head) }
                }
            } }
            tbody {
                @for row in rows {
                    tr {
                        th.indented[row.is_indented] scope="row" { (row.label) }
                        td { (row.ratio_in_words()) }
                        td.n { (row.a) }
                        td.n { (row.b) }
                    }
                }
            }
        }
    };
    scroll(&format!("Workloads of {} against {}", pair.b, pair.a), &table)
}

/// What a layer costs, workload by workload.
fn layer_table(pair: &ComparedPair, found: &Layer) -> Markup {
    let confidence = units::percent(found.confidence);
    let table = html! {
        table.figures {
            thead { tr {
                @for head in ["Workload", &format!("Cost of the layer [{confidence} CI]"), &pair.a, &pair.b] {
                    th scope="col" { (head) }
                }
            } }
            tbody {
                @for row in layer::rows(found) {
                    tr {
                        th scope="row" { (row.label) }
                        td.n { (row.cost) }
                        td.n { (row.base) }
                        td.n { (row.through) }
                    }
                }
            }
        }
    };
    html! {
        (scroll(&format!("Cost of {} above {}", pair.b, pair.a), &table))
        p.quiet { (layer::LEGEND) }
    }
}

fn differences(pair: &ComparedPair) -> Markup {
    let table = html! {
        table.figures {
            thead { tr { th scope="col" { "What" } th scope="col" { (pair.a) } th scope="col" { (pair.b) } } }
            tbody {
                @for difference in &pair.differences {
                    tr {
                        th scope="row" { (capital(compare::property(difference.what))) }
                        td { (compare::property_value(difference.what, difference.a.as_ref())) }
                        td { (compare::property_value(difference.what, difference.b.as_ref())) }
                    }
                }
            }
        }
    };
    scroll(&format!("What differs besides the storage, {} and {}", pair.a, pair.b), &table)
}

/// What each side is, and how to measure it again.
fn who(sides: &[Side]) -> Markup {
    html! {
        section #sides aria-labelledby="sides-head" {
            h2 #sides-head { "The sides" }
            div.columns {
                @for side in sides {
                    div {
                        h3 { (side.name) }
                        @if let Some(run) = side.runs.first() {
                            dl {
                                @for (label, value) in story::device_facts(run).iter()
                                    .chain(&story::host_facts(run)).chain(&story::method_facts(run)) {
                                    dt { (label) }
                                    dd { @if *label == "Command" { code { (value) } } @else { (value) } }
                                }
                            }
                        }
                        @if side.runs.len() > 1 { p.quiet { (side.runs.len()) " repeats: " (ids(side)) "." } }
                    }
                }
            }
        }
    }
}

fn ids(side: &Side) -> String {
    side.runs.iter().map(|run| run.info.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn method(compared: &Compared) -> Markup {
    let margin = compared.pairs.first().map_or(0.02, |pair| pair.margin);
    let confidence = compared.pairs.first().map_or(0.95, |pair| pair.confidence);
    html! {
        section #method aria-labelledby="method-head" {
            h2 #method-head { "How it was compared" }
            p {
                "Only workloads that both sides measured are compared, and the overall figure is "
                "the geometric mean of their ratios. The unit is the repeat: a fresh file, fill and process. "
                "Where a side has one repeat and the notebook knows of no others, the sentence is about these "
                "runs and not about the storage."
            }
            p {
                "Faster or slower is said where the whole interval lies more than " (units::percent(margin))
                " from 1, same where it lies within, and otherwise inconclusive. The intervals allow "
                "for the number of lines: all statements of a pair together hold with "
                (units::percent(confidence)) " confidence."
            }
        }
    }
}

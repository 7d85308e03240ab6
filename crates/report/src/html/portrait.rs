//! The fitted model: the parts of the storage by the findings, and what they do not identify.

use iosonde_model::{Run, Trait, TraitSource, Unit};
use maud::{Markup, html};

use super::{
    parts::{capital, prose},
    tables,
};
use crate::{device_file::device_file, quantity::Quantity, text::portrait as words};

/// The section; empty where the findings do not identify a model.
pub(super) fn portrait(run: &Run) -> Markup {
    let Ok(drawn) = iosonde_infer::portrait::portrait(run) else { return html! {} };
    html! {
        section #fitted-model aria-labelledby="fitted-model-head" {
            h2 #fitted-model-head { "Fitted model" }
            p.answer-line { (prose(&words::sentence(&drawn))) }
            details {
                summary { "Sources of the parameters, and the model as a simulated device" }
                (parts(&drawn.traits))
                @if !drawn.unidentified.is_empty() {
                    h3.later { "Not identified" }
                    ul { @for &what in &drawn.unidentified { li { (prose(&words::unidentified(what))) } } }
                }
                h3.later { "As a simulated device" }
                pre.scroll tabindex="0" { code { (device_file(run, &drawn)) } }
            }
        }
    }
}

fn parts(traits: &[Trait]) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { @for head in ["Parameter", "Value", "From", "How"] { th scope="col" { (head) } } } }
            tbody {
                @for part in traits {
                    tr {
                        th scope="row" { (capital(words::label(part.key))) }
                        td.n { (value(part)) }
                        td {
                            @if part.is_assumed() { span.doubt { "default" } }
                            @else { (sources(part)) }
                        }
                        td { (prose(words::how(part.derivation))) }
                    }
                }
            }
        }
    };
    tables::scroll("Parameters of the fitted model", &table)
}

fn sources(part: &Trait) -> String {
    let name = |&source: &TraitSource| words::source(source).replace('_', " ").replace("iops", "IOPS");
    part.sources.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn value(part: &Trait) -> String {
    let estimate = &part.estimate;
    let quantity = match part.key.unit() {
        Unit::None => return bare(estimate.value, estimate.low.zip(estimate.high)),
        unit => Quantity::of_unit(unit.name()),
    };
    quantity.map_or_else(
        || bare(estimate.value, estimate.low.zip(estimate.high)),
        |quantity| quantity.interval_text(estimate.value, estimate.low, estimate.high),
    )
}

fn bare(value: f64, ends: Option<(f64, f64)>) -> String {
    let number = |value: f64| {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match ends {
        Some((low, high)) => format!("{} ({}–{})", number(value), number(low), number(high)),
        None => number(value),
    }
}

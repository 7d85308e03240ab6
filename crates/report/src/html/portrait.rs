//! The portrait: what the findings say that the storage is made of, part by part, and what they do not tell.

use iosonde_model::{Run, Trait};
use maud::{Markup, html};

use super::{
    parts::{capital, prose},
    tables,
};
use crate::quantity::Quantity;

/// The section; nothing where the findings draw no portrait.
pub(super) fn portrait(run: &Run) -> Markup {
    let Ok(drawn) = iosonde_infer::portrait::portrait(run) else { return html! {} };
    html! {
        section #portrait aria-labelledby="portrait-head" {
            h2 #portrait-head { "A portrait of it" }
            p.answer-line { (prose(&drawn.sentence)) }
            details {
                summary { "What each part follows from" }
                (parts(&drawn.traits))
                @if !drawn.untold.is_empty() {
                    h3.later { "What is not told" }
                    ul { @for line in &drawn.untold { li { (prose(line)) } } }
                }
            }
            details {
                summary { "As a simulated device, to be run against" }
                pre.scroll tabindex="0" { code { (drawn.device) } }
            }
        }
    }
}

fn parts(traits: &[Trait]) -> Markup {
    let table = html! {
        table.stack {
            thead { tr { @for head in ["Part", "Value", "From", "How"] { th scope="col" { (head) } } } }
            tbody {
                @for part in traits {
                    tr {
                        th scope="row" { (capital(&part.label)) }
                        td.n { (value(part)) }
                        td {
                            @if part.is_assumed() { span.doubt { "assumed" } }
                            @else { (part.findings.join(", ").replace('_', " ").replace("iops", "IOPS")) }
                        }
                        td { (prose(&part.why)) }
                    }
                }
            }
        }
    };
    tables::scroll("Parts of the portrait", &table)
}

fn value(part: &Trait) -> String {
    let estimate = &part.estimate;
    match (Quantity::of_unit(&part.unit), part.unit.as_str()) {
        (Some(quantity), _) => quantity.interval_text(estimate.value, estimate.low, estimate.high),
        (None, "1") => bare(estimate.value, estimate.low.zip(estimate.high), ""),
        (None, unit) => bare(estimate.value, estimate.low.zip(estimate.high), &format!(" {unit}")),
    }
}

fn bare(value: f64, ends: Option<(f64, f64)>, unit: &str) -> String {
    let number = |value: f64| {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match ends {
        Some((low, high)) => format!("{}{unit} [{}, {}]", number(value), number(low), number(high)),
        None => format!("{}{unit}", number(value)),
    }
}

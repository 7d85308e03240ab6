//! The frame: head, styles, scripts, footer.

use iosonde_model::Run;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::fmt::Write;

use super::parts::verbatim;
use crate::{paint::clean_page, picture::COLOURS};

/// Nothing may be loaded from anywhere, whatever ended up in the page.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A whole page. Names in it neither become tags nor turn the direction in which the rest is read, in scripts and
/// attributes neither.
pub(crate) fn document(title: &str, version: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "iosonde " (version) };
                title { (title) " – iosonde" }
                style { (PreEscaped(colours())) (verbatim(include_str!("../../assets/report.css"))) }
            }
            body {
                (body)
                p.unseen role="status" #said {}
                script { (verbatim(include_str!("../../assets/page.js"))) }
            }
        }
    };
    clean_page(&page.into_string())
}

pub(super) fn footer(run: &Run) -> Markup {
    html! {
        footer {
            p {
                "Run " (run.info.id) ", written by iosonde " (run.iosonde)
                ". Everything is in this file; it loads nothing."
            }
        }
    }
}

/// The colours as custom properties: light, dark on screens that ask for it, and light again on paper.
fn colours() -> String {
    // The ground of code and of nothing else; charts do not use it.
    let extra = [("wash", "#f1f2f4", "#24272c")];
    let (mut light, mut dark) = (String::new(), String::new());
    for (name, on_light, on_dark) in COLOURS.into_iter().chain(extra) {
        write!(light, "--{name}:{on_light};").expect("writing to a String cannot fail");
        write!(dark, "--{name}:{on_dark};").expect("writing to a String cannot fail");
    }
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n\
         @media print{{:root{{color-scheme:light}}}}\n"
    )
}

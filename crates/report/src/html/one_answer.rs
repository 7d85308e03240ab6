//! The page of a command that keeps no run: the answer, its figures and charts, the storage and the machine.

use iosonde_model::Circumstances;
use maud::{Markup, html};

use super::{
    answers::result_table,
    charts::shown as chart,
    page::document,
    parts::{capital, prose},
    sections::facts,
};
use crate::{
    answer::shown::{Line, Shown, Tenor},
    story, text,
};

/// An answer as one HTML file.
pub(crate) fn answer(shown: &Shown, circumstances: &Circumstances) -> String {
    let title = format!("{} on {}", shown.command, shown.target);
    let version = env!("CARGO_PKG_VERSION");
    let body = html! {
        header {
            p.about { "iosonde " (shown.command) }
            h1 { (shown.target) }
            p.about {
                @if let Some(device) = &circumstances.device { (story::subject(device)) " – " }
                (story::day(&circumstances.started_at))
            }
        }
        main {
            (the_answer(shown))
            @if !shown.figures.is_empty() {
                section #charts aria-labelledby="charts-head" {
                    h2 #charts-head { "Charts" }
                    div.charts { @for figure in &shown.figures { (chart(figure)) } }
                }
            }
            (place(circumstances))
        }
        footer {
            p { "Written by iosonde " (version) ". Everything is in this file; it loads nothing." }
        }
    };
    document(&title, version, &body)
}

fn the_answer(shown: &Shown) -> Markup {
    let class = match shown.tenor {
        Tenor::Plain => "plain",
        Tenor::Good => "good",
        Tenor::Doubt => "doubt",
        Tenor::Bad => "bad",
    };
    html! {
        section #answer aria-labelledby="answer-head" {
            h2.unseen #answer-head { "The answer" }
            @if shown.tenor != Tenor::Plain { p class={ "headline " (class) } { (capital(shown.word)) } }
            p { (prose(&shown.sentence)) "." }
            (lines(&shown.before))
            @if let Some(table) = &shown.table { (result_table(table)) }
            (lines(&shown.after))
        }
    }
}

fn lines(lines: &[Line]) -> Markup {
    html! {
        @if !lines.is_empty() {
            dl { @for (label, text) in lines { dt { (capital(label)) } dd { (prose(text)) } } }
        }
    }
}

fn place(circumstances: &Circumstances) -> Markup {
    let Circumstances { command, started_at, device, host } = circumstances;
    html! {
        section #circumstances aria-labelledby="circumstances-head" {
            h2 #circumstances-head { "The storage and the machine" }
            div.columns {
                @if let Some(device) = device {
                    div {
                        h3 { "Storage" }
                        (facts(&story::of_device(device)))
                        @if !device.notes.is_empty() {
                            h3.later { "Notes" }
                            @for note in device.notes.iter().map(text::note) { p { (prose(&note)) } }
                        }
                    }
                }
                div {
                    h3 { "Machine" }
                    (facts(&story::of_host(host)))
                    h3.later { "Measurement" }
                    (facts(&[("Command", command.clone()), ("Begun", story::day(started_at))]))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Estimate;

    use super::*;
    use crate::text::{
        number::figure,
        table::{Cell, ResultRow, ResultTable},
    };

    #[test]
    fn a_page_says_what_the_screen_says() {
        let estimate = Estimate { value: 12e6, low: Some(11e6), high: Some(13e6) };
        let cells = vec![Some(Cell::from(figure(iosonde_model::Unit::Time, &estimate)))];
        let row = ResultRow { label: "4 KiB reads".into(), indented: false, cells };
        let shown = Shown {
            command: "cold",
            word: "cold",
            tenor: Tenor::Bad,
            sentence: "/dev/<x>: first reads are slower".into(),
            before: vec![("tested", "ten places".into())],
            table: Some(ResultTable { corner: "", heads: vec!["first"], rows: vec![row] }),
            after: vec![("took", "a minute".into())],
            figures: Vec::new(),
            target: "/dev/<x>".into(),
        };
        let circumstances = Circumstances { command: "iosonde cold".into(), ..Circumstances::default() };
        let page = answer(&shown, &circumstances);
        let due = [
            "<title>cold on /dev/&lt;x&gt; – iosonde</title>",
            "<p class=\"headline bad\">Cold</p>",
            "<p>/dev/&lt;x&gt;: first reads are slower.</p>",
            "<dt>Tested</dt><dd>ten places</dd>",
            "12.0\u{a0}ms",
            "<dt>Took</dt><dd>a minute</dd>",
            "<code>iosonde cold</code>",
        ];
        for part in due {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert!(!page.contains("<x>") && !page.contains("#charts"));
    }
}

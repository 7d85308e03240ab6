//! Charts in the page: a still picture each, and the options from which scripts draw the live ones.

use iosonde_model::Run;
use maud::{Markup, PreEscaped, html};
use serde_json::{Map, Value};

use super::{prose, tables};
use crate::chart::figures;
use crate::echarts::{DrawError, Painter, Theme, describe, option};
use crate::figure::Figure;

/// The run's figures with their pictures, the one that opens the report first.
pub(super) struct Charts {
    drawn: Vec<(Figure, String)>,
}

impl Charts {
    pub(super) fn draw(run: &Run) -> Result<Self, DrawError> {
        let figures = figures(run);
        if figures.is_empty() {
            return Ok(Self { drawn: Vec::new() });
        }
        // Two engines side by side: the report is written while somebody waits for it.
        let (first, second) = figures.split_at(figures.len() / 2);
        let (first, second) = std::thread::scope(|scope| {
            let other = scope.spawn(|| pictures(second));
            (pictures(first), other.join().expect("drawing returns its errors and does not panic"))
        });
        let pictures: Vec<String> = first?.into_iter().chain(second?).collect();
        Ok(Self { drawn: figures.into_iter().zip(pictures).collect() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drawn.is_empty()
    }

    /// The chart that opens the report.
    pub(super) fn first(&self) -> Option<Markup> {
        self.drawn.first().map(|(figure, picture)| shown(figure, picture))
    }

    /// The charts of an experiment, or of the run as a whole, without the one that opens the report.
    pub(super) fn of(&self, experiment: Option<&str>) -> Vec<Markup> {
        let own = self.drawn.iter().skip(1).filter(|(figure, _)| figure.experiment.as_deref() == experiment);
        own.map(|(figure, picture)| shown(figure, picture)).collect()
    }

    /// Titles and names of the charts that show this experiment's points and stand elsewhere: at the head of
    /// the report or with another experiment.
    pub(super) fn elsewhere(&self, experiment: &str) -> Vec<(&str, &'static str)> {
        let shown = self.drawn.iter().enumerate().filter(|(place, (figure, _))| {
            let own = figure.experiment.as_deref() == Some(experiment);
            if own { *place == 0 } else { figure.also.iter().any(|name| name == experiment) }
        });
        shown.map(|(_, (figure, _))| (figure.title.as_str(), figure.name)).collect()
    }

    /// Every option by its figure's name, for a script element: no `<` in it could end that element.
    pub(super) fn options_json(&self) -> String {
        let options: Map<String, Value> =
            self.drawn.iter().map(|(figure, _)| (figure.name.to_owned(), option(figure))).collect();
        Value::Object(options).to_string().replace('<', "\\u003c")
    }
}

fn pictures(figures: &[Figure]) -> Result<Vec<String>, DrawError> {
    let painter = Painter::new()?;
    figures.iter().map(|figure| painter.svg(figure, Theme::Page)).collect()
}

fn shown(figure: &Figure, picture: &str) -> Markup {
    let (heads, rows) = figure.table();
    html! {
        figure id={ "chart-" (figure.name) } {
            figcaption {
                h3 { (figure.title) }
                @if figure.experiment.is_none() && !figure.answer.is_empty() { p { (prose(&figure.answer)) } }
                @if !figure.reading.is_empty() { p { (prose(&figure.reading)) } }
            }
            div.chart data-figure=(figure.name) {
                div.still role="img" aria-label=(describe(figure)) { (PreEscaped(picture)) }
            }
            details {
                summary { "These figures as a table" }
                (tables::figures(&figure.title, &heads, &rows))
            }
        }
    }
}

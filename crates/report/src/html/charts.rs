//! Charts in the page: shapes that stretch to their place, with words in HTML over and around them, so that both read
//! at any width; without scripts they are pictures, with them they answer when pointed at.

use iosonde_model::Run;
use maud::{Markup, PreEscaped, html};

use super::{parts::prose, tables};
use crate::chart::figures;
use crate::figure::{Axis, Figure, Spacing};
use crate::picture::{self, Anchor, HEIGHT, Label, Place, Theme, WIDTH, describe};

/// The run's figures, the one that opens the report first.
pub(super) struct Charts {
    figures: Vec<Figure>,
}

impl Charts {
    pub(super) fn of_run(run: &Run) -> Self {
        Self { figures: figures(run) }
    }

    /// The chart that opens the report.
    pub(super) fn first(&self) -> Option<Markup> {
        self.figures.first().map(shown)
    }

    /// The charts of an experiment, or of the run as a whole, without the one that opens the report.
    pub(super) fn of(&self, experiment: Option<&str>) -> Vec<Markup> {
        let own = self.figures.iter().skip(1).filter(|figure| figure.experiment.as_deref() == experiment);
        own.map(shown).collect()
    }

    /// Titles and names of the charts that show this experiment's points and stand elsewhere: at the head of
    /// the report or with another experiment.
    pub(super) fn elsewhere(&self, experiment: &str) -> Vec<(&str, &str)> {
        let shown = self.figures.iter().enumerate().filter(|(place, figure)| {
            let own = figure.experiment.as_deref() == Some(experiment);
            if own { *place == 0 } else { figure.also.iter().any(|name| name == experiment) }
        });
        shown.map(|(_, figure)| (figure.title.as_str(), figure.name.as_str())).collect()
    }
}

/// A chart with its title, legend and table.
pub(crate) fn shown(figure: &Figure) -> Markup {
    let (heads, rows) = figure.table();
    html! {
        figure.chart id={ "chart-" (figure.name) } {
            figcaption {
                h3 { (figure.title) }
                @if figure.experiment.is_none() && !figure.answer.is_empty() { p { (prose(&figure.answer)) } }
                @if !figure.reading.is_empty() { p { (prose(&figure.reading)) } }
            }
            (legend(figure))
            (plot(figure))
            details.data {
                summary { "These figures as a table" }
                (tables::figures(&figure.title, &heads, &rows))
            }
            // Plain text that no browser runs: what the button for CSV hands out.
            script type="text/csv" { (PreEscaped(figure.csv(false).replace('<', "‹"))) }
        }
    }
}

/// Names of series and curves; with scripts, buttons that hide them.
fn legend(figure: &Figure) -> Markup {
    let series = figure.series.iter().map(|s| (s.name.as_str(), s.tone.name(), s.broken, !s.bars));
    let curves = figure.curves.iter().map(|c| (c.name.as_str(), c.tone.name(), true, false));
    let all: Vec<_> = series.chain(curves).collect();
    let trials = figure.series.iter().any(|series| !series.trials.is_empty());
    html! {
        @if !all.is_empty() {
            ul.legend aria-label="Shown in the chart" {
                @for (number, (name, tone, broken, dotted)) in all.into_iter().enumerate() {
                    li {
                        button type="button" aria-pressed="true" data-s=(number) {
                            (swatch(tone, broken, dotted))
                            (name)
                        }
                    }
                }
                @if trials {
                    li.ask { button type="button" aria-pressed="false" data-trials { "every trial as a dot" } }
                }
            }
        }
    }
}

fn swatch(tone: &str, broken: bool, dotted: bool) -> Markup {
    let dashes = broken.then_some("6 4");
    html! {
        svg viewBox="0 0 22 10" width="22" height="10" aria-hidden="true" style={ "color:var(--" (tone) ")" } {
            path d="M0,5h22" stroke="currentColor" stroke-width="2" stroke-dasharray=[dashes] {}
            @if dotted { circle cx="11" cy="5" r="4" fill="currentColor" {} }
        }
    }
}

fn plot(figure: &Figure) -> Markup {
    let rows = picture::rows(&figure.y);
    let columns = picture::columns(figure);
    let headings = figure.headings();
    let beside = rows.iter().enumerate().filter(|(place, _)| !headings.contains(place));
    let widest = beside.map(|(_, (tick, _))| tick.text.chars().count()).max().unwrap_or(0);
    let labels = picture::labels(figure);
    let headers = labels.iter().filter_map(|label| match label.place {
        Place::Header(line) => Some(line + 1),
        _ => None,
    });
    let mut style = format!("--gutter:{}ch;--headers:{}", widest.min(46) + 2, headers.max().unwrap_or(0));
    if figure.y.is_named() && figure.cells.is_empty() {
        // A line of text for each name, whatever their number.
        style += &format!(";--high:{}px", 22 * figure.y.places.len() + 16);
    }
    let named = if figure.x.is_named() && figure.cells.is_empty() { " named" } else { "" };
    html! {
        @if !figure.y.title().is_empty() { p.axis-name { (figure.y.title()) } }
        div class={ "plot" (named) } style=(style) data-x=[scale(&figure.x)] data-y=[scale(&figure.y)] {
            div.rows aria-hidden="true" {
                @for (place, (tick, level)) in rows.iter().enumerate() {
                    span.heading[headings.contains(&place)] data-at=(share(1.0 - tick.share))
                        data-level=[level.is_none().then_some("3")]
                        style={ "top:" (percent(1.0 - tick.share)) } { (tick.text) }
                }
            }
            div.area tabindex="0" role="img" aria-label=(describe(figure)) {
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" aria-hidden="true" {
                    (PreEscaped(picture::area(figure, WIDTH, HEIGHT, Theme::Page)))
                }
                @for label in &labels { (word(label)) }
            }
            div.columns-of-x aria-hidden="true" {
                @for (tick, level) in &columns {
                    span data-at=(share(tick.share)) data-level=[level.map_or(Some(3), |l| (l > 1).then_some(l))]
                        style={ "left:" (percent(tick.share)) } { (tick.text) }
                }
            }
        }
        p.axis-name.under { (figure.x.title()) }
    }
}

/// What the script needs to write ticks of its own when it zooms into a linear axis: both ends in the axis's unit.
fn scale(axis: &Axis) -> Option<String> {
    let linear = axis.spacing == Spacing::Linear && !axis.is_named();
    linear.then(|| format!("{} {}", axis.low / axis.factor(), axis.high / axis.factor()))
}

fn word(label: &Label) -> Markup {
    let anchor = match label.anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (place, shift) = match label.place {
        Place::Above => ("above", String::new()),
        Place::Below => ("below", String::new()),
        Place::Beside => ("beside", String::new()),
        Place::Centre => ("centre", String::new()),
        Place::CentreOnDark => ("centre on-dark", String::new()),
        Place::Header(line) => ("header", format!(";--line:{line}")),
    };
    let colour = if label.place == Place::CentreOnDark { "paper" } else { label.tone };
    let style = format!("left:{};top:{};color:var(--{colour}){shift}", percent(label.x), percent(label.y));
    html! {
        span class={ "word " (anchor) " " (place) @if label.wide_only { " wide" } } aria-hidden="true"
            style=(style) data-s=[label.series] {
            (label.text)
        }
    }
}

/// A share of the area, in percent to a hundredth.
fn percent(share: f64) -> String {
    format!("{}%", self::share(share * 100.0))
}

fn share(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

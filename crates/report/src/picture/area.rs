//! The shapes inside the axes: grid, bands, curves, lines, whiskers, bars, fields and dots, as SVG without text.

use std::fmt::Write;

use super::Theme;
use crate::figure::{Along, Axis, Curve, Dot, DotSeries, DotStanding, Figure, FindingMark};

/// Units across the area of a page, which stretches it to its place.
pub(crate) const WIDTH: f64 = 1000.0;
/// Units from its top to its bottom.
pub(crate) const HEIGHT: f64 = 500.0;
/// Share of a row that its bar takes.
const BARS_SHARE: f64 = 0.72;

/// Where values lie in an area of this size, and what colours are called there.
pub(crate) struct Paper<'a> {
    figure: &'a Figure,
    width: f64,
    height: f64,
    theme: Theme,
}

impl Paper<'_> {
    fn x(&self, value: f64) -> f64 {
        // Twice the area on either side: what lies outside needs no larger numbers to be outside.
        self.figure.x.share(value).clamp(-2.0, 3.0) * self.width
    }

    fn y(&self, value: f64) -> f64 {
        (1.0 - self.figure.y.share(value).clamp(-2.0, 3.0)) * self.height
    }
}

/// Everything inside the axes of a figure, for an area of so many units.
pub(crate) fn area(figure: &Figure, width: f64, height: f64, theme: Theme) -> String {
    let paper = Paper { figure, width, height, theme };
    let mut out = grid(&paper);
    for mark in &figure.marks {
        out += &band(&paper, mark);
    }
    for (number, curve) in figure.curves.iter().enumerate() {
        out += &curve_shapes(&paper, curve, figure.series.len() + number);
    }
    out += &cells(&paper);
    for mark in &figure.marks {
        out += &mark_line(&paper, mark);
    }
    for (number, series) in figure.series.iter().enumerate() {
        out += &series_shapes(&paper, series, number);
    }
    out
}

/// Text between tags or in an attribute.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A length to a tenth of a unit, as short as it can be written.
fn n(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

fn grid(paper: &Paper) -> String {
    let Paper { figure, width, height, theme } = paper;
    if !figure.cells.is_empty() {
        return String::new();
    }
    let mut d = String::new();
    let labels = if figure.y.places.is_empty() { figure.y.labels() } else { Vec::new() };
    for tick in labels {
        write!(d, "M0,{}h{}", n((1.0 - tick.share) * height), n(*width)).expect("a String takes all");
    }
    let rule = theme.colour("rule");
    let foot = format!("M0,{}h{}", n(*height), n(*width));
    let muted = theme.colour("muted");
    format!(
        "<path d=\"{d}\" stroke=\"{rule}\" fill=\"none\"/><path d=\"{foot}\" stroke=\"{muted}\" fill=\"none\"/>"
    )
}

fn band(paper: &Paper, mark: &FindingMark) -> String {
    let Some((low, high)) = mark.interval else { return String::new() };
    let (x, y, width, height) = match mark.along {
        Along::X => (paper.x(low), 0.0, paper.x(high) - paper.x(low), paper.height),
        Along::Y => (0.0, paper.y(high), paper.width, paper.y(low) - paper.y(high)),
    };
    let colour = paper.theme.colour(mark.tone.name());
    // At least one unit: an interval narrower than a line would be invisible.
    let (width, height) = (width.max(1.0), height.max(1.0));
    format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" opacity=\".12\"/>",
        n(x),
        n(y),
        n(width),
        n(height)
    )
}

/// Share of an axis from which on an interval is seen as a band: a line within it would be read as a limit, and
/// measured dots beyond a highest rate as a contradiction.
const BAND_SHARE: f64 = 0.025;

fn mark_line(paper: &Paper, mark: &FindingMark) -> String {
    let axis = if mark.along == Along::X { &paper.figure.x } else { &paper.figure.y };
    let is_band = |(low, high): (f64, f64)| axis.share(high) - axis.share(low) > BAND_SHARE;
    if mark.interval.is_some_and(is_band) {
        return String::new();
    }
    let d = match mark.along {
        Along::X => format!("M{},0V{}", n(paper.x(mark.at)), n(paper.height)),
        Along::Y => format!("M0,{}H{}", n(paper.y(mark.at)), n(paper.width)),
    };
    let colour = paper.theme.colour(mark.tone.name());
    format!(
        "<path d=\"{d}\" stroke=\"{colour}\" fill=\"none\" stroke-width=\"1.25\" stroke-dasharray=\"1.5 3\"/>"
    )
}

fn joined(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut d = String::new();
    for (i, (x, y)) in points.enumerate() {
        write!(d, "{}{},{}", if i == 0 { "M" } else { "L" }, n(x), n(y)).expect("a String takes all");
    }
    d
}

fn curve_shapes(paper: &Paper, curve: &Curve, number: usize) -> String {
    let colour = paper.theme.colour(curve.tone.name());
    let place = |&(x, y): &(f64, f64)| (paper.x(x), paper.y(y));
    let mut out = format!("<g data-s=\"{number}\">");
    if !curve.band.is_empty() {
        let d = joined(curve.band.iter().map(place));
        out += &format!("<path d=\"{d}Z\" fill=\"{colour}\" opacity=\".13\"/>");
    }
    let d = joined(curve.points.iter().map(place));
    out += &format!(
        "<path d=\"{d}\" stroke=\"{colour}\" fill=\"none\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"/></g>"
    );
    out
}

fn cells(paper: &Paper) -> String {
    let figure = paper.figure;
    let colour = paper.theme.colour("read");
    let (wide, high) = (
        paper.width / figure.x.places.len().max(1) as f64,
        paper.height / figure.y.places.len().max(1) as f64,
    );
    let cell = |cell: &crate::figure::HeatCell| {
        let (x, y) = (paper.x(cell.column as f64) - wide / 2.0, paper.y(cell.row as f64) - high / 2.0);
        let opacity = 0.06 + 0.86 * cell.shade;
        format!(
            "<rect class=\"c\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity:.2}\">{}</rect>",
            n(x + 1.0),
            n(y + 1.0),
            n(wide - 2.0),
            n(high - 2.0),
            title(&cell.tip)
        )
    };
    figure.cells.iter().map(cell).collect()
}

fn series_shapes(paper: &Paper, series: &DotSeries, number: usize) -> String {
    let tone = paper.theme.colour(series.tone.name());
    let mut out = format!("<g data-s=\"{number}\" stroke=\"{tone}\" fill=\"none\">");
    if !series.trials.is_empty() {
        let dots = series.trials.iter().map(|&(x, y)| (paper.x(x), paper.y(y)));
        let d: String = dots.map(|(x, y)| format!("M{},{}h.01", n(x), n(y))).collect();
        // Always there once printed or saved would hide the means; a page shows them where somebody asks.
        if paper.theme == Theme::Page {
            out += &format!(
                "<path class=\"t\" d=\"{d}\" stroke-width=\"4\" stroke-linecap=\"round\" opacity=\".4\"/>"
            );
        }
    }
    if series.bars {
        out += &bars(paper, series);
    } else {
        if series.joined && series.dots.len() > 1 {
            let d = joined(series.dots.iter().map(|dot| (paper.x(dot.x), paper.y(dot.y))));
            let dashes = if series.broken { " stroke-dasharray=\"6 4\"" } else { "" };
            // Among hundreds of dots a thick line is a smear.
            let width = if series.dots.len() > 60 { "1" } else { "2" };
            out += &format!("<path d=\"{d}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}/>");
        }
        out += &whiskers(paper, &series.dots);
        out += &dots(paper, series);
    }
    out + "</g>"
}

fn whiskers(paper: &Paper, dots: &[Dot]) -> String {
    let mut d = String::new();
    for dot in dots {
        if let Some((low, high)) = dot.y_interval {
            write!(d, "M{},{}V{}", n(paper.x(dot.x)), n(paper.y(low)), n(paper.y(high)))
                .expect("a String takes all");
        }
        if let Some((low, high)) = dot.x_interval {
            let y = n(paper.y(dot.y));
            write!(d, "M{},{y}H{}", n(paper.x(low)), n(paper.x(high))).expect("a String takes all");
        }
    }
    if d.is_empty() { d } else { format!("<path class=\"w\" d=\"{d}\" stroke-width=\"1.5\"/>") }
}

/// How wide dots are, in pixels: many are small.
pub fn dot_size(count: usize) -> f64 {
    match count {
        ..=16 => 8.0,
        17..=80 => 6.0,
        _ => 4.0,
    }
}

fn dots(paper: &Paper, series: &DotSeries) -> String {
    let size = dot_size(series.dots.len());
    let mut out = format!("<g stroke-linecap=\"round\" stroke-width=\"{size}\">");
    for dot in &series.dots {
        let d = format!("M{},{}h.01", n(paper.x(dot.x)), n(paper.y(dot.y)));
        out += &format!("<path class=\"d\" d=\"{d}\">{}</path>", title(&dot.tip));
        if dot.standing != DotStanding::Stands {
            // A smaller one of paper upon it makes it hollow.
            let paper_colour = paper.theme.colour("paper");
            out += &format!("<path d=\"{d}\" stroke=\"{paper_colour}\" stroke-width=\"{}\"/>", size - 3.5);
        }
    }
    out + "</g>"
}

/// Bars of one series in rows, from the left.
fn bars(paper: &Paper, series: &DotSeries) -> String {
    let high = paper.height / paper.figure.y.places.len().max(1) as f64 * BARS_SHARE;
    let (left, tone) = (paper.x(paper.figure.x.low), paper.theme.colour(series.tone.name()));
    let bar = |dot: &Dot| {
        let fill =
            if dot.standing == DotStanding::Stands { tone.clone() } else { paper.theme.colour("paper") };
        format!(
            "<rect class=\"c\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" \
             fill-opacity=\".8\">{}</rect>",
            n(left),
            n(paper.y(dot.y) - high / 2.0),
            n((paper.x(dot.x) - left).max(0.5)),
            n(high),
            title(&dot.tip)
        )
    };
    let out: String = series.dots.iter().map(bar).collect();
    let ink = paper.theme.colour("ink");
    let lines = whiskers(paper, &series.dots);
    out + &lines.replace("<path class=\"w\"", &format!("<path class=\"w\" stroke=\"{ink}\""))
}

fn title(tip: &[String]) -> String {
    format!("<title>{}</title>", escaped(&tip.join("\n")))
}

impl Axis {
    /// Whether its labels are names, which take more room than numbers.
    pub(crate) fn is_named(&self) -> bool {
        !self.places.is_empty()
    }
}

//! A figure as an SVG file: the shapes with axes, labels and a legend around them, for papers and slides.

use super::{Anchor, Label, Place, Theme, area, columns, escaped, labels, rows};
use crate::figure::Figure;

/// Width of a picture in a file, in pixels.
pub const FILE_WIDTH: u32 = 760;
/// Height of a picture in a file, without a title.
pub const FILE_HEIGHT: u32 = 430;

/// So far beyond the axes a dot at their end is still drawn: half of its width.
const RIM: f64 = 6.0;

/// A letter of 13 pixels, on average.
const LETTER: f64 = 7.0;
const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";

/// How high a figure's picture is: where the y axis has names, a line for each.
pub fn file_height(figure: &Figure) -> u32 {
    let names = figure.y.places.len() as u32;
    if figure.cells.is_empty() && names > 0 { FILE_HEIGHT.max(150 + 20 * names) } else { FILE_HEIGHT }
}

/// One figure as an SVG document; its title is the caller's.
pub fn svg(figure: &Figure, theme: Theme) -> String {
    let (legend, lines) = legend(figure, theme);
    let labels = labels(figure);
    let headers = labels.iter().filter_map(|label| match label.place {
        Place::Header(line) => Some(line + 1),
        _ => None,
    });
    let headers = headers.max().unwrap_or(0) as f64;
    let ticks = rows(&figure.y);
    let headings = figure.headings();
    let beside = ticks.iter().enumerate().filter(|(place, _)| !headings.contains(place));
    let widest = beside.map(|(_, (tick, _))| tick.text.chars().count()).max().unwrap_or(0) as f64;
    let (left, top) = (24.0 + (widest * 6.6).min(330.0), 34.0 + lines as f64 * 22.0 + headers * 15.0);
    let (width, height) = (f64::from(FILE_WIDTH) - left - 24.0, f64::from(file_height(figure)) - top - 54.0);
    let high = file_height(figure);
    let frame = Frame { left, top, width, height, theme };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{FILE_WIDTH}\" height=\"{high}\" \
         viewBox=\"0 0 {FILE_WIDTH} {high}\" font-family=\"{FONT}\" font-size=\"13\">{legend}"
    );
    out += &frame.text(8.0, 16.0 + lines as f64 * 22.0, Anchor::Start, "muted", 13, &figure.y.title());
    out += &format!(
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"-{RIM} -{RIM} {} {}\">{}</svg>",
        left - RIM,
        top - RIM,
        width + 2.0 * RIM,
        height + 2.0 * RIM,
        width + 2.0 * RIM,
        height + 2.0 * RIM,
        area(figure, width, height, theme)
    );
    for (place, (tick, _)) in ticks.into_iter().enumerate().filter(|(_, (_, level))| level.is_some()) {
        let y = top + (1.0 - tick.share) * height + 4.0;
        out += &match headings.contains(&place) {
            true => frame.text(8.0, y, Anchor::Start, "ink", 12, &tick.text),
            false => frame.text(left - 8.0, y, Anchor::End, "muted", 12, &tick.text),
        };
    }
    for (tick, _) in columns(figure).into_iter().filter(|(_, level)| level.is_some()) {
        let x = left + tick.share * width;
        let letters = width / figure.x.places.len().max(1) as f64 / 6.6;
        for (line, text) in broken(&tick.text, letters).into_iter().enumerate() {
            let y = top + height + 18.0 + 14.0 * line as f64;
            out += &frame.text(x, y, Anchor::Middle, "muted", 12, &text);
        }
    }
    let middle = left + width / 2.0;
    out += &frame.text(middle, top + height + 42.0, Anchor::Middle, "muted", 13, &figure.x.title());
    for label in &labels {
        out += &frame.label(label);
    }
    out + "</svg>"
}

/// A name on lines of so many letters; a number fits on one.
fn broken(text: &str, letters: f64) -> Vec<String> {
    textwrap::wrap(text, (letters as usize).max(6)).into_iter().map(std::borrow::Cow::into_owned).collect()
}

struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    theme: Theme,
}

impl Frame {
    fn text(&self, x: f64, y: f64, anchor: Anchor, colour: &str, size: u32, text: &str) -> String {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (colour, text) = (self.theme.colour(colour), escaped(text));
        format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
             fill=\"{colour}\">{text}</text>"
        )
    }

    fn label(&self, label: &Label) -> String {
        let (x, y) = (self.left + label.x * self.width, self.top + label.y * self.height);
        let (x, y, colour) = match label.place {
            Place::Above if label.anchor == Anchor::Start => (x + 8.0, y - 8.0, label.tone),
            Place::Above => (x, y - 8.0, label.tone),
            Place::Below => (x, y + 17.0, label.tone),
            Place::Beside if label.anchor == Anchor::End => (x - 9.0, y + 4.0, label.tone),
            Place::Beside => (x + 9.0, y + 4.0, label.tone),
            Place::Centre => (x, y + 4.0, label.tone),
            Place::CentreOnDark => (x, y + 4.0, "paper"),
            Place::Header(line) => (x, self.top - 6.0 - 15.0 * line as f64, label.tone),
        };
        let text = self.text(x, y, label.anchor, colour, 12, &label.text);
        // A rim of paper separates a number from the line below it.
        let rim = format!(
            "<text paint-order=\"stroke\" stroke=\"{}\" stroke-width=\"3\" ",
            self.theme.colour("paper")
        );
        if matches!(label.place, Place::Above | Place::Below | Place::Beside) {
            text.replacen("<text ", &rim, 1)
        } else {
            text
        }
    }
}

/// Names of series and curves with a piece of their line, in as many rows as they need.
fn legend(figure: &Figure, theme: Theme) -> (String, usize) {
    let series = figure.series.iter().map(|s| (s.name.as_str(), s.tone.name(), s.broken, true));
    let curves = figure.curves.iter().map(|c| (c.name.as_str(), c.tone.name(), true, false));
    let (mut out, mut x, mut row) = (String::new(), 8.0, 0);
    for (name, tone, broken, dotted) in series.chain(curves) {
        let wide = 30.0 + name.chars().count() as f64 * LETTER + 18.0;
        if x + wide > f64::from(FILE_WIDTH) && x > 8.0 {
            (x, row) = (8.0, row + 1);
        }
        let (y, colour) = (14.0 + f64::from(row) * 22.0, theme.colour(tone));
        let dashes = if broken { " stroke-dasharray=\"6 4\"" } else { "" };
        out += &format!("<path d=\"M{x},{y}h22\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>");
        if dotted {
            out += &format!("<circle cx=\"{}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>", x + 11.0);
        }
        let (ink, text) = (theme.colour("ink"), escaped(name));
        out += &format!("<text x=\"{}\" y=\"{}\" fill=\"{ink}\">{text}</text>", x + 30.0, y + 4.5);
        x += wide;
    }
    (out.clone(), if out.is_empty() { 0 } else { row as usize + 1 })
}

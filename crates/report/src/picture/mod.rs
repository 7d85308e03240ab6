//! Pictures: a figure as shapes and labels, in a page that scales and zooms, or as an SVG file.
//!
//! Both draw the same shapes (`area`) and the same labels (`labels`). Drawing places what the figure holds and
//! works nothing out. There is no chart library: one was tried, and added 0.6 MB to each page and a second of loading
//! and drawing to each report.

mod area;
mod dot_labels;
mod file;
mod label;
mod labels;
mod sheet;
mod theme;

use crate::figure::Figure;

pub use area::dot_size;
pub(crate) use area::{HEIGHT, WIDTH, area, escaped};
pub use file::{FILE_HEIGHT, FILE_WIDTH, file_height, svg};
pub(crate) use label::{Anchor, Label, Place};
pub(crate) use labels::{columns, labels, rows};
pub(crate) use sheet::sheet;
pub(crate) use theme::COLOURS;
pub use theme::Theme;

/// Alternative text for screen readers.
pub fn describe(figure: &Figure) -> String {
    let dots: usize = figure.series.iter().map(|series| series.dots.len()).sum();
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    let shown = match figure.cells.len() {
        0 => format!("{} against {}, {dots} points: {}", figure.y.label, figure.x.label, names.join("; ")),
        cells => {
            format!("{} by {} and {}, {cells} fields", cells_are(figure), figure.y.label, figure.x.label)
        }
    };
    let said = [figure.title.as_str(), figure.answer.as_str()];
    let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
    format!("{} Chart of {shown}. The table below it has the same figures.", said.join(" "))
}

fn cells_are(figure: &Figure) -> &'static str {
    figure.cells_are.map_or("value", |(what, _)| what)
}

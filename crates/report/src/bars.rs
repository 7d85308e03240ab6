//! A figure on a terminal: a bar of block characters for each dot, by the axis of the chart, and its value behind it.

use crate::figure::{Figure, Series};
use crate::text::{Ink, Paint, clean, columns, pad};

/// Dots of a series that are shown; of more, every so many-th.
const LINES_MAX: usize = 12;
/// Columns of the longest bar.
const BAR_MAX: usize = 28;
/// Eighths of a column.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// One chart; ends with an empty line.
pub(crate) fn bars(figure: &Figure, paint: Paint) -> String {
    let mut out = paint.hang("", 2, &paint.ink(Ink::Strong, &clean(&figure.title)));
    if !figure.cells.is_empty() {
        out += &cells(figure, paint);
    }
    for series in &figure.series {
        out += &paint.hang(
            "  ",
            4,
            &clean(&format!("{}: {} by {}", series.name, figure.y.label, figure.x.label)),
        );
        out += &lines(figure, series, paint);
    }
    out.push('\n');
    out
}

fn lines(figure: &Figure, series: &Series, paint: Paint) -> String {
    let every = series.dots.len().div_ceil(LINES_MAX).max(1);
    let name = |x: f64| figure.x.places.get(x as usize).cloned().unwrap_or_else(|| figure.x.quantity.text(x));
    let shown = || series.dots.iter().step_by(every);
    let widest = shown().map(|dot| columns(&clean(&name(dot.x)))).max().unwrap_or(0).min(paint.width / 3);
    let line = |dot: &crate::figure::Dot| {
        let (low, high) = (dot.y_interval.map(|e| e.0), dot.y_interval.map(|e| e.1));
        let value = figure.y.quantity.interval_text(dot.y, low, high);
        let room = paint.width.saturating_sub(widest + columns(&value) + 8).min(BAR_MAX);
        format!("    {}  {} {value}\n", pad(&clean(&name(dot.x)), widest), bar(figure.y.share(dot.y), room))
    };
    shown().map(line).collect()
}

/// A share of so many columns, to an eighth of one.
fn bar(share: f64, room: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * room as f64 * 8.0).round() as usize;
    pad(&format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]), room)
}

fn cells(figure: &Figure, paint: Paint) -> String {
    let widest = figure.y.places.iter().map(|name| columns(name)).max().unwrap_or(0);
    let line = |cell: &crate::figure::Cell| {
        let (row, column) = (&figure.y.places[cell.row], &figure.x.places[cell.column]);
        let text =
            format!("{}  by {}  {} {}", pad(row, widest), pad(column, 8), bar(cell.shade, 12), cell.label);
        paint.hang("    ", 6, &text)
    };
    figure.cells.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██  ");
        // 0.28 of 4 columns are 9 eighths.
        assert_eq!(bar(0.28, 4), "█▏  ");
        assert_eq!(bar(-1.0, 2), "  ");
    }
}

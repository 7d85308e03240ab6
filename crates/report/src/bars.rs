//! A figure on a terminal: a bar of block characters for each dot, by the axis of the chart, and its value behind it.

use crate::figure::{Dot, DotSeries, Figure};
use crate::paint::{Ink, Paint, clean, columns, pad};

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
            &clean(&{
                let (of, by) = if series.bars { (&figure.x, &figure.y) } else { (&figure.y, &figure.x) };
                format!("{}: {} by {}", series.name, of.label, by.label)
            }),
        );
        out += &lines(figure, series, paint);
    }
    out.push('\n');
    out
}

fn lines(figure: &Figure, series: &DotSeries, paint: Paint) -> String {
    let every = series.dots.len().div_ceil(LINES_MAX).max(1);
    // The label of a dot in the picture, its queue depth, comes first.
    let name = |dot: &Dot| {
        let axis = if series.bars { &figure.y } else { &figure.x };
        let at = if series.bars { dot.y } else { dot.x };
        let place = axis.places.get(at as usize).cloned().unwrap_or_else(|| axis.quantity.text(at));
        match &dot.label {
            Some(label) if !series.bars => clean(&format!("QD {label}: {place}")),
            _ => clean(&place),
        }
    };
    let shown = || series.dots.iter().step_by(every);
    let widest = shown().map(|dot| columns(&name(dot))).max().unwrap_or(0).min(paint.width / 3);
    let line = |dot: &Dot| {
        let (axis, at, ends) = match series.bars {
            true => (&figure.x, dot.x, dot.x_interval),
            false => (&figure.y, dot.y, dot.y_interval),
        };
        let word = dot.standing.word().map_or_else(String::new, |word| format!("  {word}"));
        let value = axis.quantity.interval_text(at, ends.map(|e| e.0), ends.map(|e| e.1));
        let value = format!("{value}{word}");
        let room = paint.width.saturating_sub(widest + columns(&value) + 8).min(BAR_MAX);
        format!("    {}  {} {value}\n", pad(&name(dot), widest), bar(axis.share(at), room))
    };
    shown().map(line).collect()
}

/// A share of so many columns, to an eighth of one.
fn bar(share: f64, room: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * room as f64 * 8.0).round() as usize;
    pad(&format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]), room)
}

/// Shades of a field, from the lightest.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// A row of a heat map whose fields have no words: a sign each, from left to right.
fn shades(figure: &Figure, row: usize) -> String {
    let mut fields: Vec<_> = figure.cells.iter().filter(|cell| cell.row == row).collect();
    fields.sort_by_key(|cell| cell.column);
    let sign = |shade: f64| SHADES[((shade.clamp(0.0, 1.0) * 5.0) as usize).min(4)];
    fields.iter().flat_map(|cell| [sign(cell.shade); 2]).collect()
}

fn cells(figure: &Figure, paint: Paint) -> String {
    let widest = figure.y.places.iter().map(|name| columns(name)).max().unwrap_or(0);
    if figure.cells.iter().all(|cell| cell.label.is_empty()) {
        let line =
            |row: usize| format!("    {}  {}\n", pad(&figure.y.places[row], widest), shades(figure, row));
        return (0..figure.y.places.len()).rev().map(line).collect();
    }
    let line = |cell: &crate::figure::HeatCell| {
        let (row, column) = (&figure.y.places[cell.row], &figure.x.places[cell.column]);
        let word = cell.standing.word().map_or_else(String::new, |word| format!("  {word}"));
        let text = format!(
            "{}  by {}  {} {}{word}",
            pad(row, widest),
            pad(column, 8),
            bar(cell.shade, 12),
            cell.label
        );
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

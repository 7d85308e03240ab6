//! Words in a picture: which of them are written, and where, so that none lies upon another.

use super::{
    dot_labels::dot_labels,
    label::{AREA, Anchor, LETTER, LINE, Label, NARROW, Place, frame},
};
use crate::figure::{Along, Axis, Dot, Figure, FindingMark, Tick};

/// The narrowest area in which a page writes into fields: 470 pixels less the names of the rows.
const CELLS: f64 = 400.0;
/// So many round numbers say how an axis runs; with fewer, the others are written too.
const ROUND_MIN: usize = 3;

/// Every label of a figure.
pub(crate) fn labels(figure: &Figure) -> Vec<Label> {
    let mut out = headers(figure);
    out.extend(figure.marks.iter().filter(|mark| mark.along == Along::Y).map(|mark| level(figure, mark)));
    out.extend(figure.cells.iter().filter(|_| cells_fit(figure)).map(|cell| Label {
        x: figure.x.share(cell.column as f64),
        y: 1.0 - figure.y.share(cell.row as f64),
        text: cell.label.clone(),
        tone: "ink",
        anchor: Anchor::Middle,
        // 0.55: from there on the ground is nearer to the ink than to the paper.
        place: if cell.shade > 0.55 { Place::CentreOnDark } else { Place::Centre },
        series: None,
        wide_only: false,
    }));
    out.extend(dot_labels(figure, &out));
    out
}

/// Name of a level mark: at the right end of its line, or at the left one where it would lie upon dots.
fn level(figure: &Figure, mark: &FindingMark) -> Label {
    let at = |x: f64, anchor: Anchor| Label {
        x,
        y: 1.0 - figure.y.share(mark.at),
        text: mark.label.clone(),
        tone: mark.tone.name(),
        anchor,
        place: Place::Above,
        series: None,
        wide_only: false,
    };
    let dots = || figure.series.iter().flat_map(|series| &series.dots);
    let place = |dot: &Dot| (figure.x.share(dot.x) * AREA.0, (1.0 - figure.y.share(dot.y)) * AREA.1);
    let covers = |label: &Label| {
        let (left, top, right, foot) = frame(label, AREA.0);
        // A dot of eight pixels, its number above it.
        dots()
            .map(place)
            .filter(|(x, y)| (left - 4.0..right + 4.0).contains(x) && (top - 4.0..foot + LINE).contains(y))
            .count()
    };
    let (right, left) = (at(1.0, Anchor::End), at(0.0, Anchor::Start));
    if covers(&left) < covers(&right) { left } else { right }
}

/// Whether every field is wider than what is written in it, where the page is so narrow that it is just written at all;
/// of a map with some numbers only, the others would seem to be missing.
fn cells_fit(figure: &Figure) -> bool {
    let wide = CELLS / figure.x.places.len().max(1) as f64;
    figure.cells.iter().all(|cell| cell.label.chars().count() as f64 * LETTER + 4.0 <= wide)
}

/// Names of upright marks, above the area; those that would write over each other take turns in height.
pub(crate) fn headers(figure: &Figure) -> Vec<Label> {
    let mut marks: Vec<&FindingMark> = figure.marks.iter().filter(|mark| mark.along == Along::X).collect();
    marks.sort_by(|a, b| a.at.total_cmp(&b.at));
    let mut lines: Vec<Vec<(f64, f64)>> = Vec::new();
    let place = |mark: &FindingMark| {
        let (x, wide) = (figure.x.share(mark.at).clamp(0.0, 1.0), mark.label.chars().count() as f64 * LETTER);
        let (anchor, from) = match x {
            x if x > 0.7 => (Anchor::End, x * NARROW - wide),
            x if x < 0.3 => (Anchor::Start, x * NARROW),
            x => (Anchor::Middle, x * NARROW - wide / 2.0),
        };
        let to = from + wide + LETTER;
        let free = |line: &Vec<(f64, f64)>| line.iter().all(|&(a, b)| to < a || from > b);
        let line = lines.iter().position(free).unwrap_or(lines.len());
        if line == lines.len() {
            lines.push(Vec::new());
        }
        lines[line].push((from, to));
        let (text, tone) = (mark.label.clone(), mark.tone.name());
        Label { x, y: 0.0, text, tone, anchor, place: Place::Header(line), series: None, wide_only: false }
    };
    marks.into_iter().map(place).collect()
}

/// The labels below the area: names of bars all (they are broken into lines), of columns and numbers as many as
/// there is room for.
pub(crate) fn columns(figure: &Figure) -> Vec<(Tick, Option<u8>)> {
    let labels = figure.x.labels();
    match figure.x.is_named() && figure.cells.is_empty() {
        true => labels.into_iter().map(|tick| (tick, Some(1))).collect(),
        false => thinned(labels, false),
    }
}

/// The labels beside the area: names all, numbers as many as there is room for.
pub(crate) fn rows(axis: &Axis) -> Vec<(Tick, Option<u8>)> {
    match axis.is_named() {
        true => axis.labels().into_iter().map(|tick| (tick, Some(1))).collect(),
        false => thinned(axis.labels(), true),
    }
}

/// Which ticks may be written. What was measured between the grid's sizes is read from its dot: 1.33M between 1M and 2M
/// has no label.
fn written(ticks: &[Tick], upright: bool) -> Vec<usize> {
    let even = ticks.windows(3).all(|t| (t[2].share - 2.0 * t[1].share + t[0].share).abs() < 1e-6);
    // 0.5× is as round as 2×.
    let is_round = |text: &str| !text.contains('.') || text.ends_with('×');
    let round: Vec<usize> = (0..ticks.len()).filter(|&place| is_round(&ticks[place].text)).collect();
    if upright || even || round.len() < ROUND_MIN { (0..ticks.len()).collect() } else { round }
}

/// Ticks with the step at which they are written: 1 for those that have room on a phone, 2 for those that have it on a
/// page, and `None` for the rest. Every second, third, .. stays, so that what is left is even.
pub(crate) fn thinned(ticks: Vec<Tick>, upright: bool) -> Vec<(Tick, Option<u8>)> {
    let places = written(&ticks, upright);
    let wide_of =
        |tick: &Tick| if upright { LINE + 3.0 } else { tick.text.chars().count() as f64 * LETTER + 12.0 };
    let fits = |every: usize, pixels: f64| {
        let kept: Vec<&Tick> = places.iter().step_by(every).map(|&place| &ticks[place]).collect();
        kept.windows(2).all(|pair| {
            (pair[1].share - pair[0].share).abs() * pixels >= (wide_of(pair[0]) + wide_of(pair[1])) / 2.0
        })
    };
    let (phone, page) = if upright { (AREA.1 - 60.0, AREA.1 - 20.0) } else { (NARROW, AREA.0) };
    let most = places.len().max(1);
    let wide = (1..=most).find(|&every| fits(every, page)).unwrap_or(most);
    // Of those that a page shows: what a phone writes, a page writes too, and none may lie upon another there.
    let narrow =
        (wide..=most).step_by(wide).find(|&every| fits(every, phone)).unwrap_or(most.next_multiple_of(wide));
    let mut level = vec![None; ticks.len()];
    for (step, &place) in places.iter().enumerate() {
        level[place] = match step {
            step if step % narrow == 0 => Some(1),
            step if step % wide == 0 => Some(2),
            _ => None,
        };
    }
    ticks.into_iter().zip(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(count: usize, text: &str) -> Vec<Tick> {
        (0..count).map(|i| Tick { share: i as f64 / (count - 1) as f64, text: text.to_owned() }).collect()
    }

    #[test]
    fn what_has_no_room_is_not_written_and_what_is_left_is_even() {
        // 20 labels of 4 letters: 38 pixels each; 7 fit into 300, 16 into 620.
        let told = thinned(ticks(20, "1024"), false);
        let first: Vec<usize> = (0..20).filter(|&i| told[i].1 == Some(1)).collect();
        assert!(first.windows(2).all(|pair| pair[1] - pair[0] == first[1] - first[0]), "{first:?}");
        assert!(first.len() >= 5 && first.len() <= 7, "{first:?}");
        assert!(told.iter().filter(|tick| tick.1.is_some()).count() >= first.len());
    }

    #[test]
    fn what_a_phone_and_a_page_write_never_lies_upon_another_and_odd_sizes_are_not_written() {
        // A suite's sizes in megabytes, with sizes between them that narrow a finding.
        let sizes =
            [("4K", 4e-3), ("64K", 0.064), ("256K", 0.25), ("512K", 0.5), ("1M", 1.0), ("1.33M", 1.33)];
        let more =
            [("2M", 2.0), ("8M", 8.0), ("6.12M", 6.12), ("13.4M", 13.4), ("32M", 32.0), ("512M", 512.0)];
        let mut all: Vec<(&str, f64)> = sizes.into_iter().chain(more).collect();
        all.sort_by(|a, b| a.1.total_cmp(&b.1));
        let tick = |(text, size): (&str, f64)| Tick {
            share: (size / 4e-3_f64).ln() / 128e3_f64.ln(),
            text: text.into(),
        };
        let told = thinned(all.into_iter().map(tick).collect(), false);
        assert!(told.iter().all(|(tick, level)| level.is_none() || !tick.text.contains('.')), "{told:?}");
        let apart = |pixels: f64, most: u8| {
            let shown: Vec<&Tick> =
                told.iter().filter(|t| t.1.is_some_and(|l| l <= most)).map(|t| &t.0).collect();
            assert!(shown.len() >= 3, "{shown:?}");
            for pair in shown.windows(2) {
                let letters = (pair[0].text.len() + pair[1].text.len()) as f64 / 2.0;
                assert!((pair[1].share - pair[0].share) * pixels > letters * LETTER, "{pair:?}");
            }
        };
        apart(NARROW, 1);
        apart(AREA.0, 2);
    }

    #[test]
    fn what_would_lie_upon_another_on_a_phone_is_written_on_a_page_only() {
        let dot = |at: f64, text: &str| crate::figure::Dot {
            x: at,
            y: 1.0,
            x_interval: None,
            y_interval: None,
            label: Some(text.to_owned()),
            tip: Vec::new(),
            standing: crate::figure::DotStanding::Stands,
        };
        // 620 pixels for 100: 12 from 1 to 3, and 6 of 300.
        let dots = vec![dot(1.0, "1"), dot(3.0, "2"), dot(50.0, "4")];
        let series = vec![crate::figure::DotSeries { joined: true, dots, ..Default::default() }];
        let x = Axis::from_zero("x", crate::quantity::Quantity::Seconds, &[96.0]);
        let y = Axis::from_zero("y", crate::quantity::Quantity::Seconds, &[2.0]);
        let told: Vec<bool> = labels(&Figure { x, y, series, ..Figure::default() })
            .iter()
            .map(|label| label.wide_only)
            .collect();
        assert_eq!(told, [false, true, false]);
    }

    #[test]
    fn ratios_below_one_are_written() {
        let tick = |(place, text): (usize, &str)| Tick { share: place as f64 / 4.0, text: text.into() };
        let told =
            thinned(["0.2×", "0.5×", "1×", "2×", "5×"].into_iter().enumerate().map(tick).collect(), false);
        assert!(told.iter().all(|(_, level)| level.is_some()), "{told:?}");
    }

    fn map(columns: usize, label: &str) -> Figure {
        let names: Vec<String> = (0..columns).map(|i| format!("{} KiB", 16 * (i + 1))).collect();
        let cell = |column: usize| crate::figure::HeatCell {
            column,
            row: 0,
            value: 1.0,
            interval: None,
            shade: 0.5,
            label: label.to_owned(),
            tip: Vec::new(),
            standing: crate::figure::DotStanding::Stands,
        };
        let cells = (0..columns).map(cell).collect();
        let y = Axis::places("block size", vec!["16 KiB".into()]);
        Figure { x: Axis::places("stride", names), y, cells, ..Figure::default() }
    }

    #[test]
    fn a_map_with_more_columns_than_have_room_writes_no_numbers_and_thins_its_names_out() {
        let few = map(4, "3.50 GB/s");
        assert_eq!(labels(&few).len(), 4);
        assert!(columns(&few).iter().all(|(_, level)| level.is_some()));
        let many = map(24, "3.50 GB/s");
        assert!(labels(&many).is_empty());
        let told = columns(&many);
        let shown: Vec<&Tick> =
            told.iter().filter(|(_, level)| level.is_some()).map(|(tick, _)| tick).collect();
        assert!(shown.len() >= 4 && shown.len() < 24, "{shown:?}");
        for pair in shown.windows(2) {
            let letters = (pair[0].text.len() + pair[1].text.len()) as f64 / 2.0;
            assert!((pair[1].share - pair[0].share) * AREA.0 > letters * LETTER, "{pair:?}");
        }
    }

    #[test]
    fn few_ticks_are_all_written() {
        assert!(thinned(ticks(4, "64K"), false).iter().all(|tick| tick.1 == Some(1)));
    }

    #[test]
    fn marks_close_together_take_turns_in_height() {
        let mark = |at: f64| FindingMark {
            along: Along::X,
            at,
            interval: None,
            label: "reads: plateau from 64 KiB".into(),
            tone: crate::figure::Tone::Read,
        };
        let x = crate::figure::Axis::from_zero("x", crate::quantity::Quantity::Seconds, &[10.0]);
        let figure = Figure { x, marks: vec![mark(5.0), mark(5.5), mark(1.0)], ..Figure::default() };
        let lines: Vec<Place> = headers(&figure).iter().map(|label| label.place).collect();
        assert_eq!(lines, [Place::Header(0), Place::Header(1), Place::Header(2)]);
    }
}

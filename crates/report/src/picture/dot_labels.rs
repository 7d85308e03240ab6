//! Labels of dots: written where they hide the least of dots and lines.

use super::label::{AREA, Anchor, Frame, LINE, Label, NARROW, Place, apart, frame};
use crate::figure::{Along, Dot, Figure};

/// Where a label of a dot on a line may stand, the first of equally good ones first.
const PLACES: [(Anchor, Place); 4] = [
    (Anchor::Middle, Place::Above),
    (Anchor::Start, Place::Beside),
    (Anchor::End, Place::Beside),
    (Anchor::Middle, Place::Below),
];
/// Pixels from a dot to the end of its interval up to which its label may stand behind that.
const NEARBY: f64 = 40.0;
/// A hidden dot is worse than any number of lines that run through a label.
const DOT: usize = 100;

/// The labels of all dots that have one, and have room for it among the `others`.
pub(super) fn dot_labels(figure: &Figure, others: &[Label]) -> Vec<Label> {
    let ends = || others.iter().filter(|label| label.anchor == Anchor::End || label.place == Place::Above);
    let mut taken: Vec<Frame> = ends().map(|label| frame(label, AREA.0)).collect();
    let mut taken_narrow: Vec<Frame> = ends().map(|label| frame(label, NARROW)).collect();
    let mut out: Vec<Label> = Vec::new();
    let drawn = Drawn::of(figure);
    for (number, series) in figure.series.iter().enumerate() {
        for dot in &series.dots {
            let Some(text) = dot.label.clone() else { continue };
            let end = if series.bars { dot.x_interval.map_or(dot.x, |ends| ends.1) } else { dot.x };
            let mut label = Label {
                x: figure.x.share(end),
                y: 1.0 - figure.y.share(dot.y),
                text,
                tone: if series.joined { series.tone.name() } else { "ink" },
                anchor: Anchor::Start,
                place: Place::Beside,
                series: Some(number),
                wide_only: false,
            };
            if series.bars {
                // Rows are a line of text each, and nothing else stands in them.
                out.push(label);
                continue;
            }
            // Where two lines run upon each other, one number serves both.
            let said = |other: &&mut Label| {
                let (x, y) = ((other.x - label.x) * AREA.0, (other.y - label.y) * AREA.1);
                other.text == label.text && x.hypot(y) < 2.0 * LINE
            };
            if let Some(other) = out.iter_mut().find(said) {
                other.tone = if other.series == Some(number) { other.tone } else { "ink" };
                continue;
            }
            let places: &[(Anchor, Place)] = if series.joined { &PLACES } else { &PLACES[1..2] };
            let dot_end = dot.x_interval.map_or(label.x, |(_, high)| figure.x.share(high));
            let Some(best) = best_of(places, &label, dot_end, &taken, &drawn) else { continue };
            label = best;
            taken.push(frame(&label, AREA.0));
            let own = frame(&label, NARROW);
            label.wide_only = !taken_narrow.iter().all(|other| apart(own, *other));
            if !label.wide_only {
                taken_narrow.push(own);
            }
            out.push(label);
        }
    }
    out
}

/// The place with room where the label hides the least. The label is put to the right of the dot's interval, whose
/// right end is at `interval_end`, where that is nearby.
fn best_of(
    places: &[(Anchor, Place)],
    label: &Label,
    interval_end: f64,
    taken: &[Frame],
    drawn: &Drawn,
) -> Option<Label> {
    let right = if (interval_end - label.x) * AREA.0 <= NEARBY { interval_end } else { label.x };
    let candidate = |&(anchor, place): &(Anchor, Place)| {
        let x = if (anchor, place) == PLACES[1] { right } else { label.x };
        Label { anchor, place, x, ..label.clone() }
    };
    let has_room = |label: &Label| {
        let own = frame(label, AREA.0);
        let within = 0.0 <= own.0 && own.2 <= AREA.0;
        (within || label.anchor == Anchor::Middle)
            && own.3 <= AREA.1
            && taken.iter().all(|other| apart(own, *other))
    };
    let at = (label.x * AREA.0, label.y * AREA.1);
    places
        .iter()
        .map(candidate)
        .filter(has_room)
        .min_by_key(|label| drawn.hidden_by(frame(label, AREA.0), at))
}

type Spot = (f64, f64);

/// What a figure shows, in pixels.
struct Drawn {
    dots: Vec<Spot>,
    lines: Vec<(Spot, Spot)>,
}

impl Drawn {
    fn of(figure: &Figure) -> Self {
        let spot = |x: f64, y: f64| (figure.x.share(x) * AREA.0, (1.0 - figure.y.share(y)) * AREA.1);
        let of_dot = |dot: &Dot| spot(dot.x, dot.y);
        let pairs = |spots: Vec<Spot>| spots.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>();
        let all = || figure.series.iter().flat_map(|series| &series.dots);
        let joined = figure.series.iter().filter(|series| series.joined);
        let mut lines: Vec<(Spot, Spot)> =
            joined.flat_map(|series| pairs(series.dots.iter().map(of_dot).collect())).collect();
        lines.extend(
            figure
                .curves
                .iter()
                .flat_map(|curve| pairs(curve.points.iter().map(|&(x, y)| spot(x, y)).collect())),
        );
        lines.extend(all().filter_map(|dot| {
            let (low, high) = dot.x_interval?;
            Some((spot(low, dot.y), spot(high, dot.y)))
        }));
        lines.extend(all().filter_map(|dot| {
            let (low, high) = dot.y_interval?;
            Some((spot(dot.x, low), spot(dot.x, high)))
        }));
        lines.extend(figure.marks.iter().map(|mark| match mark.along {
            Along::X => {
                let x = figure.x.share(mark.at) * AREA.0;
                ((x, 0.0), (x, AREA.1))
            }
            Along::Y => {
                let y = (1.0 - figure.y.share(mark.at)) * AREA.1;
                ((0.0, y), (AREA.0, y))
            }
        }));
        Self { dots: all().map(of_dot).collect(), lines }
    }

    /// How much a label hides of other dots than its own, which is at a place, and of lines.
    fn hidden_by(&self, label: Frame, at: Spot) -> usize {
        // Eight pixels, and one around them.
        let frame = |&(x, y): &Spot| (x - 5.0, y - 5.0, x + 5.0, y + 5.0);
        let dots = self.dots.iter().filter(|&&spot| spot != at && !apart(label, frame(&spot))).count();
        let lines = self.lines.iter().filter(|&&line| crosses(label, line)).count();
        DOT * dots + lines
    }
}

/// Whether a line runs through a frame: the part of it within each pair of sides, as shares of its length, is not empty
/// (Liang and Barsky, 1984).
fn crosses(frame: Frame, (from, to): (Spot, Spot)) -> bool {
    let (mut begin, mut end) = (0.0f64, 1.0f64);
    for (low, high, from, to) in [(frame.0, frame.2, from.0, to.0), (frame.1, frame.3, from.1, to.1)] {
        let length = to - from;
        if length == 0.0 {
            if from < low || from > high {
                return false;
            }
            continue;
        }
        let (enters, leaves) = ((low - from) / length, (high - from) / length);
        begin = begin.max(enters.min(leaves));
        end = end.min(enters.max(leaves));
    }
    begin <= end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        figure::{Axis, DotSeries, DotStanding},
        picture::labels::labels,
        quantity::Quantity,
    };

    fn places(dots: &[(f64, f64, &str)]) -> Vec<(Anchor, Place)> {
        let dot = |&(x, y, text): &(f64, f64, &str)| Dot {
            x,
            y,
            x_interval: None,
            y_interval: None,
            label: Some(text.to_owned()),
            tip: Vec::new(),
            standing: DotStanding::Stands,
        };
        let series = DotSeries { joined: true, dots: dots.iter().map(dot).collect(), ..Default::default() };
        let x = Axis::from_zero("x", Quantity::Seconds, &[96.0]);
        let y = Axis::from_zero("y", Quantity::Seconds, &[1.0]);
        let figure = Figure { x, y, series: vec![series], ..Figure::default() };
        labels(&figure).iter().map(|label| (label.anchor, label.place)).collect()
    }

    #[test]
    fn numbers_of_dots_above_each_other_are_written_beside_them() {
        let steep = [(50.0, 0.1, "1"), (50.0, 0.18, "2"), (50.0, 0.26, "4"), (50.0, 0.9, "8")];
        let [.., last] = PLACES;
        assert!(last.1 == Place::Below);
        let beside = (Anchor::Start, Place::Beside);
        // The last has nothing above it.
        assert_eq!(places(&steep), [beside, beside, beside, (Anchor::Middle, Place::Above)]);
    }

    #[test]
    fn numbers_of_a_flat_line_are_written_above_it_and_those_at_the_edge_of_a_steep_one_to_the_left() {
        let above = (Anchor::Middle, Place::Above);
        assert_eq!(places(&[(10.0, 0.5, "1"), (50.0, 0.5, "2"), (90.0, 0.5, "4")]), [above; 3]);
        // 99 of 100: no room to the right.
        let edge = places(&[(99.0, 0.3, "1024"), (99.0, 0.6, "2048")]);
        assert_eq!(edge[0], (Anchor::End, Place::Beside));
    }

    #[test]
    fn a_line_through_a_frame_is_seen_and_one_beside_it_is_not() {
        let frame = (10.0, 10.0, 20.0, 20.0);
        assert!(crosses(frame, ((0.0, 0.0), (30.0, 30.0))));
        assert!(crosses(frame, ((15.0, 0.0), (15.0, 12.0))), "it ends within");
        assert!(!crosses(frame, ((0.0, 15.0), (8.0, 15.0))), "it ends before");
        assert!(!crosses(frame, ((0.0, 18.0), (18.0, 36.0))), "it passes a corner");
        assert!(!crosses(frame, ((5.0, 0.0), (5.0, 30.0))));
    }
}

//! The data of a chart, whole: whoever draws it, live, as a picture or as a table, computes nothing.

use iosonde_model::Op;

use crate::quantity::Quantity;

/// How an axis spaces its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal steps, equal distances.
    Linear,
    /// Equal ratios, equal distances.
    Log,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What it shows, in words: "requests in flight".
    pub label: String,
    /// What its numbers count; the unit follows.
    pub quantity: Quantity,
    /// How it spaces them.
    pub spacing: Spacing,
    /// Where it begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// Where it is labelled; empty on a linear axis, whose ticks are equal steps.
    pub ticks: Vec<f64>,
    /// Names of the places 0, 1, .. where it has names instead of numbers.
    pub places: Vec<String>,
}

impl Axis {
    /// A logarithmic axis around these values, with ticks at `ticks` (as many as lie inside).
    pub fn log(label: &str, quantity: Quantity, values: &[f64], ticks: &[f64]) -> Self {
        let (low, high) = extent(values);
        // 6 % of the width on both sides keeps dots and their whiskers off the frame.
        let margin = (high / low).powf(0.06).max(1.1);
        let (low, high) = (low / margin, high * margin);
        let ticks = ticks.iter().copied().filter(|tick| (low..=high).contains(tick)).collect();
        Self {
            label: label.to_owned(),
            quantity,
            spacing: Spacing::Log,
            low,
            high,
            ticks,
            places: Vec::new(),
        }
    }

    /// A linear axis from 0 to a little more than the largest value, ending at a round number.
    pub fn from_zero(label: &str, quantity: Quantity, values: &[f64]) -> Self {
        let (_, high) = extent(values);
        let factor = quantity.scale(high).factor;
        let high = round_up(high * 1.04 / factor) * factor;
        let (spacing, low) = (Spacing::Linear, 0.0);
        Self { label: label.to_owned(), quantity, spacing, low, high, ticks: Vec::new(), places: Vec::new() }
    }

    /// An axis of names.
    pub fn places(label: &str, places: Vec<String>) -> Self {
        let high = places.len() as f64 - 0.5;
        Self {
            label: label.to_owned(),
            quantity: Quantity::Place,
            spacing: Spacing::Linear,
            low: -0.5,
            high,
            ticks: Vec::new(),
            places,
        }
    }

    /// The label with the unit in which its ticks are written: "throughput (MB/s)".
    pub fn title(&self) -> String {
        match (self.spacing, self.quantity) {
            // These ticks carry their own units, or need none.
            (Spacing::Log, _) | (_, Quantity::InFlight | Quantity::Place) => self.label.clone(),
            (Spacing::Linear, quantity) => format!("{} ({})", self.label, quantity.scale(self.high).unit),
        }
    }
}

fn extent(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (1.0, 1.0) }
}

/// The next of 1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8 times a power of ten: each cuts into 4 to 6 even steps.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= value * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// 1, 2, 5, 10, 20, .. where the values span little, whole powers of ten where they span more than four.
pub fn decimal_ticks(values: &[f64]) -> Vec<f64> {
    let (low, high) = extent(values);
    let steps: &[f64] = match high / low {
        span if span > 1e4 => &[1.0],
        span if span > 6.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
    };
    let powers = low.log10().floor() as i32 - 1..=high.log10().ceil() as i32;
    powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power))).collect()
}

/// Whether a dot's figures can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is known against them.
    Stands,
    /// May be wrong: drawn hollow.
    Doubted,
}

/// One measured point.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Where it stands.
    pub x: f64,
    /// Where it stands.
    pub y: f64,
    /// The interval of `x`, where it has one.
    pub x_interval: Option<(f64, f64)>,
    /// The interval of `y`.
    pub y_interval: Option<(f64, f64)>,
    /// Written beside it: the number in flight.
    pub label: Option<String>,
    /// What it is and what it says, a line each, for whoever points at it.
    pub tip: Vec<String>,
    /// Whether it can be believed.
    pub standing: Standing,
}

/// What a colour stands for, the same in every chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads, a second kind of them.
    OtherRead,
    /// Writes, a second kind of them.
    OtherWrite,
    /// Neither: the canary, a whole mix.
    Neutral,
}

impl Tone {
    /// The tone of a direction; `other` where a chart has two kinds of it.
    pub fn of(op: Op, other: bool) -> Self {
        match (op, other) {
            (Op::Read, false) => Self::Read,
            (Op::Read, true) => Self::OtherRead,
            (Op::Write, false) => Self::Write,
            (Op::Write, true) => Self::OtherWrite,
            (Op::Trim | Op::Flush, _) => Self::Neutral,
        }
    }

    /// Its name in the style sheet: `--read`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::OtherRead => "other-read",
            Self::OtherWrite => "other-write",
            Self::Neutral => "neutral",
        }
    }
}

/// Dots that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// What its colour stands for.
    pub tone: Tone,
    /// Drawn with a broken line: the second of two kinds that share a tone.
    pub broken: bool,
    /// Whether a line joins the dots: not where the places between them mean nothing.
    pub joined: bool,
    /// The dots, in the order in which a line joins them.
    pub dots: Vec<Dot>,
}

/// Which axis a mark stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// A vertical line at a value of x.
    X,
    /// A horizontal line at a value of y.
    Y,
}

/// A finding drawn into the chart: a line at its value, a band over its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Which axis `at` is a value of.
    pub along: Along,
    /// The value.
    pub at: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// A few words and the value.
    pub label: String,
    /// What its colour stands for.
    pub tone: Tone,
}

/// A curve that was not measured: a law, or a model fitted elsewhere; with a band where it has an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// Its course.
    pub points: Vec<(f64, f64)>,
    /// The outline of its interval, as a closed polygon; empty without one.
    pub band: Vec<(f64, f64)>,
}

/// The data of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The chart's registered name, also its anchor in documents.
    pub name: &'static str,
    /// The question.
    pub title: String,
    /// The answer in sentences, from findings.
    pub answer: String,
    /// How to read it, and what of it is in doubt.
    pub reading: String,
    /// The experiment whose section it belongs in; `None` for the run as a whole.
    pub experiment: Option<String>,
    /// Other experiments whose points it shows.
    pub also: Vec<String>,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What was measured.
    pub series: Vec<Series>,
    /// Findings drawn into it.
    pub marks: Vec<Mark>,
    /// Laws and models drawn into it.
    pub curves: Vec<Curve>,
}

impl Figure {
    /// The same data as a table: heads, and rows of as many cells. Where the series share the places of a
    /// grid, a row for each place; elsewhere a row for each dot.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let shared = self.x.spacing == Spacing::Log || !self.x.places.is_empty();
        if shared { self.table_by_place() } else { self.table_by_dot() }
    }

    fn table_by_place(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut places: Vec<f64> = self.series.iter().flat_map(|s| s.dots.iter().map(|dot| dot.x)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let cell = |series: &Series, x: f64| {
            let dot = series.dots.iter().find(|dot| dot.x == x);
            dot.map_or_else(|| "–".to_owned(), |dot| value(self.y.quantity, dot.y, dot.y_interval))
        };
        let row = |&x: &f64| {
            let cells = self.series.iter().map(|series| cell(series, x));
            std::iter::once(self.place(x)).chain(cells).collect()
        };
        let heads = std::iter::once(self.x.label.clone());
        let heads =
            heads.chain(self.series.iter().map(|series| format!("{}, {}", series.name, self.y.label)));
        (heads.collect(), places.iter().map(row).collect())
    }

    fn table_by_dot(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let labelled = self.series.iter().flat_map(|s| &s.dots).any(|dot| dot.label.is_some());
        let row = |series: &Series, dot: &Dot| {
            let mut cells = vec![series.name.clone()];
            if labelled {
                cells.push(dot.label.clone().unwrap_or_default());
            }
            cells.push(value(self.x.quantity, dot.x, dot.x_interval));
            cells.push(value(self.y.quantity, dot.y, dot.y_interval));
            cells
        };
        let mut heads = vec!["series".to_owned()];
        if labelled {
            heads.push("in flight".to_owned());
        }
        heads.extend([self.x.label.clone(), self.y.label.clone()]);
        let rows = self.series.iter().flat_map(|series| series.dots.iter().map(move |dot| row(series, dot)));
        (heads, rows.collect())
    }

    fn place(&self, x: f64) -> String {
        self.x.places.get(x as usize).cloned().unwrap_or_else(|| self.x.quantity.text(x))
    }
}

fn value(quantity: Quantity, value: f64, interval: Option<(f64, f64)>) -> String {
    quantity.interval_text(value, interval.map(|ends| ends.0), interval.map(|ends| ends.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_zero_and_ends_at_a_round_number() {
        let axis = Axis::from_zero("throughput", Quantity::BytesPerSecond, &[1.0e8, 6.9e9]);
        // 6.9 GB/s * 1.04 = 7.18, and the next round number is 8.
        assert_eq!((axis.low, axis.high), (0.0, 8e9));
        assert_eq!(axis.title(), "throughput (GB/s)");
    }

    #[test]
    fn a_log_axis_keeps_the_ticks_inside() {
        let axis =
            Axis::log("block size", Quantity::Bytes, &[4096.0, 65536.0], &[1024.0, 4096.0, 65536.0, 1e9]);
        assert_eq!(axis.ticks, [4096.0, 65536.0]);
        assert!(axis.low < 4096.0 && axis.high > 65536.0);
    }

    #[test]
    fn ticks_thin_out_with_the_span() {
        let narrow = decimal_ticks(&[40.0, 90.0]);
        assert!([40.0, 50.0, 60.0, 80.0].iter().all(|t| narrow.contains(t)), "{narrow:?}");
        let wide = decimal_ticks(&[1.0, 1e6]);
        assert!(wide.iter().all(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9), "{wide:?}");
    }

    #[test]
    fn nothing_measured_makes_no_infinite_axis() {
        let axis = Axis::from_zero("rate", Quantity::Iops, &[]);
        assert!(axis.high.is_finite() && axis.high > 0.0);
    }
}

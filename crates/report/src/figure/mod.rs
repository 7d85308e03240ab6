//! The data of a chart, complete: code that draws it, live, as a picture or as a table, computes nothing.

use iosonde_model::Op;

mod axis;

pub use axis::{Axis, Spacing, Tick, decimal_ticks};

use crate::quantity::Quantity;

/// Whether a dot's figures can be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotStanding {
    /// Nothing is known against them.
    Stands,
    /// May be wrong: drawn hollow.
    Doubted,
    /// Measured, and not of what the chart is about: memory or the program made it, or the depth was not reached.
    /// Drawn hollow, too.
    Void,
}

impl DotStanding {
    /// How a report says it in a word, where there is something to say.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Stands => None,
            Self::Doubted => Some("warning"),
            Self::Void => Some("invalid"),
        }
    }
}

/// One measured point.
#[derive(Debug, Clone, PartialEq)]
pub struct Dot {
    /// Its place.
    pub x: f64,
    /// Its place.
    pub y: f64,
    /// The interval of `x`, where it has one.
    pub x_interval: Option<(f64, f64)>,
    /// The interval of `y`.
    pub y_interval: Option<(f64, f64)>,
    /// Written beside it: the queue depth.
    pub label: Option<String>,
    /// Lines of the tooltip.
    pub tip: Vec<String>,
    /// Whether it can be believed.
    pub standing: DotStanding,
}

/// Meaning of a colour, the same in every chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    #[default]
    Neutral,
    /// The first of several things that are compared, and so on.
    Side(u8),
    /// A law, a model.
    Law,
}

/// Six colours for sides; a seventh side takes the first one's again and a broken line.
const SIDES: [&str; 6] = ["side-1", "side-2", "side-3", "side-4", "side-5", "side-6"];

impl Tone {
    /// Tone of one side of a comparison, counted from 0.
    pub(crate) fn of_side(number: usize) -> Self {
        Self::Side(u8::try_from(number % 256).unwrap_or(0))
    }

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
            Self::Side(number) => SIDES[usize::from(number) % SIDES.len()],
            Self::Law => "knee",
        }
    }
}

/// Dots that belong together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DotSeries {
    /// Name in the legend.
    pub name: String,
    /// Meaning of its colour.
    pub tone: Tone,
    /// Drawn with a broken line: the second of two kinds that share a tone.
    pub broken: bool,
    /// Whether a line joins the dots: not where the places between them mean nothing.
    pub joined: bool,
    /// Drawn as bars from zero, in the rows of a y axis of names, instead of dots.
    pub bars: bool,
    /// The dots, in the order in which a line joins them.
    pub dots: Vec<Dot>,
    /// Values of the single trials, to show on request.
    pub trials: Vec<(f64, f64)>,
}

/// One field of a heat map.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatCell {
    /// The place on the x axis.
    pub column: usize,
    /// The place on the y axis, from below.
    pub row: usize,
    /// Measured value.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// How dark it is, from 0 to 1.
    pub shade: f64,
    /// Text inside.
    pub label: String,
    /// Lines of the tooltip.
    pub tip: Vec<String>,
    /// Whether it can be believed.
    pub standing: DotStanding,
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
pub struct FindingMark {
    /// Which axis `at` is a value of.
    pub along: Along,
    /// The value.
    pub at: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// A few words and the value.
    pub label: String,
    /// Meaning of its colour.
    pub tone: Tone,
}

/// A curve that was not measured: a law, or a model fitted elsewhere; with a band where it has an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Meaning of its colour.
    pub tone: Tone,
    /// Its course.
    pub points: Vec<(f64, f64)>,
    /// The outline of its interval, as a closed polygon; empty without one.
    pub band: Vec<(f64, f64)>,
}

/// The data of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// The chart's registered name, also its anchor in documents.
    pub name: String,
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
    /// Measured series.
    pub series: Vec<DotSeries>,
    /// Findings drawn into it.
    pub marks: Vec<FindingMark>,
    /// Laws and models drawn into it.
    pub curves: Vec<Curve>,
    /// The fields of a heat map; both axes have places then.
    pub cells: Vec<HeatCell>,
    /// Name and quantity of the cells' values.
    pub cells_are: Option<(&'static str, Quantity)>,
}

impl Figure {
    /// Returns the data as a table: heads, and rows of as many cells. Where the series share the places of a
    /// grid, a row for each place; elsewhere a row for each dot.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        if !self.cells.is_empty() {
            return self.table_of_cells();
        }
        if !self.y.places.is_empty() {
            return self.table_of_rows();
        }
        let shared = self.x.spacing == Spacing::Log || !self.x.places.is_empty();
        if shared { self.table_by_place() } else { self.table_by_dot() }
    }

    fn table_by_place(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut places: Vec<f64> = self.series.iter().flat_map(|s| s.dots.iter().map(|dot| dot.x)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let cell = |series: &DotSeries, x: f64| {
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

    fn table_of_cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let (what, quantity) = self.cells_are.unwrap_or(("value", Quantity::Ratio));
        let row = |cell: &HeatCell| {
            let place = |axis: &Axis, at: usize| axis.places.get(at).cloned().unwrap_or_default();
            vec![
                place(&self.y, cell.row),
                place(&self.x, cell.column),
                value(quantity, cell.value, cell.interval),
            ]
        };
        let heads = vec![self.y.label.clone(), self.x.label.clone(), what.to_owned()];
        (heads, self.cells.iter().map(row).collect())
    }

    /// Places of a y axis of names at which nothing stands: they are headings of the rows below them.
    pub fn headings(&self) -> Vec<usize> {
        let dots = || self.series.iter().flat_map(|series| &series.dots);
        let empty = |place: &usize| !dots().any(|dot| dot.y as usize == *place);
        (0..self.y.places.len()).filter(|_| self.cells.is_empty()).filter(empty).collect()
    }

    /// The name of a row, behind its heading where it has one.
    fn row_name(&self, place: f64) -> String {
        let place = place as usize;
        let name = self.y.places.get(place).cloned().unwrap_or_default();
        match self.headings().into_iter().find(|&heading| heading > place) {
            Some(heading) => format!("{}: {name}", self.y.places[heading]),
            None => name,
        }
    }

    /// Where the y axis has names: a row for each, from above.
    fn table_of_rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut dots: Vec<&Dot> = self.series.iter().flat_map(|series| &series.dots).collect();
        dots.sort_by(|a, b| b.y.total_cmp(&a.y));
        let row = |dot: &Dot| vec![self.row_name(dot.y), value(self.x.quantity, dot.x, dot.x_interval)];
        let of = if self.y.label.is_empty() { "of" } else { &self.y.label };
        (vec![of.to_owned(), self.x.label.clone()], dots.into_iter().map(row).collect())
    }

    fn table_by_dot(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let labelled = self.series.iter().flat_map(|s| &s.dots).any(|dot| dot.label.is_some());
        let row = |series: &DotSeries, dot: &Dot| {
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
            heads.push("queue depth".to_owned());
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

/// The figures behind a picture as comma-separated values: plain numbers in base units, named by their units.
impl Figure {
    /// A row for each dot, each cell, each point of a curve, and, on request, each trial.
    pub fn csv(&self, with_trials: bool) -> String {
        let mut out =
            format!("kind,series,{},{},x_low,x_high,y_low,y_high,label\n", self.head(&self.x, "x"), {
                match self.cells_are {
                    Some((_, quantity)) => column("value", quantity),
                    None => self.head(&self.y, "y"),
                }
            });
        let number = |value: f64| format!("{value}");
        let ends = |interval: Option<(f64, f64)>| {
            interval.map_or_else(|| ",".to_owned(), |(low, high)| format!("{low},{high}"))
        };
        let x = |at: f64| self.x.places.get(at as usize).map_or_else(|| number(at), |name| quoted(name));
        for series in &self.series {
            for dot in &series.dots {
                let (name, label) = (quoted(&series.name), quoted(dot.label.as_deref().unwrap_or_default()));
                let (x_ends, y_ends) = (ends(dot.x_interval), ends(dot.y_interval));
                let named = !self.y.places.is_empty();
                let y = if named { quoted(&self.row_name(dot.y)) } else { number(dot.y) };
                out += &format!("point,{name},{},{y},{x_ends},{y_ends},{label}\n", x(dot.x));
            }
            for &(at, value) in series.trials.iter().filter(|_| with_trials) {
                out += &format!("trial,{},{},{},,,,,\n", quoted(&series.name), x(at), number(value));
            }
        }
        for cell in &self.cells {
            let row = self.y.places.get(cell.row).map_or("", String::as_str);
            let at = x(cell.column as f64);
            out += &format!("cell,{},{at},{},,,{},\n", quoted(row), number(cell.value), ends(cell.interval));
        }
        for curve in &self.curves {
            for &(at, value) in &curve.points {
                out += &format!("curve,{},{},{},,,,,\n", quoted(&curve.name), x(at), number(value));
            }
        }
        out
    }

    fn head(&self, axis: &Axis, letter: &str) -> String {
        if axis.places.is_empty() { column(letter, axis.quantity) } else { letter.to_owned() }
    }
}

/// `x_bytes`, `y_iops`: the unit last, as everywhere.
fn column(letter: &str, quantity: Quantity) -> String {
    match quantity.column() {
        "" => letter.to_owned(),
        unit => format!("{letter}_{unit}"),
    }
}

/// A field that may hold commas and quotes. What begins like a formula is kept from being one in a spreadsheet.
pub(crate) fn quoted(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    let safe = if text.trim_start().starts_with(['=', '+', '-', '@']) || text.starts_with('\t') {
        format!("'{text}")
    } else {
        text
    };
    if safe.contains([',', '"']) { format!("\"{}\"", safe.replace('"', "\"\"")) } else { safe }
}

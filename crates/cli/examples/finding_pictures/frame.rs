//! A diagram: series of dots, bars or lines within two axes, and where the truth lies.

use crate::scale::{Counts, Scale};

/// A dot with its interval.
#[derive(Debug, Clone, Copy)]
pub struct Dot {
    pub x: f64,
    pub y: f64,
    pub ends: Option<(f64, f64)>,
}

/// What stands for the figures of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Dots,
    Bars,
    Line,
}

pub struct Series {
    pub name: Option<String>,
    pub dots: Vec<Dot>,
    pub shape: Shape,
}

/// Something drawn over the figures.
pub enum Mark {
    /// A level.
    Level { at: f64, words: String, is_truth: bool },
    /// A place.
    Place { at: f64, words: String },
    /// A curve.
    Curve { along: Vec<(f64, f64)>, words: String },
}

impl Mark {
    pub fn level(at: f64) -> Self {
        Self::Level { at, words: "true".into(), is_truth: true }
    }

    pub fn place(at: f64) -> Self {
        Self::Place { at, words: "true".into() }
    }
}

pub struct Frame {
    pub series: Vec<Series>,
    pub x: Scale,
    pub y: Scale,
    /// Words below bars instead of numbers.
    pub labels: Vec<String>,
    pub marks: Vec<Mark>,
}

impl Frame {
    pub fn new(series: Vec<Series>, x: (&str, Counts), y: (&str, Counts)) -> Self {
        let scale = |(name, counts): (&str, Counts)| Scale {
            name: name.into(),
            counts,
            log: false,
            low: 0.0,
            high: 0.0,
            at: Vec::new(),
        };
        Self { series, x: scale(x), y: scale(y), labels: Vec::new(), marks: Vec::new() }
    }

    pub fn with(mut self, mark: Mark) -> Self {
        self.marks.push(mark);
        self
    }

    /// Upwards, where figures span more than people can see on an even scale.
    pub fn logarithmic(mut self) -> Self {
        self.y.log = true;
        self
    }

    /// Every figure, in order.
    pub fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.series.iter().flat_map(|series| series.dots.iter().map(|dot| dot.y))
    }

    /// Sets the axes so that everything lies within: upwards from nothing, unless the scale is logarithmic.
    pub fn fitted(mut self) -> Self {
        let dots = || self.series.iter().flat_map(|series| series.dots.iter());
        let mut xs: Vec<f64> = dots().map(|dot| dot.x).collect();
        let mut ys: Vec<f64> = dots()
            .flat_map(|dot| [Some(dot.y), dot.ends.map(|e| e.0), dot.ends.map(|e| e.1)])
            .flatten()
            .collect();
        for mark in &self.marks {
            match mark {
                Mark::Level { at, .. } => ys.push(*at),
                Mark::Place { at, .. } => xs.push(*at),
                Mark::Curve { along, .. } => ys.extend(along.iter().map(|place| place.1)),
            }
        }
        let ends = |values: &[f64]| {
            values.iter().fold((f64::INFINITY, f64::MIN), |(a, b), value| (a.min(*value), b.max(*value)))
        };
        let ((left, right), (low, high)) = (ends(&xs), ends(&ys));
        if self.x.low == self.x.high {
            let room = if self.x.log { (right / left).max(1.001).powf(0.03) } else { 0.03 * (right - left) };
            (self.x.low, self.x.high) =
                if self.x.log { (left / room, right * room) } else { (left - room, right + room) };
        }
        let above = if self.y.log { (high / low).max(1.2).powf(0.08) } else { 1.08 };
        (self.y.low, self.y.high) = (if self.y.log { low / above } else { low.min(0.0) }, high * above);
        self
    }
}

//! Facts of findings about the course of a curve: dips, peaks and steps, and where two curves cross.

use crate::{Estimate, Op, detail::Level};

/// Figure that a curve shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurveFigure {
    /// Requests or bytes per second.
    Throughput,
    /// Mean latency of one direction.
    Latency,
}

/// Feature of a curve over one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CurveShape {
    /// No level differs from its neighbours by more than the margin.
    Smooth {
        /// Figure that the curve shows.
        figure: CurveFigure,
        /// First level of the curve.
        lowest: Level,
        /// Last level of the curve.
        highest: Level,
        /// Levels of the curve.
        levels: usize,
        /// Largest factor by which a level may lie above or below both neighbours within the intervals.
        room: f64,
    },
    /// A level differs from both neighbours, or the curve falls for good.
    Feature {
        /// Figure that the curve shows.
        figure: CurveFigure,
        /// Kind of the feature.
        kind: FeatureKind,
        /// Level at which it lies.
        at: Level,
        /// Level before it.
        before: Level,
        /// Level after it; `None` for a step at the last level.
        after: Option<Level>,
        /// Further features of the curve whose intervals exclude 1.
        others: usize,
        /// Levels of the curve.
        levels: usize,
    },
}

/// Kind of a curve's feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureKind {
    /// Lower than both neighbours.
    Dip,
    /// Higher than both neighbours.
    Peak,
    /// A fall after which every level stays below all before it.
    Step,
}

/// Where reads and writes have equal throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crossover {
    /// They cross at the value.
    At {
        /// Direction that is faster below it.
        faster_below: Op,
        /// Whether the interval was narrowed by lines through the levels on either side.
        narrowed: bool,
    },
    /// They do not cross between these levels.
    Never {
        /// First level at which both were measured.
        lowest: Level,
        /// Last level at which both were measured.
        highest: Level,
        /// Direction that is faster.
        lead: Lead,
    },
}

/// Direction with the higher throughput over all levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lead {
    /// Both are equal within the margin.
    Equal,
    /// No level has a sure leader, and none differs by more than twice the margin.
    NoneSeen,
    /// One is faster at every level.
    Always(Op),
    /// One is faster at some levels, and both are equal at the others.
    NeverSlower(Op),
}

/// A feature that may be chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnsureFeature {
    /// Level at which it would lie.
    pub at: Level,
    /// Figure that the curve shows.
    pub figure: CurveFigure,
    /// The figure there over that of the nearer neighbour.
    pub ratio: Estimate,
}

/// A feature that is not seen, and that the intervals leave room for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoomForFeature {
    /// Level at which it could lie.
    pub at: Level,
    /// Figure that the curve shows.
    pub figure: CurveFigure,
    /// Largest factor by which it could lie above or below both neighbours.
    pub factor: f64,
}

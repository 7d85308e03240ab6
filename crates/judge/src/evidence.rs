//! What may be concluded from: points with their standing trials and the estimates of their logarithms.

use iosonde_model::{About, Estimate, Op, Point, Trial};
use iosonde_stats::{Estimated, LogEstimate};

/// The value of an estimate with its interval.
pub trait WithInterval {
    /// Value, low and high at a confidence such as 0.95.
    fn estimate(&self, confidence: f64) -> Estimate;
}

impl WithInterval for LogEstimate {
    fn estimate(&self, confidence: f64) -> Estimate {
        let (low, high) = self.ends(confidence);
        Estimate { value: self.value(), low: Some(low), high: Some(high) }
    }
}

impl WithInterval for Estimated {
    fn estimate(&self, confidence: f64) -> Estimate {
        let half = self.half_width(confidence);
        Estimate { value: self.value, low: Some(self.value - half), high: Some(self.value + half) }
    }
}

/// One direction of a point.
#[derive(Debug, Clone)]
pub struct DirectionEvidence {
    /// Completions per second.
    pub iops: LogEstimate,
    /// Mean latency in nanoseconds.
    pub latency_ns_mean: LogEstimate,
    /// Standard error of the part of the rate's error that other points share; see
    /// [`iosonde_stats::mixed_model::MixedModel::shared_errors`].
    pub shared_error: f64,
}

/// A point with what stands behind it.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// The point.
    pub point: &'a Point,
    /// Its trials whose figures of the kind in question stand (see [`Evidence::standing`]).
    pub trials: Vec<&'a Trial>,
    /// For each trial of `trials`, the figures that are invalid, if any.
    pub void: Vec<Option<About>>,
    /// Estimates of reads; `None` where there are none, or too few trials for an interval.
    pub read: Option<DirectionEvidence>,
    /// Estimates of writes.
    pub write: Option<DirectionEvidence>,
}

impl<'a> Evidence<'a> {
    /// One direction.
    pub fn direction(&self, op: Op) -> Option<&DirectionEvidence> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
            Op::Trim | Op::Flush => None,
        }
    }

    /// Trials whose figures of this kind no verdict makes invalid.
    pub fn standing(&self, about: About) -> impl Iterator<Item = &'a Trial> + '_ {
        self.with(move |void| !void.is_some_and(|void| void.touches(about)))
    }

    /// Trials of whose invalid figures, if any, this holds.
    pub fn with(&self, holds: impl Fn(Option<About>) -> bool) -> impl Iterator<Item = &'a Trial> {
        let both = self.trials.iter().zip(&self.void);
        both.filter(move |(_, void)| holds(**void)).map(|(trial, _)| *trial)
    }
}

//! One line of a vendor's sheet beside what was measured.

use serde::{Deserialize, Serialize};

use crate::{ClaimUnit, Judgement, Rw, TrialSpec};

/// Result of comparing a run with a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimVerdict {
    /// Meets the claim within the margin, under its conditions.
    #[serde(rename = "meets")]
    Meets,
    /// Less, with certainty.
    #[serde(rename = "below")]
    Below,
    /// More, with certainty: suspicious rather than good.
    #[serde(rename = "above")]
    Above,
    /// More under easier conditions than the claim's, another figure, or not measured at all.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl std::fmt::Display for ClaimVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Meets => "meets",
            Self::Below => "below",
            Self::Above => "above",
            Self::NotComparable => "not comparable",
        })
    }
}

/// Condition of a claim that a measurement does not meet, or whose fulfilment is not known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum UnlikeClaim {
    /// A smaller part of the drive was addressed.
    Span {
        /// Bytes that were addressed; `None` where that is not known.
        span_bytes: Option<u64>,
        /// Bytes of the whole drive.
        whole_bytes: u64,
    },
    /// Only a part of the drive was addressed, and the claim names no span.
    SpanNotClaimed {
        /// Bytes that were addressed.
        span_bytes: u64,
        /// Bytes of the whole drive.
        whole_bytes: u64,
    },
    /// Another queue depth.
    QueueDepth {
        /// Queue depth as measured.
        measured: u64,
        /// Queue depth of the claim.
        claimed: u64,
    },
    /// The page cache stood between program and drive.
    PageCache,
    /// The drive is not known to be in its steady state.
    NotSteady {
        /// Seconds that were measured.
        measured_s: f64,
        /// Bytes written before and during the run over the drive's size; `None` where nothing was recorded.
        drive_writes: Option<f64>,
    },
    /// The rate still changed when the drive was to be brought to its steady state.
    StillChanging,
    /// The interval contains the claim and less.
    WideInterval,
    /// The trials lie on two levels, of which one meets the claim and the other does not.
    TwoLevels {
        /// The lower level.
        low: f64,
        /// The higher level.
        high: f64,
    },
    /// The figure has no interval.
    NoInterval,
    /// Memory answered most trials.
    MemoryAnswered,
    /// The measuring program was the limit of most trials.
    ProgramLimit,
}

/// Basis of a verdict on a line of a sheet.
#[derive(Debug, Clone, PartialEq)]
pub enum SheetBasis {
    /// No point has the pattern and block size of the claim.
    NotMeasured {
        /// Access pattern of the claim.
        rw: Rw,
        /// Bytes of one request.
        block_size_bytes: Option<u64>,
    },
    /// A check invalidated the trials.
    Invalid(Box<Judgement>),
    /// The points have no such figure.
    NoSuchFigure,
    /// A point was measured.
    Measured {
        /// Workload of the point.
        spec: Box<TrialSpec>,
        /// Share within which a figure counts as what is claimed.
        margin: f64,
        /// Conditions of the claim that it does not meet, the most important first.
        unlike: Vec<UnlikeClaim>,
    },
}

/// One line of a sheet with what was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetLine {
    /// Text of the line.
    pub line: String,
    /// Claimed value.
    pub claimed: f64,
    /// Unit of both values.
    pub unit: ClaimUnit,
    /// Value measured at the point closest to the claim's conditions.
    pub measured: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Result of the comparison.
    pub verdict: ClaimVerdict,
    /// Basis of the verdict.
    pub basis: SheetBasis,
}

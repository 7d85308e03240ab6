//! Why a finding is inconclusive.

use super::{
    CacheProblem, Lack, LimitProblem, LongWriteProblem, MappingUnitProblem, PlatterProblem, ReadaheadProblem,
};
use crate::{
    About, LatencyLimit, TrialSpec, Unit,
    detail::{
        DriftProblem, EffectProblem, LatencyLimitProblem, LayoutProblem, QueueDepthProblem, RoomForFeature,
        SizeLawProblem, UnsureFeature,
    },
};

/// Why the trials cannot answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Inconclusive {
    /// A point has fewer valid trials than an interval needs.
    TooFewTrials {
        /// Workload of the point.
        spec: Box<TrialSpec>,
        /// Trials that are valid.
        valid: usize,
        /// Trials that were run.
        run: usize,
        /// Trials that an interval needs.
        needed: usize,
        /// Figures for which the others are invalid.
        about: About,
    },
    /// A point has no interval.
    NoInterval {
        /// Workload of the point.
        spec: Box<TrialSpec>,
    },
    /// The figures of a point are not finite, or its trials took no time.
    NotANumber {
        /// Workload of the point.
        spec: Box<TrialSpec>,
    },
    /// The estimate is not finite.
    EstimateNotANumber,
    /// The interval spans a factor of five or more.
    WideInterval {
        /// Unit of its ends.
        unit: Unit,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Levels of a parameter cannot be compared.
    Effect(EffectProblem),
    /// A curve seems to have a dip or a peak.
    UnsureFeature(UnsureFeature),
    /// The intervals leave room for a dip or a peak.
    RoomForFeature(RoomForFeature),
    /// Reads and writes are too close together, or known too roughly, to see whether they cross.
    CloseCurves,
    /// A drift can neither be shown nor excluded.
    Drift(DriftProblem),
    /// The requests show no wait for a platter, and the storage is a rotating disk.
    DiskThatNeverWaits,
    /// The experiment lacks workloads that the finding needs.
    Lacks(Lack),
    /// Too few trials have the figure.
    FewFigures {
        /// Trials that have it.
        trials: usize,
        /// Trials that an interval needs.
        needed: usize,
    },
    /// About a cache.
    Cache(CacheProblem),
    /// About a read-ahead.
    Readahead(ReadaheadProblem),
    /// About a long write.
    LongWrite(LongWriteProblem),
    /// About a limit.
    Limit(LimitProblem),
    /// About a mapping unit.
    MappingUnit(MappingUnitProblem),
    /// About arm and platter.
    Platter(PlatterProblem),
    /// No trial was made.
    NothingMeasured,
    /// Too few trials have the CPU time of the program.
    NoCpuTime,
    /// About a curve over block sizes.
    SizeLaw(SizeLawProblem),
    /// About queue depths.
    QueueDepth(QueueDepthProblem),
    /// About numbers of hosts, which take the place of queue depths in the problem.
    Hosts(QueueDepthProblem),
    /// The device saw less than half of some queue depths, and the others do not answer.
    ExcludedDepths {
        /// Queue depths that were excluded.
        queue_depths: Vec<u64>,
        /// Why the others do not answer.
        why: Box<Inconclusive>,
    },
    /// About the load that keeps a latency limit.
    LatencyLimit {
        /// Limit that was asked about.
        limit: LatencyLimit,
        /// Reason.
        problem: LatencyLimitProblem,
    },
    /// About parallel units.
    Layout(LayoutProblem),
    /// No trial of a checkpoint came to the end of its files.
    CheckpointCutShort {
        /// Bytes of all files of a trial.
        bytes: u64,
    },
}

/// Makes an [`Inconclusive`] of what a family says.
macro_rules! from {
    ($($variant:ident($problem:ty)),* $(,)?) => {
        $(impl From<$problem> for Inconclusive {
            fn from(problem: $problem) -> Self {
                Self::$variant(problem)
            }
        })*
    };
}

from! {
    Lacks(Lack),
    Cache(CacheProblem),
    Readahead(ReadaheadProblem),
    LongWrite(LongWriteProblem),
    Limit(LimitProblem),
    MappingUnit(MappingUnitProblem),
    Platter(PlatterProblem),
    SizeLaw(SizeLawProblem),
    QueueDepth(QueueDepthProblem),
    Layout(LayoutProblem),
}

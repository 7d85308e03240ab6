//! Details of findings: what was found beside the value, or why nothing could be, as numbers. Words are made of them
//! in the report.

mod cached;
mod commit;
mod constant_limit;
mod curve;
mod drift;
mod durable;
mod effect;
mod effect_problem;
mod highest;
mod inconclusive;
mod lack;
mod latency_limit;
mod layout;
mod level;
mod limit;
mod long_write;
mod mapping_unit;
mod note;
mod platter;
mod processor;
mod queue_depth;
mod readahead;
mod size_law;
mod sync_methods;
mod training;

pub use cached::{CacheProblem, Cached};
pub use commit::Commit;
pub use constant_limit::{ConstantLimit, Counted};
pub use curve::{Crossover, CurveFigure, CurveShape, FeatureKind, Lead, RoomForFeature, UnsureFeature};
pub use drift::{DriftProblem, RunDrift};
pub use durable::Durable;
pub use effect::{
    ComparedFigure, ComparedWith, Effect, EffectAnswer, RatioAnswer, ReadsAfterWrites, Workers, WorkersAnswer,
};
pub use effect_problem::EffectProblem;
pub use highest::{Highest, SizeAndDepth};
pub use inconclusive::Inconclusive;
pub use lack::Lack;
pub use latency_limit::{LatencyLimitProblem, LatencyLimited};
pub use layout::{Layout, LayoutProblem};
pub use level::Level;
pub use limit::{Limit, LimitProblem};
pub use long_write::{Drain, LongWrite, LongWriteProblem, Pause};
pub use mapping_unit::{MappingUnit, MappingUnitProblem};
pub use note::{Law, Note};
pub use platter::{Platter, PlatterProblem};
pub use processor::{Bottleneck, ProcessorShare};
pub use queue_depth::{ClosedLoop, DepthMiss, EffectiveDepth, HostCurve, QueueDepthProblem};
pub use readahead::{Readahead, ReadaheadProblem};
pub use size_law::{Plateau, PlateauMethod, RoundTrip, SizeLaw, SizeLawProblem};
pub use sync_methods::{SyncMethod, SyncMethods};
pub use training::{CheckpointSaved, TrainingFed};

/// Facts of one finding beside its value. One variant for each kind that has facts of its own.
#[derive(Debug, Clone, PartialEq)]
pub enum Detail {
    /// The trials cannot answer.
    Inconclusive(Inconclusive),
    /// Effect of one parameter.
    Effect(Effect),
    /// Throughput of random over that of sequential requests.
    AccessOrder(RatioAnswer),
    /// Several workers compared with one.
    Workers(Workers),
    /// Dip, peak or step of a curve, or none.
    Shape(CurveShape),
    /// Where reads and writes have equal throughput, or that they have not.
    Crossover(Crossover),
    /// Reads right after a write compared with reads after a read.
    ReadsAfterWrites(ReadsAfterWrites),
    /// Change of throughput over the run, or none.
    Drift(RunDrift),
    /// No facts beside the value.
    Plain,
    /// A cache, its size or its latency.
    Cached(Cached),
    /// Read-ahead.
    Readahead(Readahead),
    /// A long write and its buffers.
    LongWrite(LongWrite),
    /// A rate limit.
    Limit(Limit),
    /// A rate limit that holds from the first second on.
    ConstantLimit(ConstantLimit),
    /// Durable writes.
    Durable(Durable),
    /// A commit: writes and their flush.
    Commit(Commit),
    /// Ways of making a write durable, compared.
    SyncMethods(SyncMethods),
    /// Mapping unit of a drive.
    MappingUnit(MappingUnit),
    /// Arm and platter of a disk.
    Platter(Platter),
    /// The highest of several points.
    Highest(Highest),
    /// The law of a request's time and its size.
    SizeLaw(SizeLaw),
    /// The block size from which on throughput hardly rises.
    Plateau(Plateau),
    /// A network round trip.
    RoundTrip(RoundTrip),
    /// A closed-loop curve of throughput over queue depth.
    ClosedLoop(ClosedLoop),
    /// Saturation of what hosts share.
    HostCurve(HostCurve),
    /// Queue depths at the program and at the device.
    EffectiveDepth(EffectiveDepth),
    /// Load up to which a latency limit is kept.
    LatencyLimited(LatencyLimited),
    /// Addresses striped over parallel units, or not.
    Layout(Layout),
    /// Accelerators that training data is read for.
    TrainingFed(TrainingFed),
    /// Time of a checkpoint.
    CheckpointSaved(CheckpointSaved),
    /// CPU time over elapsed time.
    ProcessorShare(ProcessorShare),
}

impl Detail {
    /// Whether the question stays open: nothing could be concluded, or the interval of the value decides nothing.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Inconclusive(_) => true,
            Self::Effect(effect) => effect.answer == EffectAnswer::Undecided,
            Self::AccessOrder(answer) => *answer == RatioAnswer::Undecided,
            Self::Workers(workers) => workers.answer == WorkersAnswer::Undecided,
            Self::ReadsAfterWrites(reads) => reads.answer == RatioAnswer::Undecided,
            Self::EffectiveDepth(depth) => depth.reached.is_none(),
            _ => false,
        }
    }
}

//! Types of iosonde: workloads, trials, runs, points, verdicts and findings, with their units and names.
//!
//! Serde only: no I/O, no random numbers, no output. The serialised form of [`Run`] is the JSON document (version
//! [`RUN_SCHEMA`]) that other programs read. A field has the same name here and there, with its unit last.

mod absence;
mod by_hosts;
mod capacity;
pub mod cause;
mod circumstances;
mod cold;
mod comparison;
pub mod detail;
mod device;
mod files;
mod finding;
pub mod fio;
mod histogram;
mod host_layout;
mod host_share;
mod hosts;
mod last_seconds;
mod layer;
mod name;
mod note;
mod odd_side;
mod point;
mod portrait;
mod rate_limit;
mod registry;
mod requirement;
mod run;
mod sheet;
mod sheet_line;
mod spec;
mod study;
mod thermal_pressure;
pub mod toml_file;
pub mod training;
mod trial;
pub mod typed;
mod unit;
pub mod units;
mod verdict;
mod witness;

pub use absence::{Absence, Counter, RequestError};
pub use capacity::{
    BeyondCapacity, BlockRun, BlockState, Capacity, CapacityCounts, CapacityFinding, CapacityProbe,
    CapacityScope, KeptPart,
};
pub use cause::{Cause, Scopes, Tally};
pub use circumstances::Circumstances;
pub use cold::{Cold, ColdRound, ColdVerdict, FirstAndAgain, Streamed};
pub use comparison::{
    BandwidthOfSmall, Compared, ComparedHighest, ComparedPair, ComparedSide, ComparedUnit, Comparison,
    Difference, GeometricMean, Incomparable, Likeness, LimitOfSide, NoFigure, PropertyValue, ReachedAt,
    ServedBy,
};
pub use detail::{Detail, Inconclusive, Law, Note};
pub use device::{CacheBelow, Ceiling, Device, FasterLink, Health, HidingLayer, Host, Medium, Shingled};
pub use files::{
    FileStep, FileStepFigures, FileStepTimes, FilesCache, FilesFinding, FilesFindingName, FilesLayout,
    FilesRound, SmallFiles,
};
pub use finding::{Advice, Conditions, Finding, Status};
pub use histogram::{Histogram, requests_beyond};
pub use host_layout::HostLayout;
pub use hosts::{HostDirection, HostShare, RunHost, Togetherness};
pub use last_seconds::LastSeconds;
pub use layer::{Layer, LayerCost, LayerLine, LayerSign};
pub use name::{
    CheckName, ComparedFigure, ExperimentName, FindingName, RunProperty, TraitKey, WorkloadGroup,
};
pub use note::{DeviceNote, LeftOut, LoopNote, Preconditioning};
pub use odd_side::{OddSide, OddSides};
pub use point::{
    Closed, Estimate, Level, LevelCondition, NoInterval, Planned, Point, PointDirection, PointLatency,
};
pub use portrait::{
    Build, Compliance, Derivation, Misfit, NoPortrait, Portrait, Trait, TraitSource, Unidentified,
};
pub use rate_limit::RateLimit;
pub use registry::{Entry, Named, Registry, Unknown, nearest};
pub use requirement::{
    RequiredBound, RequiredLimit, RequiredOf, RequiredWorkload, Requirement, RequirementAnswer,
    RequirementLine, RequirementUnsettled, RequirementVerdict,
};
pub use run::{IMPORT, RUN_SCHEMA, Run, RunInfo, RunState};
pub use sheet::{Claim, ClaimUnit, Sheet};
pub use sheet_line::{ClaimVerdict, SheetBasis, SheetLine, UnlikeClaim};
pub use spec::{
    Arrivals, BlockSizes, Distribution, Files, HOT_RANGES_MAX, HotRange, HotRanges, LatencyLimit, Op,
    Payload, Randomness, Ranges, Rw, StridePass, Sync, Think, TrialSpec, WeightedSize,
};
pub use study::{Adaptive, ExperimentSpec, StorageKind, Study};
pub use thermal_pressure::ThermalPressure;
pub use toml_file::{FileError, TomlDocument};
pub use trial::{
    Commits, Direction, Flush, LatencySummary, Phase, Stall, Stream, Trial, Unstated, Verification, Window,
    WindowDirection,
};
pub use unit::Unit;
pub use verdict::{About, Judgement, Outcome, Reason, Scope, Verdict};
pub use witness::{Injected, IoLimit, VolumeStatistics, Witnesses};

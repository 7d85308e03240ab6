//! Names: the words of iosonde as types. Nothing here makes I/O, draws a number or prints.
//!
//! The serialised form of [`Run`] is the JSON document (schema 1) that other programs read, so a field's name
//! here is its name there, unit last.

pub mod cause;
mod comparison;
pub mod detail;
mod device;
mod finding;
mod histogram;
mod name;
mod note;
mod point;
mod portrait;
mod registry;
mod run;
mod sheet;
mod spec;
mod study;
pub mod toml_file;
mod trial;
mod unit;
pub mod units;
mod verdict;
mod witness;

pub use cause::{Cause, Scopes, Tally};
pub use comparison::{
    Compared, ComparedPair, ComparedSide, ComparedUnit, Comparison, Difference, GeometricMean, Incomparable,
    Likeness, NoFigure, PropertyValue, ServedBy,
};
pub use detail::{Detail, Inconclusive, Law, Note};
pub use device::{Ceiling, Device, Health, Host, Medium};
pub use finding::{Advice, Conditions, Finding, Status};
pub use histogram::Histogram;
pub use name::{
    CheckName, ComparedFigure, ExperimentName, FindingName, RunProperty, TraitKey, WorkloadGroup,
};
pub use note::DeviceNote;
pub use point::{Closed, Estimate, Planned, Point, PointDirection};
pub use portrait::{
    Build, Compliance, Derivation, Misfit, NoPortrait, Portrait, Trait, TraitSource, Unidentified,
};
pub use registry::{Entry, Named, Registry, Unknown, nearest};
pub use run::{IMPORT, RUN_SCHEMA, Run, RunInfo, RunState};
pub use sheet::{Claim, ClaimUnit, Sheet, SheetBasis, SheetLine, Standing, UnlikeClaim};
pub use spec::{
    Arrivals, BlockSizes, Distribution, LatencyLimit, Op, Payload, Ranges, Rw, StridePass, Sync, TrialSpec,
    WeightedSize,
};
pub use study::{ExperimentSpec, StorageKind, Study};
pub use toml_file::{Document, FileError};
pub use trial::{
    Direction, Flush, LatencySummary, Phase, Stream, Trial, Verification, Window, WindowDirection,
};
pub use unit::Unit;
pub use verdict::{About, Judgement, Outcome, Reason, Scope, Verdict};
pub use witness::{Injected, IoLimit, Witnesses};

//! Causes of verdicts: what a check saw, as numbers with units in their names. Words are made of them in the report.

mod above_the_limit;
mod cache_served;
mod clock;
mod compressible;
mod corrupted;
mod depth_not_reached;
mod direct_ignored;
mod drift;
mod early_flush;
mod errors;
mod extent;
mod generator_bound;
mod host_slowed;
mod hosts_apart;
mod interference;
mod littles_law;
mod missed_rate;
mod multimodal;
mod no_witness;
mod not_steady;
mod odd_host;
mod outliers;
mod saturated;
mod throttled;
mod too_few_samples;
mod units;
mod unmapped;
mod working_set;
mod write_back;

use serde::Serialize;

use crate::TrialSpec;

pub use above_the_limit::AboveTheLimit;
pub use cache_served::CacheServed;
pub use clock::Clock;
pub use compressible::{Compressible, CompressingLayer, Saving};
pub use corrupted::Corrupted;
pub use depth_not_reached::DepthNotReached;
pub use direct_ignored::DirectIgnored;
pub use drift::Drift;
pub use early_flush::EarlyFlush;
pub use errors::Errors;
pub use extent::Extent;
pub use generator_bound::{Busy, GeneratorBound};
pub use host_slowed::{HostSlowed, SlowedHost};
pub use hosts_apart::HostsApart;
pub use interference::{CountedAt, HostsSlowed, Interference, Missing};
pub use littles_law::{LittlesLaw, Term};
pub use missed_rate::MissedRate;
pub use multimodal::Multimodal;
pub use no_witness::NoWitness;
pub use not_steady::{LongWait, NotSteady, Trend, Waited};
pub use odd_host::{OddHost, OddOne};
pub use outliers::{Agreeing, Cold, Excluded, Outliers};
pub use saturated::Saturated;
pub use throttled::{Cap, CapStart, Throttled};
pub use too_few_samples::TooFewSamples;
pub use units::{LatencyStatistic, TrialFigure, Units};
pub use unmapped::Unmapped;
pub use working_set::WorkingSet;
pub use write_back::WriteBack;

/// Facts that a check saw. One variant for each check that has facts of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Cause {
    /// Count of a check's verdicts over the run.
    Tally(Tally),
    /// Cause that holds for one point.
    // Its figures are those of what was seen there; serialising itself within itself would have no end.
    #[serde(skip)]
    AtPoint {
        /// Workload of the point.
        spec: Box<TrialSpec>,
        /// What was seen there.
        cause: Box<Self>,
    },
    Errors(Errors),
    Corrupted(Corrupted),
    Units(Units),
    NoWitness(NoWitness),
    CacheServed(CacheServed),
    DirectIgnored(DirectIgnored),
    Unmapped(Unmapped),
    WriteBack(WriteBack),
    EarlyFlush(EarlyFlush),
    AboveTheLimit(AboveTheLimit),
    Clock(Clock),
    HostsApart(HostsApart),
    Compressible(Compressible),
    WorkingSet(WorkingSet),
    DepthNotReached(DepthNotReached),
    LittlesLaw(LittlesLaw),
    GeneratorBound(GeneratorBound),
    Saturated(Saturated),
    TooFewSamples(TooFewSamples),
    MissedRate(MissedRate),
    Outliers(Outliers),
    NotSteady(NotSteady),
    Drift(Drift),
    Interference(Interference),
    Throttled(Throttled),
    Multimodal(Multimodal),
    OddHost(OddHost),
    HostSlowed(HostSlowed),
}

/// `From` of every variant that holds one type of facts.
macro_rules! from_facts {
    ($($name:ident)*) => {
        $(impl From<$name> for Cause {
            fn from(facts: $name) -> Self {
                Self::$name(facts)
            }
        })*
    };
}

from_facts! {
    Errors
    Corrupted
    Units
    NoWitness
    CacheServed
    DirectIgnored
    Unmapped
    WriteBack
    EarlyFlush
    AboveTheLimit
    Clock
    HostsApart
    Compressible
    WorkingSet
    DepthNotReached
    LittlesLaw
    GeneratorBound
    Saturated
    TooFewSamples
    MissedRate
    Outliers
    NotSteady
    Drift
    Interference
    Throttled
    Multimodal
    OddHost
    HostSlowed
}

impl Cause {
    /// The cause as one that holds for a point's workload.
    #[must_use]
    pub fn at_point(self, spec: &TrialSpec) -> Self {
        Self::AtPoint { spec: Box::new(spec.clone()), cause: Box::new(self) }
    }

    /// The cause without the workload that it holds for.
    pub fn itself(&self) -> &Self {
        match self {
            Self::AtPoint { cause, .. } => cause.itself(),
            other => other,
        }
    }
}

/// Things that a check judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub enum Scopes {
    Trials,
    TrialsAndRun,
    TrialsAndPoints,
    Points,
    Run,
}

/// Count of a check's verdicts over the run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tally {
    /// Kind of things that were judged.
    #[serde(skip)]
    pub of: Scopes,
    /// Things that were judged.
    pub judged: u64,
    /// Verdicts of `pass`.
    pub passed: u64,
    /// Verdicts of `not checked`.
    pub unchecked: u64,
    /// Verdicts of `warning`.
    pub warned: u64,
    /// Verdicts of `invalid`.
    pub invalid: u64,
    /// Outliers that were excluded, for the check of outliers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outliers: Option<u64>,
    /// Cause of the first verdict of `not checked`, where the line is about those.
    #[serde(skip)]
    pub first: Option<Box<Cause>>,
}

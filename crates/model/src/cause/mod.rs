//! Causes of verdicts: what a check saw, as numbers with units in their names. Words are made of them in the report.

mod depth_not_reached;
mod drift;
mod generator_bound;
mod interference;
mod littles_law;
mod missed_rate;
mod multimodal;
mod not_steady;
mod outliers;
mod tally;
mod throttled;
mod too_few_samples;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::TrialSpec;

pub use depth_not_reached::DepthNotReached;
pub use drift::Drift;
pub use generator_bound::{Busy, GeneratorBound};
pub use interference::{CountedAt, Interference, Missing};
pub use littles_law::{LittlesLaw, Term};
pub use missed_rate::MissedRate;
pub use multimodal::Multimodal;
pub use not_steady::{NotSteady, Pause, Trend, Waited};
pub use outliers::{Excluded, Outliers};
pub use tally::{Scopes, Tally};
pub use throttled::{Cap, Moment, Throttled};
pub use too_few_samples::TooFewSamples;

/// What a check saw. One variant for each check that has facts of its own.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub enum Cause {
    /// Words that were made where the check is, with their numbers.
    Said {
        /// Sentence for people.
        why: String,
        /// Its numbers, units in their names.
        figures: BTreeMap<String, f64>,
    },
    /// Count of a check's verdicts over the run.
    Tally(Tally),
    /// Cause that holds for one point.
    #[serde(serialize_with = "cause_alone")]
    AtPoint {
        /// Workload of the point.
        spec: Box<TrialSpec>,
        /// What was seen there.
        cause: Box<Self>,
    },
    DepthNotReached(DepthNotReached),
    LittlesLaw(LittlesLaw),
    GeneratorBound(GeneratorBound),
    TooFewSamples(TooFewSamples),
    MissedRate(MissedRate),
    Outliers(Outliers),
    NotSteady(NotSteady),
    Drift(Drift),
    Interference(Interference),
    Throttled(Throttled),
    Multimodal(Multimodal),
}

/// Writes a cause at a point as the cause. (`flatten` would ask the compiler for a serializer within a serializer without
/// end, since causes hold causes.)
fn cause_alone<S: serde::Serializer>(_: &TrialSpec, cause: &Cause, serializer: S) -> Result<S::Ok, S::Error> {
    cause.serialize(serializer)
}

/// Lets a check hand over its facts where a cause is wanted.
macro_rules! causes {
    ($($Facts:ident,)+) => {
        $(impl From<$Facts> for Cause {
            fn from(facts: $Facts) -> Self {
                Self::$Facts(facts)
            }
        })+
    };
}

causes! {
    DepthNotReached,
    LittlesLaw,
    GeneratorBound,
    TooFewSamples,
    MissedRate,
    Outliers,
    NotSteady,
    Drift,
    Interference,
    Throttled,
    Multimodal,
}

impl Cause {
    /// The cause as one that holds for a point's workload.
    #[must_use]
    pub fn at_point(self, spec: &TrialSpec) -> Self {
        Self::AtPoint { spec: Box::new(spec.clone()), cause: Box::new(self) }
    }

    /// Words that were made where the check is; empty where there are facts.
    pub fn said(&self) -> &str {
        match self {
            Self::Said { why, .. } => why,
            Self::AtPoint { cause, .. } => cause.said(),
            _ => "",
        }
    }

    /// Number that stands beside words that were made where the check is.
    pub fn figure(&self, name: &str) -> Option<f64> {
        match self {
            Self::Said { figures, .. } => figures.get(name).copied(),
            _ => None,
        }
    }
}

impl From<String> for Cause {
    fn from(why: String) -> Self {
        Self::Said { why, figures: BTreeMap::new() }
    }
}

impl From<&str> for Cause {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

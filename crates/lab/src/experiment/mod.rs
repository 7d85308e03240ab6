//! Experiments: a question, the points that answer it, and what can be concluded from them.

mod grid;
mod parameters;

use iosonde_model::{Device, Named, Point, TrialSpec, registry};

use crate::finding::FindingKind;
pub use parameters::{Parameter, ParameterError, Parameters};

registry! {
    /// Every experiment, in the order in which a reader should meet them.
    pub EXPERIMENTS: Experiment "experiment" {
        block_size::BlockSize,
        queue_depth::QueueDepth,
        random_vs_sequential::RandomVsSequential,
        mix::Mix,
    }
}

/// What an experiment wants measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// These points, in fresh random order in each round.
    Shuffled(Vec<TrialSpec>),
    /// These points, in this order in each round: where history is the point.
    InOrder(Vec<TrialSpec>),
    /// Nothing more.
    Done,
}

/// A registered experiment. It asks for points and cannot run anything; rounds, order and stopping are the
/// schedule's.
pub trait Experiment: Named {
    /// What it answers, ending in a question mark.
    fn question(&self) -> &'static str;

    /// The keys that a study may give, with their defaults.
    fn parameters(&self) -> &'static [Parameter];

    /// The points that it wants, given what has been measured of them. With nothing measured: its plain grid.
    /// What a device does not allow (writes, deep queues, blocks near its size) is left out by the plan, not here.
    fn next(
        &self,
        parameters: &Parameters,
        device: &Device,
        so_far: &[Point],
    ) -> Result<Step, ParameterError>;

    /// What its points can answer.
    fn findings(&self) -> &'static [&'static dyn FindingKind];
}

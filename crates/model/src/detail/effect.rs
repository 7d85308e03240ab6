//! Facts of findings that compare levels of one parameter.

use crate::{Estimate, Inconclusive, TrialSpec, detail::Level};

/// Figure of a point that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedFigure {
    /// Completions per second.
    Throughput,
    /// Mean latency.
    MeanLatency,
}

/// Answer of several ratios together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectAnswer {
    /// All intervals lie within the margin.
    NoEffect,
    /// The interval of the named ratio excludes 1 and leaves the margin.
    Changes,
    /// No interval leaves the margin while it excludes 1, and all lie within twice the margin.
    NoneSeen,
    /// The intervals are too wide for either.
    Undecided,
}

/// Answer of the interval of one ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatioAnswer {
    /// It lies within the margin around 1.
    Equal,
    /// It lies below 1.
    Lower,
    /// It lies above 1.
    Higher,
    /// It contains 1 and reaches beyond the margin.
    Undecided,
}

/// Figure with which every level is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ComparedWith {
    /// Figure of one level.
    Level(Level),
    /// Mean over all other levels.
    MeanOfOthers,
}

/// Effect of one parameter, at the level whose ratio is the value.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Answer of all ratios.
    pub answer: EffectAnswer,
    /// Figure that was compared.
    pub figure: ComparedFigure,
    /// Level whose ratio is the value.
    pub level: Level,
    /// Lowest level that was compared.
    pub lowest: Level,
    /// Highest level that was compared.
    pub highest: Level,
    /// Figure with which every level was compared.
    pub reference: ComparedWith,
    /// Ratios whose intervals hold together.
    pub ratios: usize,
    /// Levels without a valid figure, and why.
    pub left_out: Vec<(Level, Inconclusive)>,
}

/// Several workers compared with one at the same queue depth.
#[derive(Debug, Clone, PartialEq)]
pub struct Workers {
    /// Answer of the ratio.
    pub answer: WorkersAnswer,
    /// Workers of the first side.
    pub workers: u32,
    /// Queue depth of each of them.
    pub queue_depth_each: u32,
    /// Queue depth of the single worker.
    pub queue_depth_single: u32,
    /// Throughput over that of one worker with the queue depth of each; `None` where it was not measured.
    pub over_one_of_them: Option<Estimate>,
}

/// Reading of the throughput of several workers over that of one.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkersAnswer {
    /// The engine makes one request at a time, so that more workers are a higher queue depth.
    QueueDepth {
        /// Engine of the trials.
        engine: String,
    },
    /// The number of workers does not matter at one queue depth.
    NoEffect,
    /// The interval is too wide.
    Undecided,
    /// Several workers are slower than one.
    Contention,
    /// The CPU of the single worker was busy nearly all of the time.
    CpuOfSingleWorker,
    /// The single worker was the limit.
    SingleWorker {
        /// Busy share of its CPU; `None` where no trial knows it.
        cpu_busy_share: Option<f64>,
    },
}

/// Reads right after a write compared with reads after a read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadsAfterWrites {
    /// Answer of the ratio.
    pub answer: RatioAnswer,
    /// Points whose ratios are averaged.
    pub points: usize,
    /// Workload whose ratio is furthest from 1.
    pub furthest: Box<TrialSpec>,
    /// Ratio of that workload.
    pub furthest_ratio: f64,
}

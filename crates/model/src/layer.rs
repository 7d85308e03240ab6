//! Cost of a layer of storage (a file system, encryption, a volume manager, a network) above what lies below it.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Op, TrialSpec};

/// What one side of a comparison costs above the side that lies below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layer {
    /// One for each workload and direction that both sides measured, in the order of the plan.
    pub lines: Vec<LayerLine>,
    /// Signs that the layer does something else than pass requests on.
    pub signs: Vec<LayerSign>,
    /// Confidence of each line's interval by itself.
    pub confidence: f64,
}

/// One workload below the layer and through it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LayerLine {
    /// The workload.
    pub spec: TrialSpec,
    /// Which of its requests.
    pub op: Op,
    /// Requests per second below the layer.
    pub base_iops: f64,
    /// Requests per second through the layer.
    pub through_iops: f64,
    /// What the layer takes.
    pub cost: LayerCost,
}

/// What a layer takes of one workload.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerCost {
    /// Nanoseconds added to each request, or to each write with its flush, at one request at a time: from request to
    /// request, what the program itself needs included.
    AddedNs(Estimate),
    /// Share of the throughput below that is left at deeper queues.
    Share(Estimate),
}

/// Sign that a layer does something else than pass requests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerSign {
    /// It reads faster than what lies below it can.
    ReadsFaster {
        /// The workload with the largest factor.
        spec: Box<TrialSpec>,
        /// Throughput through the layer over that below it, with an interval that allows for the number of lines.
        factor: Estimate,
    },
    /// It writes faster than what lies below it can.
    WritesFaster {
        /// The workload with the largest factor.
        spec: Box<TrialSpec>,
        /// As for reads.
        factor: Estimate,
    },
    /// Memory served requests of this direction through the layer.
    FromMemory {
        /// Direction.
        op: Op,
        /// Workloads of which that is so.
        workloads: usize,
    },
    /// The two sides share no block device: one does not lie above the other.
    NotAbove {
        /// Block devices below the base.
        base: Vec<String>,
        /// Block devices below the layer.
        through: Vec<String>,
    },
}

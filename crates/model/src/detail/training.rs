//! Facts about training: accelerators that are fed, and checkpoints.

use crate::training::{Checkpoint, TrainingModel};

/// Accelerators that reads keep busy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingFed {
    /// What is trained.
    pub model: TrainingModel,
    /// Most accelerators whose reads were made at the same time.
    pub most_tried: u32,
    /// Bytes per second that were read for the number that is fed.
    pub bytes_per_s: f64,
}

/// A checkpoint that was saved or restored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckpointSaved {
    /// The published checkpoint that the time is for.
    pub of: Checkpoint,
    /// Files written or read at the same time.
    pub writers: u32,
    /// Bytes of all files of a trial.
    pub measured_bytes: u64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Trials.
    pub trials: usize,
}

//! Facts of findings about the queue depth.

use crate::Estimate;

/// Fit of a closed-loop curve to throughput over queue depth.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedLoop {
    /// Largest deviation from the curve, where the deviations exceed their errors and the interval was widened.
    pub widened_for: Option<DepthMiss>,
    /// Queue depths that were excluded: the device saw less than half of them.
    pub excluded_queue_depths: Vec<u64>,
}

/// Fit of a closed-loop curve to throughput over the number of hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostCurve {
    /// Largest deviation from the curve, where the deviations exceed their errors and the interval was widened; its
    /// queue depth is a number of hosts.
    pub widened_for: Option<DepthMiss>,
}

/// Deviation of the throughput at one queue depth from a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DepthMiss {
    /// Queue depth of the point.
    pub queue_depth: u64,
    /// Deviation as a share of the curve's throughput.
    pub miss_share: f64,
}

/// Mean number of outstanding requests, beside the program's own count, which is the finding's value.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveDepth {
    /// Mean number of outstanding requests that the block layer counted; `None` where it did not count.
    pub at_device: Option<f64>,
    /// Whether the program reached the requested queue depth; `None` where the interval does not tell.
    pub reached: Option<bool>,
    /// Trials behind the program's count.
    pub trials: usize,
}

/// Why nothing can be said about a queue depth.
#[derive(Debug, Clone, PartialEq)]
pub enum QueueDepthProblem {
    /// Fewer than two queue depths have valid trials.
    OneDepth,
    /// A curve of three parameters needs more queue depths, 1 among them.
    TooFewDepths {
        /// Queue depths that were measured.
        depths: usize,
        /// Queue depths that the fit needs.
        needed: usize,
        /// Smallest queue depth that was measured.
        smallest: u64,
    },
    /// Throughput follows no closed-loop curve.
    NoCurve(DepthMiss),
    /// The plateau beyond the saturation point was not measured.
    PlateauUnseen {
        /// Saturation point that the measured part suggests.
        knee: Estimate,
        /// Deepest queue depth over the saturation point that the fit needs.
        times_needed: f64,
        /// Deepest queue depth that was measured.
        deepest: u64,
    },
    /// The deepest queue gives less than 95 % of the throughput that deeper ones would.
    StillRising {
        /// Deepest queue depth that was measured.
        deepest: u64,
    },
    /// The program counted outstanding requests in too few trials.
    NotCounted,
}

//! Findings: what can be concluded from an experiment's points, one file each.

mod best;
mod closed_loop;
pub(crate) mod group;
mod hockney;

use iosonde_model::{Finding, Named, registry};

use crate::evidence::Evidence;

registry! {
    /// Every finding.
    pub FINDINGS: FindingKind "finding" {
        device_bandwidth::DeviceBandwidth,
        max_iops::MaxIops,
        base_latency::BaseLatency,
        per_request_cost::PerRequestCost,
        half_size::HalfSize,
        plateau_block_size::PlateauBlockSize,
        queue_depth_knee::QueueDepthKnee,
        depth_for_95_percent::DepthFor95Percent,
        random_vs_sequential::RandomVsSequential,
    }
}

// For the experiments, which name what they answer.
pub(crate) use {
    base_latency::BaseLatency,
    depth_for_95_percent::DepthFor95Percent,
    device_bandwidth::DeviceBandwidth,
    half_size::HalfSize,
    max_iops::MaxIops,
    per_request_cost::PerRequestCost,
    plateau_block_size::PlateauBlockSize,
    queue_depth_knee::QueueDepthKnee,
    random_vs_sequential::{Order, RandomVsSequential},
};

/// A registered finding. Pure: it works on a file a year later.
pub trait FindingKind: Named {
    /// Concludes from the points of one experiment, at a confidence such as 0.95: one finding for each set of
    /// conditions that the points allow, refused ones included.
    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding>;

    /// A simulated device and a study whose answer is known.
    fn proof(&self) -> Proof;
}

/// A device whose truth is set, and what a finding must say of it.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The simulated device, as TOML.
    pub device: &'static str,
    /// The study that is run on it, as TOML.
    pub study: &'static str,
    /// Truths that must lie in the findings' intervals, in the order in which `conclude` gives them: value and
    /// derivation (`4 servers / 80 us = 50,000 IOPS`). `None`: a finding of that order must be refused or absent.
    pub truths: &'static [(Option<f64>, &'static str)],
    /// Largest full width of an interval, as a share of the value: an interval that covers everything is no proof.
    pub widest: f64,
}

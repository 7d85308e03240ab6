//! Facts of the check `throttled`.

use serde::{Serialize, Serializer};

use crate::{IoLimit, ThermalPressure};

/// A limit that was set, or a fall of throughput to a lower level.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Throttled {
    /// No control group can be seen.
    Unseen,
    /// Too few trials to see a limit that sets in during the run.
    TooFewTrials {
        /// Trials that could be looked at.
        trials: usize,
    },
    /// The trial reached a control group's limit.
    ControlGroup {
        /// Rate of the trial over the limit.
        limit_share: f64,
        /// The limit, with only the figure (requests or bytes) that was reached.
        #[serde(skip)]
        limit: IoLimit,
    },
    /// The controller of a cloud volume counted more requests or bytes than the instance's limit lets pass.
    InstanceLimit {
        /// Share of the time above the limit of IOPS.
        iops_exceeded_share: f64,
        /// Share of the time above the limit of throughput.
        throughput_exceeded_share: f64,
    },
    /// The operating system slowed the machine because of heat.
    Heat {
        /// Its level.
        thermal_pressure: ThermalPressure,
    },
    /// A control group's limit was set, changed or lifted while the run went on.
    SetInMidRun {
        /// The limit, with one figure.
        #[serde(flatten, serialize_with = "figure")]
        limit: IoLimit,
        /// First moment from which on it applied, from the run's beginning.
        from_s: f64,
        /// Moment at which it was lifted or changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        until_s: Option<f64>,
        /// Trials under it.
        limited_trials: usize,
    },
    /// The rate fell within a long trial and stayed low.
    Fell {
        /// Rate after the fall.
        throttle_iops: f64,
        /// Rate before it.
        before_iops: f64,
        /// Moment of the fall, from the trial's first request.
        at_s: f64,
        /// Temperature of the device, where it is hot.
        #[serde(skip_serializing_if = "Option::is_none")]
        temperature_celsius: Option<f64>,
        /// The cap, where the rate after the fall is as exact as one.
        #[serde(flatten)]
        cap: Option<Cap>,
        /// Whether the trial writes, so that a full write buffer explains it too.
        writes: bool,
    },
    /// Points fell to one cap in requests a second during the run.
    CappedRequests {
        /// The cap.
        throttle_iops: f64,
        /// Requests above the cap until it began.
        credit_requests: f64,
        /// When and how closely.
        #[serde(flatten)]
        at: CapStart,
    },
    /// Points fell to one cap in bytes a second during the run.
    CappedBytes {
        /// The cap.
        throttle_bytes_per_s: f64,
        /// Bytes above the cap until it began.
        credit_bytes: f64,
        /// When and how closely.
        #[serde(flatten)]
        at: CapStart,
    },
}

/// A rate that is kept exactly, after a credit was spent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cap {
    /// How closely the rate is kept, as a share.
    pub kept_within_share: f64,
    /// Requests above the cap until it began.
    pub credit_requests: f64,
}

/// Beginning of a cap during a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CapStart {
    /// From the run's beginning.
    pub from_s: f64,
    /// Points that fell.
    pub points: usize,
    /// How closely their rates agree, as a share.
    pub kept_within_share: f64,
}

/// The figure of a limit, as `limit_iops` or `limit_bytes_per_s`.
fn figure<S: Serializer>(limit: &IoLimit, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Figure {
        #[serde(skip_serializing_if = "Option::is_none")]
        limit_iops: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        limit_bytes_per_s: Option<f64>,
    }
    Figure { limit_iops: limit.iops, limit_bytes_per_s: limit.bytes_per_s }.serialize(serializer)
}

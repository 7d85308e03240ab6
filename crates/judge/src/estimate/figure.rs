//! The two figures of a trial that are fitted: its rate and its mean latency.

use iosonde_model::{About, Op, Trial};

use crate::mean_depth;

/// Which figure of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Rate,
    Latency,
}

impl Figure {
    pub(super) fn about(self) -> About {
        match self {
            Self::Rate => About::Rate,
            Self::Latency => About::Latency,
        }
    }

    /// How it goes where a rate rises.
    pub(super) fn sign(self) -> f64 {
        match self {
            Self::Rate => 1.0,
            Self::Latency => -1.0,
        }
    }

    pub(super) fn of(self, trial: &Trial, op: Op) -> Option<f64> {
        let direction = trial.direction(op)?;
        let value = match self {
            Self::Rate => Some(direction.iops),
            Self::Latency => mean_depth::latency_ns_mean(trial, op),
        };
        value.filter(|v| *v > 0.0 && v.is_finite())
    }
}

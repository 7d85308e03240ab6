//! Trials whose rate is expected to hold.

use iosonde_model::{Phase, Trial};

/// Whether a trial is one whose rate is expected to hold: a measurement of a point, after a warm-up, that sends as fast
/// as it can.
pub fn must_hold(trial: &Trial) -> bool {
    trial.phase == Phase::Measure
        && trial.point.is_some()
        && trial.warmup_s > 0.0
        && trial.spec.streams().all(|stream| stream.rate_iops.is_none())
}

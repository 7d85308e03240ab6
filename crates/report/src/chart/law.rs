//! The law of two parts as a curve: a request takes t₀ whatever its size, and then its bytes at the full rate.
//!
//! Drawn from the findings `per_request_cost` and `half_size`, which give its two numbers; where either is refused
//! there is no curve, since the trials do not follow the law.

use iosonde_model::{FindingName, Run};

use super::pick::{self, Family};
use crate::figure::{Curve, Tone};

/// Points of the curve: smooth at any size a screen has.
const STEPS: u32 = 40;

/// Throughput against block size under the law.
pub(super) fn throughput(run: &Run, family: &Family, tone: Tone) -> Option<Curve> {
    curve(run, family, tone, |bytes, time_ns| bytes * 1e9 / time_ns)
}

/// Requests a second.
pub(super) fn rate(run: &Run, family: &Family, tone: Tone) -> Option<Curve> {
    curve(run, family, tone, |_, time_ns| 1e9 / time_ns)
}

/// The time that one request takes.
pub(super) fn latency(run: &Run, family: &Family, tone: Tone) -> Option<Curve> {
    curve(run, family, tone, |_, time_ns| time_ns)
}

/// Requests a second that the law gives for one size; `None` where it has no numbers for this family.
pub(super) fn iops_at(run: &Run, family: &Family, bytes: f64) -> Option<f64> {
    let (t0_ns, half_bytes) = numbers(run, family)?;
    Some(1e9 / (t0_ns * (1.0 + bytes / half_bytes)))
}

/// t₀ in nanoseconds and the size that reaches half of the rate. Only single requests follow the law.
fn numbers(run: &Run, family: &Family) -> Option<(f64, f64)> {
    let found = |name| pick::finding(run, name, family)?.value;
    if family.spec().asked_in_flight() != 1 {
        return None;
    }
    Some((found(FindingName::PerRequestCost)?, found(FindingName::HalfSize)?))
}

fn curve(run: &Run, family: &Family, tone: Tone, height: fn(f64, f64) -> f64) -> Option<Curve> {
    let (t0_ns, half_bytes) = numbers(run, family)?;
    let (first, last) = (family.points.first()?, family.points.last()?);
    let (low, high) = (first.spec.block_size_bytes as f64, last.spec.block_size_bytes as f64);
    let point = |step: u32| {
        let bytes = low * (high / low).powf(f64::from(step) / f64::from(STEPS));
        (bytes, height(bytes, t0_ns * (1.0 + bytes / half_bytes)))
    };
    let name = format!("{}s: t₀ + size / rate", family.op);
    Some(Curve { name, tone, points: (0..=STEPS).map(point).collect(), band: Vec::new() })
}

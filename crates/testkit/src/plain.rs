//! Points that differ in nothing but their number, and trials of a given rate.

use iosonde_model::{Direction, Histogram, LatencySummary, Phase, Point, Rw, Trial, TrialSpec};

/// Points that differ in nothing but their number.
pub fn plain_points(count: usize) -> Vec<Point> {
    let spec = TrialSpec {
        rw: Rw::RandRead,
        block_size_bytes: 4096,
        queue_depth: 1,
        jobs: 1,
        read_percent: None,
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: 1 << 30,
        engine: "none".to_owned(),
        direct: true,
        ..TrialSpec::default()
    };
    let of =
        |id: usize| Point::planned(id, "simulated", TrialSpec { queue_depth: id as u32 + 1, ..spec.clone() });
    (0..count).map(of).collect()
}

/// A trial of a point: so many I/Os a second for a second, at QD 1.
pub fn trial(id: u64, point: Option<usize>, round: u32, spec: &TrialSpec, iops: u64) -> Trial {
    let mut histogram = Histogram::new();
    (0..iops).for_each(|_| histogram.record(1_000_000_000 / iops));
    let direction = Direction {
        ios: iops,
        bytes: iops * spec.block_size_bytes,
        errors: 0,
        short: 0,
        iops: iops as f64,
        bytes_per_s: (iops * spec.block_size_bytes) as f64,
        latency_ns: LatencySummary::of(&histogram),
        histogram,
    };
    let phase = if point.is_some() { Phase::Measure } else { Phase::Canary };
    Trial {
        id,
        experiment: "simulated".into(),
        point,
        round,
        started_s: id as f64 * 1.01,
        elapsed_s: 1.0,
        measured_s: 1.0,
        read: spec.rw.reads().then(|| direction.clone()),
        write: spec.rw.writes().then_some(direction),
        ..Trial::blank(spec.clone(), phase)
    }
}

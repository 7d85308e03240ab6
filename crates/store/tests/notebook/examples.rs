//! Runs and trials to keep.

use iosonde_model::{
    Device, Direction, Histogram, Host, LatencySummary, Phase, RequestError, RunInfo, RunState, Rw, Trial,
    TrialSpec, Window, WindowDirection, Witnesses,
};
use iosonde_store::Notebook;
use tempfile::TempDir;

/// An empty notebook in a folder of its own, which must outlive it.
pub(crate) fn notebook() -> (TempDir, Notebook) {
    let folder = tempfile::tempdir().unwrap();
    let notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    (folder, notebook)
}

pub(crate) fn info(id: &str) -> RunInfo {
    RunInfo {
        id: id.to_owned(),
        label: None,
        note: None,
        study: "quick".into(),
        series: None,
        in_turn_with: Vec::new(),
        over: None,
        against: None,
        repeat: None,
        study_source: "name = \"quick\"".into(),
        target: "./".into(),
        seed: u64::MAX,
        started_at: "2026-11-21T10:30:00Z".into(),
        elapsed_s: 0.0,
        state: RunState::Running,
        command: "iosonde run quick ./".into(),
        bytes_written: 0,
        budget_s: Some(90.0),
        precision: 0.05,
        confidence: 0.95,
        rounds: 0,
        device: Device { model: Some("Example 100".into()), ..Device::unknown("directory", 1 << 30) },
        host: Host { name: Some("here".into()), ..Host::default() },
        options: serde_json::json!({ "depth": [1, 2], "share": 0.1 }),
        hosts: Vec::new(),
        fio: None,
    }
}

pub(crate) fn labelled(id: &str, label: &str) -> RunInfo {
    RunInfo { label: Some(label.into()), ..info(id) }
}

pub(crate) fn direction(latencies_ns: &[u64], seconds: f64) -> Direction {
    let mut histogram = Histogram::new();
    latencies_ns.iter().for_each(|&ns| histogram.record(ns));
    let ios = latencies_ns.len() as u64;
    Direction {
        ios,
        bytes: ios * 4096,
        errors: 0,
        short: 0,
        iops: ios as f64 / seconds,
        bytes_per_s: (ios * 4096) as f64 / seconds,
        latency_ns: LatencySummary::of(&histogram),
        histogram,
    }
}

/// Trial number `id`: 1 s, begun `id` seconds after the run, 8 KiB written.
pub(crate) fn trial(id: u64) -> Trial {
    let spec = TrialSpec {
        rw: Rw::RandRw,
        block_size_bytes: 4096,
        queue_depth: 8,
        jobs: 1,
        read_percent: Some(70.0),
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: 1 << 30,
        engine: "psync".into(),
        direct: true,
        ..TrialSpec::default()
    };
    Trial {
        id,
        experiment: "mix".into(),
        point: Some(3),
        round: 1,
        started_at: "2026-11-21T10:30:01Z".into(),
        started_s: id as f64,
        elapsed_s: 1.0,
        warmup_s: 0.1,
        measured_s: 0.9,
        read: Some(direction(&[80_123, 81_456, 1_000_001], 0.9)),
        write: Some(direction(&[20_000, 25_000], 0.9)),
        in_flight_mean: Some(7.9),
        cpu_user_s: Some(0.01),
        windows: vec![Window {
            start_s: 0.1,
            length_s: 0.1,
            read: Some(WindowDirection {
                ios: 3,
                bytes: 12_288,
                latency_ns_mean: Some(82_000.5),
                latency_ns_p50: Some(81_456.0),
                latency_ns_p99: None,
            }),
            ..Window::default()
        }],
        witnesses: Witnesses { issued_write_bytes: 8192, issued_ios: 5, ..Witnesses::default() },
        error_examples: vec![RequestError::System { errno: 5, count: 1 }],
        ..Trial::blank(spec, Phase::Measure)
    }
}

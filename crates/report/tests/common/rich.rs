//! What the run of `quick` lacks: strides, several mixes, loads, working sets, a long write that fills a buffer, and a
//! device that grows warm. So that every chart has something to draw.

use iosonde_model::FindingName;
use iosonde_model::*;

use super::{finding, point_direction, spec, trial};

/// The invented run with points and trials for every chart.
pub fn rich(rounds: u32) -> Run {
    let mut run = super::run(rounds);
    for (experiment, spec) in plan() {
        add(&mut run, experiment, spec, rounds);
    }
    long_write(&mut run);
    many_hosts(&mut run, rounds);
    for trial in &mut run.trials {
        trial.witnesses.temperature_celsius = Some(38.0 + (trial.id as f64 / 9.0).min(14.0));
    }
    run
}

fn plan() -> Vec<(&'static str, TrialSpec)> {
    let mut plan = Vec::new();
    for share in [25.0, 50.0, 75.0] {
        plan.push(("mix", TrialSpec { read_percent: Some(share), ..spec(Rw::RandRw, 4096, 32) }));
    }
    for depth in [64, 128] {
        plan.push(("mix", TrialSpec { read_percent: Some(25.0), ..spec(Rw::RandRw, 4096, depth) }));
    }
    for rw in [Rw::Read, Rw::Write] {
        for block in [4096, 65_536] {
            for stride in [65_536, 262_144, 1 << 20, 4 << 20] {
                plan.push(("stride", TrialSpec { stride_bytes: Some(stride), ..spec(rw, block, 1) }));
            }
        }
    }
    for rate in [1000.0, 2000.0, 4000.0, 8000.0] {
        plan.push(("open-loop", TrialSpec { rate_iops: Some(rate), ..spec(Rw::RandRead, 4096, 64) }));
    }
    for power in [22, 24, 26, 28] {
        plan.push(("working-set", TrialSpec { span_bytes: 1 << power, ..spec(Rw::RandRead, 16_384, 8) }));
    }
    plan
}

fn add(run: &mut Run, experiment: &str, spec: TrialSpec, rounds: u32) {
    let id = run.points.len();
    let share = spec.read_percent.map_or(f64::from(u8::from(spec.rw.reads())), |percent| percent / 100.0);
    for round in 1..=rounds.min(3) {
        let next = run.trials.len() as u64 + 1;
        run.trials.push(trial(next, round, experiment, Some(id), &spec, Phase::Measure));
    }
    let one = |share: f64| (share > 0.0).then(|| point_direction(&spec, share, 0.02, id as u64));
    let mut point = Point::planned(id, experiment, spec.clone());
    (point.read, point.write) = (one(share), one(1.0 - share));
    point.trial_ids = run.trials.iter().filter(|t| t.point == Some(id)).map(|t| t.id).collect();
    (point.trials, point.closed) = (rounds.min(3), Some(Closed::Precision));
    run.points.push(point);
}

/// Hosts that share the device with 4 requests each: 24 requests keep it busy, so 6 hosts do. Host 7 has a fifth less
/// than the others.
fn many_hosts(run: &mut Run, rounds: u32) {
    const HOSTS: u32 = 24;
    for hosts in [1, 2, 4, 8, 16, HOSTS] {
        add(run, "host-scaling", spec(Rw::RandRead, 4096, 4).on_hosts(hosts), rounds);
    }
    let weight = |rank: u32| if rank == 7 { 0.8 } else { 1.0 };
    for trial in run.trials.iter_mut().filter(|trial| trial.experiment == "host-scaling") {
        let ranks = 0..trial.spec.hosts;
        let all: f64 = ranks.clone().map(weight).sum();
        let read = trial.read.clone().expect("it reads");
        let share = |rank: u32| {
            let own = weight(rank) / all * (1.0 + 0.01 * super::noise(trial.id, u64::from(rank)));
            let direction = HostDirection {
                ios: (read.ios as f64 * own) as u64,
                bytes: (read.bytes as f64 * own) as u64,
                iops: read.iops * own,
                bytes_per_s: read.bytes_per_s * own,
                latency_ns_mean: read.latency_ns.mean,
                latency_ns_p50: read.latency_ns.p50,
                latency_ns_p99: read.latency_ns.p99,
                ..HostDirection::default()
            };
            let late_ns = 20_000 + 3_000 * i64::from(rank);
            HostShare { rank, read: Some(direction), late_ns, ..HostShare::default() }
        };
        trial.hosts = ranks.map(share).collect();
    }
    let host = |rank: u32| RunHost { rank, name: format!("node-{rank:02}"), ..RunHost::default() };
    run.info.hosts = (0..HOSTS).map(host).collect();
    let mut found = finding(
        FindingName::HostSaturation,
        "host-scaling",
        Op::Read,
        iosonde_model::Unit::Hosts,
        (6.0, 5.6, 6.4),
    );
    found.conditions.queue_depth = Some(4);
    found.detail = Detail::HostCurve(detail::HostCurve { widened_for: None });
    run.findings.push(found);
}

/// 2 GB/s into a buffer of 4 GB, and 0.5 GB/s once it is full.
fn long_write(run: &mut Run) {
    let spec = spec(Rw::Write, 1 << 20, 8);
    add(run, "sustained-write", spec, 1);
    let last = run.trials.last_mut().expect("one was added");
    let window = |i: u32| {
        let (start_s, length_s) = (f64::from(i) * 0.1, 0.1);
        let rate = if i < 20 { 2e9 } else { 5e8 } * (1.0 + 0.02 * super::noise(u64::from(i), 8));
        let write = WindowDirection {
            ios: 100,
            bytes: (rate * length_s) as u64,
            latency_ns_p50: Some(8e15 / rate / 1e3),
            latency_ns_p99: Some(12e15 / rate / 1e3),
            ..WindowDirection::default()
        };
        Window { start_s, length_s, write: Some(write), ..Window::default() }
    };
    last.windows = (0..80).map(window).collect();
    let told = [
        (FindingName::WriteBufferBytes, iosonde_model::Unit::Bytes, (3e9, 2.9e9, 3.1e9)),
        (FindingName::SustainedRate, iosonde_model::Unit::Rate, (5e8, 4.9e8, 5.1e8)),
    ];
    run.findings.extend(told.map(|(name, unit, value)| {
        let mut found = finding(name, "sustained-write", Op::Write, unit, value);
        found.conditions = Conditions { op: Some(Op::Write), random: Some(false), ..Conditions::default() };
        found
    }));
}

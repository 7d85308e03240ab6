//! A concluded run as `quick` makes it, on an invented device with a closed form: 27 points, several trials
//! each, one void trial, one doubt, one refused finding, and a label that would be markup if anybody let it.
//!
//! Device: a single 4 KiB read takes 80 µs + 4 KiB / 2.5 GB/s; at QD N, X(N) = N / (R₀ (1 +
//! (N/24)³)^⅓), so the highest rate is 24 / R₀ and the knee is 24. Noise is a fixed sequence of about ±3 %.

mod conclusions;
mod rich;

use conclusions::finding;
use iosonde_model::CheckName;
pub use rich::rich;

use iosonde_model::*;

/// What the user called it: markup, if anybody let it be.
pub const HOSTILE: &str = "laptop </script><script>alert(1)</script> & \"co\"";

const KNEE: f64 = 24.0;

/// A number from -1 to 1 that depends on nothing but its arguments.
fn noise(a: u64, b: u64) -> f64 {
    let mut x = (a + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (b + 7).wrapping_mul(0xD1B5_4A32_D192_ED03);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 29;
    (x >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
}

fn spec(rw: Rw, block_size_bytes: u64, queue_depth: u32) -> TrialSpec {
    TrialSpec {
        rw,
        block_size_bytes,
        queue_depth,
        jobs: 1,
        read_percent: rw.is_mixed().then_some(70.0),
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: 4 << 30,
        engine: "io_uring".into(),
        direct: true,
        ..TrialSpec::default()
    }
}

/// The points of `quick`, each with its experiment and the others that use it.
fn plan() -> Vec<(&'static str, Vec<&'static str>, TrialSpec)> {
    let mut plan = Vec::new();
    for rw in [Rw::RandRead, Rw::RandWrite] {
        for power in [12, 14, 16, 18, 20, 22] {
            let also = match (rw, power) {
                (Rw::RandRead, 12) => vec!["queue-depth"],
                (Rw::RandWrite, 12) => vec!["queue-depth-writes"],
                _ => vec![],
            };
            plan.push(("block-size", also, spec(rw, 1 << power, 1)));
        }
    }
    plan.extend([2, 4, 8, 16, 32, 64, 128].map(|n| ("queue-depth", vec![], spec(Rw::RandRead, 4096, n))));
    plan.extend([4, 16, 128].map(|n| ("queue-depth-writes", vec![], spec(Rw::RandWrite, 4096, n))));
    let patterns = [Rw::Read, Rw::RandRead, Rw::Write, Rw::RandWrite];
    plan.extend(patterns.map(|rw| ("random-vs-sequential", vec![], spec(rw, 1 << 20, 8))));
    plan.push(("mix", vec![], spec(Rw::RandRw, 4096, 32)));
    plan
}

/// The device's mean latency in nanoseconds and total rate, without noise.
fn truth(spec: &TrialSpec) -> (f64, f64) {
    let write = !spec.rw.reads();
    let (fixed_ns, bytes_per_ns) = if write { (110_000.0, 1.4) } else { (80_000.0, 2.5) };
    let alone = fixed_ns + spec.block_size_bytes as f64 / bytes_per_ns;
    let n = spec.asked_in_flight() as f64;
    let knee = if spec.block_size_bytes > 65_536 { 2.2 } else { KNEE };
    let latency = alone * (1.0 + ((n - 1.0) / knee).powi(3)).cbrt();
    (latency, n * 1e9 / latency)
}

/// A histogram whose percentiles lie around a mean: lognormal, with one slow request in 500.
fn histogram(mean_ns: f64, ios: u64, salt: u64) -> Histogram {
    let steps = 64;
    let pairs: Vec<(u64, u64)> = (0..steps)
        .map(|step| {
            let z = (f64::from(step) + 0.5) / f64::from(steps) * 6.0 - 3.0;
            let share = (-z * z / 2.0).exp() / 26.7;
            let ns = mean_ns * (0.16 * z - 0.0128).exp() * (1.0 + 0.003 * noise(salt, step as u64));
            (ns as u64, (share * ios as f64) as u64)
        })
        .chain([((mean_ns * 6.0) as u64, ios / 500), ((mean_ns * 19.0) as u64, ios / 5000)])
        .collect();
    Histogram::from_pairs(&pairs, None, None, None)
}

fn direction(spec: &TrialSpec, share: f64, factor: f64, measured_s: f64, salt: u64) -> Direction {
    let (latency, rate) = truth(spec);
    let iops = rate * share * factor;
    let ios = (iops * measured_s) as u64;
    let histogram = histogram(latency / factor, ios, salt);
    Direction {
        ios,
        bytes: ios * spec.block_size_bytes,
        errors: 0,
        short: 0,
        iops,
        bytes_per_s: iops * spec.block_size_bytes as f64,
        latency_ns: LatencySummary::of(&histogram),
        histogram,
    }
}

fn trial(
    id: u64,
    round: u32,
    experiment: &str,
    point: Option<usize>,
    spec: &TrialSpec,
    phase: Phase,
) -> Trial {
    let drift = 1.0 - 0.0004 * id as f64 / 2.0;
    let factor = (1.0 + 0.03 * noise(id, u64::from(round))) * drift.max(0.9);
    let measured_s = 0.35;
    let reads = spec.read_percent.map_or(f64::from(u8::from(spec.rw.reads())), |percent| percent / 100.0);
    let one = |share: f64| (share > 0.0).then(|| direction(spec, share, factor, measured_s, id));
    let issued = (truth(spec).1 * factor * 0.45 * spec.block_size_bytes as f64) as u64;
    Trial {
        id,
        experiment: experiment.into(),
        point,
        round,
        started_at: format!("2026-11-21T10:{:02}:{:02}Z", 4 + id / 120 % 56, id / 2 % 60),
        started_s: 12.0 + id as f64 * 0.5,
        elapsed_s: 0.45,
        warmup_s: 0.1,
        measured_s,
        read: one(reads),
        write: one(1.0 - reads),
        in_flight_mean: Some(f64::from(spec.queue_depth) * (1.0 - 0.004 * noise(id, 3).abs())),
        busy_share: Some(0.21),
        cpu_user_s: Some(0.02),
        cpu_system_s: Some(0.11),
        witnesses: Witnesses {
            from_s: -0.001,
            to_s: 0.452,
            issued_read_bytes: (issued as f64 * reads) as u64,
            issued_write_bytes: (issued as f64 * (1.0 - reads)) as u64,
            issued_ios: issued / spec.block_size_bytes,
            block_layer_device: Some("nvme0n1".into()),
            block_layer_read_bytes: Some((issued as f64 * reads * 1.001) as u64),
            block_layer_write_bytes: Some((issued as f64 * (1.0 - reads) * 1.001) as u64),
            ..Witnesses::default()
        },
        ..Trial::blank(spec.clone(), phase)
    }
}

fn estimate(value: f64, half: f64) -> Estimate {
    Estimate { value, low: Some(value / (1.0 + half)), high: Some(value * (1.0 + half)) }
}

fn point_direction(spec: &TrialSpec, share: f64, half: f64, id: u64) -> PointDirection {
    let (latency, rate) = truth(spec);
    let factor = 1.0 + 0.01 * noise(id, 99);
    let iops = rate * share * factor;
    PointDirection {
        iops: estimate(iops, half),
        bytes_per_s: estimate(iops * spec.block_size_bytes as f64, half),
        latency_ns_mean: Some(estimate(latency / factor, half)),
        latency_ns_p50: Some(estimate(latency / factor * 0.97, half)),
        latency_ns_p99: Some(estimate(latency / factor * 1.48, half * 2.0)),
        latency_ns_p99_9: Some(estimate(latency / factor * 6.1, half * 3.0)),
        levels: Vec::new(),
    }
}

fn device() -> Device {
    Device {
        name: Some("nvme0n1".into()),
        model: Some("Example 990 2TB".into()),
        size_bytes: Some(2_000_398_934_016),
        rotational: Some(false),
        medium: Medium::Flash,
        file_system: Some("ext4".into()),
        mount_options: Some("rw,relatime".into()),
        link: Some("PCIe 4.0 x4".into()),
        logical_block_bytes: Some(512),
        physical_block_bytes: Some(4096),
        direct_alignment_bytes: Some(512),
        scheduler: Some("none".into()),
        write_cache: Some("write back".into()),
        chain: vec!["nvme0n1p2".into(), "nvme0n1".into()],
        asked_size_bytes: Some(8 << 30),
        engine: "io_uring".into(),
        direct: true,
        notes: vec!["8 GiB were requested; filling them would have taken more than 15 % of the time.".into()],
        ..Device::unknown("directory", 4 << 30)
    }
}

fn info(rounds: u32) -> RunInfo {
    RunInfo {
        id: "7f3a91".into(),
        label: Some(HOSTILE.into()),
        note: None,
        study: "quick".into(),
        series: None,
        in_turn_with: Vec::new(),
        over: None,
        against: None,
        repeat: None,
        study_source: include_str!("../../../../studies/quick.toml").into(),
        target: "./".into(),
        seed: 42,
        started_at: "2026-11-21T10:04:00Z".into(),
        elapsed_s: 88.4,
        state: RunState::Done,
        command: "iosonde run quick ./".into(),
        bytes_written: 9_126_805_504,
        budget_s: Some(90.0),
        precision: 0.05,
        confidence: 0.95,
        rounds,
        device: device(),
        host: Host {
            name: Some("workbench".into()),
            kernel: Some("Linux 6.18.2".into()),
            cpu: Some("Example CPU 7840".into()),
            cpus: Some(8),
            memory_bytes: Some(32 << 30),
            virtualization: None,
            clock: Some("tsc".into()),
            ceilings: Vec::new(),
            ..Host::default()
        },
        options: serde_json::Value::Null,
        hosts: Vec::new(),
        fio: None,
    }
}

/// A concluded run with so many rounds; nine give about what `quick` measures.
pub fn run(rounds: u32) -> Run {
    let plan = plan();
    let fill = spec(Rw::Write, 1 << 20, 8);
    let mut trials = vec![trial(1, 0, "prepare", None, &fill, Phase::Prepare)];
    for round in 1..=rounds {
        let canary = spec(Rw::RandRead, 4096, 1);
        trials.push(trial(trials.len() as u64 + 1, round, "canary", None, &canary, Phase::Canary));
        for (id, (experiment, _, spec)) in plan.iter().enumerate() {
            let next = trials.len() as u64 + 1;
            trials.push(trial(next, round, experiment, Some(id), spec, Phase::Measure));
        }
    }
    let mut run = Run::new(info(rounds), trials);
    let void = run.trials.iter().find(|t| t.point == Some(3)).map_or(0, |t| t.id);
    for (id, (experiment, also, spec)) in plan.into_iter().enumerate() {
        let mut point = Point::planned(id, experiment, spec);
        let half = 0.018 + 0.02 * noise(id as u64, 5).abs();
        let reads = point.spec.read_percent.map_or(f64::from(u8::from(point.spec.rw.reads())), |p| p / 100.0);
        let one = |share: f64| (share > 0.0).then(|| point_direction(&point.spec, share, half, id as u64));
        (point.read, point.write) = (one(reads), one(1.0 - reads));
        point.also = also.into_iter().map(str::to_owned).collect();
        point.trial_ids = run.trials.iter().filter(|t| t.point == Some(id)).map(|t| t.id).collect();
        point.trials = rounds;
        (point.invalid, point.left_out) = (u32::from(id == 3), u32::from(id == 3));
        point.closed = Some(if half < 0.03 { Closed::Precision } else { Closed::Budget });
        run.points.push(point);
    }
    for trial in &run.trials {
        let (id, scope) = (trial.id, "trial");
        run.verdicts.push(Judgement::new(CheckName::LittlesLaw, scope, Some(id), None, Verdict::Pass));
    }
    let other = cause::Interference::Steal { steal_share: 0.41 };
    let told = Verdict::Invalid(Reason::new(About::All, other));
    run.verdicts.push(Judgement::new(CheckName::Interference, "trial", Some(void), None, told));
    let busy = cause::Busy {
        busy_share: 0.93,
        iops: 1e5,
        cached_iops: None,
        of_another: false,
        no_spare_cpu: false,
    };
    let told = Verdict::Warning(Reason::new(
        About::Rate,
        cause::GeneratorBound::Near { busy, kept_back_share: None },
    ));
    run.verdicts.push(Judgement::new(CheckName::GeneratorBound, "point", None, Some(18), told));
    run.findings = conclusions::findings();
    // A curve rests on the points of its experiment.
    for finding in run.findings.iter_mut().filter(|finding| finding.experiment == "queue-depth") {
        let own = |point: &&Point| {
            point.experiment == "queue-depth" || point.also.iter().any(|also| also == "queue-depth")
        };
        finding.trials = run.points.iter().filter(own).flat_map(|point| point.trial_ids.clone()).collect();
    }
    run
}

/// A single workload, as `iosonde point` runs it: the mix, once.
pub fn point() -> Run {
    let mut run = run(1);
    (run.info.study, run.info.study_source) = ("point".into(), String::new());
    (run.info.device.asked_size_bytes, run.info.device.notes) = (None, Vec::new());
    run.findings = Vec::new();
    let mut point = run.points.pop().expect("the plan has points");
    let last = run.trials.pop().expect("the plan has trials");
    point.why_no_interval = Some(NoInterval::TooFew { trials: 1, valid: 1, needed: 5 });
    run.trials = vec![run.trials.swap_remove(0), Trial { point: Some(0), ..last }];
    let own = |verdict: &Judgement| verdict.trial == run.trials.last().map(|trial| trial.id);
    run.verdicts.retain(own);
    run.points = vec![Point { id: 0, ..point }];
    run
}

/// A run whose trials are all void: nothing can be said, and why is.
pub fn nothing() -> Run {
    let mut run = run(2);
    run.verdicts = run
        .trials
        .iter()
        .map(|trial| {
            let why = Reason::new(About::All, cause::CacheServed::Resident { span_bytes: 1 << 30 });
            Judgement::new(CheckName::CacheServed, "trial", Some(trial.id), None, Verdict::Invalid(why))
        })
        .collect();
    for point in &mut run.points {
        (point.read, point.write, point.invalid) = (None, None, point.trials);
        point.left_out = point.trials;
    }
    for finding in &mut run.findings {
        (finding.status, finding.value, finding.low, finding.high) = (Status::Inconclusive, None, None, None);
        finding.detail = Detail::Inconclusive(Inconclusive::TooFewTrials {
            spec: Box::new(run.points[0].spec.clone()),
            valid: 0,
            run: run.points[0].trials as usize,
            needed: 5,
            about: About::All,
        });
    }
    run
}

/// One side of a comparison: the same run, its rates times this number, under a name that is markup.
pub fn side(factor: u32) -> iosonde_infer::compare::Side {
    let mut run = rich(3);
    run.info.id = format!("7f3a9{factor}");
    run.info.host.kernel = Some(format!("Linux 6.{factor}"));
    let times = f64::from(factor);
    for point in &mut run.points {
        for direction in [&mut point.read, &mut point.write].into_iter().flatten() {
            for rate in [&mut direction.iops, &mut direction.bytes_per_s] {
                rate.value *= times;
                rate.low = rate.low.map(|low| low * times);
                rate.high = rate.high.map(|high| high * times);
            }
        }
    }
    iosonde_infer::compare::Side { name: format!("<b>{factor}</b>"), runs: vec![run], history: Vec::new() }
}

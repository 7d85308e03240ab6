//! Runs with known answers, built from plain numbers: what the checks must pass, catch and abstain from.

use iosonde_model::{
    Absence, Conditions, Detail, Device, Direction, Finding, FindingName, Histogram, Host, LatencySummary,
    Medium, Op, Phase, Point, Run, RunInfo, RunState, Rw, Status, Trial, TrialSpec, Unit, Window,
    WindowDirection, Witnesses,
};

/// The measured time of a specimen trial.
const MEASURED_S: u64 = 1;

/// A disk's trial of one second in which nothing is wrong: figures agree with each other, and every witness
/// with them.
pub fn healthy(rw: Rw, block_size_bytes: u64, queue_depth: u32, iops: u64) -> Trial {
    let spec = TrialSpec {
        rw,
        block_size_bytes,
        queue_depth,
        jobs: 1,
        read_percent: rw.is_mixed().then_some(50.0),
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: 1 << 30,
        engine: "io_uring".into(),
        direct: true,
        ..TrialSpec::default()
    };
    // Little's law gives the latency: depth / iops.
    let latency_ns = (f64::from(queue_depth) * 1e9 / iops as f64).round() as u64;
    let each = if rw.is_mixed() { iops / 2 } else { iops };
    let lane = |op| rw.has(op).then(|| direction(each * MEASURED_S, block_size_bytes, latency_ns));
    // Ten windows; together they are the whole.
    let share = |i: u64| (each * MEASURED_S) * (i + 1) / 10 - (each * MEASURED_S) * i / 10;
    let window = |op, i| rw.has(op).then(|| window(share(i), block_size_bytes, latency_ns));
    // Witnesses see the warm-up and the drain too: a tenth more.
    let issued = |op| if rw.has(op) { each * MEASURED_S * block_size_bytes / 10 * 11 } else { 0 };
    Trial {
        id: 1,
        experiment: "queue-depth".into(),
        point: Some(0),
        round: 1,
        started_at: "2026-01-01T00:00:00Z".into(),
        started_s: 0.0,
        elapsed_s: 1.1,
        warmup_s: 0.1,
        measured_s: MEASURED_S as f64,
        read: lane(Op::Read),
        write: lane(Op::Write),
        in_flight_mean: Some(f64::from(queue_depth)),
        busy_share: Some(0.3),
        cpu_user_s: Some(0.1),
        cpu_system_s: Some(0.2),
        windows: (0..10)
            .map(|i| Window {
                start_s: 0.1 + i as f64 / 10.0,
                length_s: 0.1,
                read: window(Op::Read, i),
                write: window(Op::Write, i),
                trim: None,
            })
            .collect(),
        witnesses: in_agreement(issued(Op::Read), issued(Op::Write), iops, queue_depth),
        ..Trial::blank(spec, Phase::Measure)
    }
}

/// Witnesses that saw our own I/O and no other.
fn in_agreement(read_bytes: u64, write_bytes: u64, iops: u64, queue_depth: u32) -> Witnesses {
    Witnesses {
        from_s: -0.001,
        to_s: 1.101,
        issued_read_bytes: read_bytes,
        issued_write_bytes: write_bytes,
        issued_ios: iops * MEASURED_S / 10 * 11,
        block_layer_device: Some("vda".into()),
        block_layer_read_bytes: Some(read_bytes),
        block_layer_write_bytes: Some(write_bytes),
        block_layer_in_flight_mean: Some(f64::from(queue_depth)),
        steal_share: Some(0.0),
        pressure_cpu_some_share: Some(0.0),
        io_limits: Some(Vec::new()),
        resident_before_bytes: Some(0),
        resident_after_bytes: Some(0),
        dirty_after_bytes: Some(0),
        unmapped_bytes: Some(0),
        calendar_step_s: Some(0.0),
        suspended_s: Some(0.0),
        clock_ratio: Some(1.0),
        ..Witnesses::default()
    }
}

/// The trial that most specimens begin with: 4 KiB random reads, QD 32, 100,000 a second.
pub fn usual() -> Trial {
    healthy(Rw::RandRead, 4096, 32, 100_000)
}

/// The usual trial with buffered I/O: 2 GiB in all from a span of 1 GiB, of which `moved_bytes` came
/// from the device and `resident_bytes` were in memory all the time.
pub fn buffered(moved_bytes: Option<u64>, resident_bytes: Option<u64>) -> Trial {
    let mut trial = healthy(Rw::RandRead, 1 << 20, 1, 2000);
    trial.spec.direct = false;
    trial.witnesses.block_layer_read_bytes = moved_bytes;
    trial.witnesses.resident_before_bytes = resident_bytes;
    trial.witnesses.resident_after_bytes = resident_bytes;
    if moved_bytes.is_none() {
        trial.witnesses.absent.push(Absence::NoBlockDevice { file_system: None });
    }
    trial
}

/// One direction in which every request took the same time.
pub fn direction(ios: u64, block_size_bytes: u64, latency_ns: u64) -> Direction {
    let mut histogram = Histogram::new();
    histogram.record(latency_ns);
    let upper = histogram.buckets().next().expect("one value was recorded").1;
    let exact = (Some(latency_ns as f64), Some(latency_ns), Some(latency_ns));
    let histogram = Histogram::from_pairs(&[(upper, ios)], exact.0, exact.1, exact.2);
    Direction {
        ios,
        bytes: ios * block_size_bytes,
        errors: 0,
        short: 0,
        iops: ios as f64 / MEASURED_S as f64,
        bytes_per_s: (ios * block_size_bytes) as f64 / MEASURED_S as f64,
        latency_ns: LatencySummary::of(&histogram),
        histogram,
    }
}

fn window(ios: u64, block_size_bytes: u64, latency_ns: u64) -> WindowDirection {
    let latency_ns = Some(latency_ns as f64);
    let bytes = ios * block_size_bytes;
    WindowDirection { ios, bytes, latency_ns_p50: latency_ns, ..WindowDirection::default() }
}

/// A row of a published table: a rate and a mean latency, and nothing else.
pub fn tabled() -> Trial {
    let mut trial = usual();
    let read = trial.read.as_mut().expect("it reads");
    let mean = read.latency_ns.mean;
    (read.ios, read.bytes, read.histogram) = (0, 0, Histogram::new());
    read.latency_ns = LatencySummary { mean, ..LatencySummary::default() };
    (trial.measured_s, trial.in_flight_mean, trial.busy_share) = (0.0, None, None);
    (trial.windows, trial.witnesses) = (Vec::new(), Witnesses::default());
    trial
}

/// A run of one point with this trial.
pub fn run(trial: Trial) -> Run {
    // 4 lanes of PCIe 4.0 carry 7.9 GB/s.
    let link = Some("PCIe 4.0 x4".to_owned());
    let device = Device { medium: Medium::Virtual, link, ..Device::unknown("directory", 1 << 30) };
    run_on(Device { file_system: Some("ext4".into()), mount_options: Some("rw".into()), ..device }, trial)
}

/// Another tool's result.
pub fn imported(trial: Trial) -> Run {
    let mut run = run(trial);
    run.info.study = iosonde_model::IMPORT.into();
    run
}

/// A run that began with a direct fill of 1 GiB, of which the device counted `counted_bytes` and the page cache kept
/// `cached_bytes`.
pub fn filled(counted_bytes: u64, cached_bytes: u64, trial: Trial) -> Run {
    let mut run = run(trial);
    let mut fill = healthy(Rw::Write, 1 << 20, 8, 1024);
    (fill.id, fill.point, fill.round, fill.phase) = (2, None, 0, Phase::Prepare);
    fill.witnesses.issued_write_bytes = 1 << 30;
    fill.witnesses.block_layer_write_bytes = Some(counted_bytes);
    fill.witnesses.resident_after_bytes = Some(cached_bytes);
    run.trials.insert(0, fill);
    run
}

/// A run of one point with this trial on this device.
pub fn run_on(device: Device, trial: Trial) -> Run {
    let info = RunInfo {
        id: "000000".into(),
        label: None,
        note: None,
        study: "quick".into(),
        series: None,
        in_turn_with: Vec::new(),
        over: None,
        against: None,
        repeat: None,
        study_source: String::new(),
        target: "./".into(),
        seed: 1,
        started_at: "2026-01-01T00:00:00Z".into(),
        elapsed_s: 2.0,
        state: RunState::Done,
        command: String::new(),
        bytes_written: 0,
        budget_s: None,
        precision: 0.05,
        confidence: 0.95,
        rounds: 8,
        device,
        host: Host::default(),
        options: Default::default(),
        hosts: Vec::new(),
        fio: None,
    };
    let mut point = Point::planned(0, &trial.experiment, trial.spec.clone());
    // Enough trials for a point: `too-few-samples` counts the point's, the others look at this one.
    (point.trials, point.trial_ids) = (8, vec![trial.id]);
    let mut run = Run::new(info, vec![trial]);
    run.points.push(point);
    run
}

/// A run of a study with one point that was visited once a round, at these rates.
pub fn rounds(count: usize, iops: impl Fn(usize) -> f64) -> Run {
    let mut run = run(usual());
    run.info.study_source = "name = \"specimen\"".into();
    run.trials = (0..count).map(|place| visit(place, 0, iops(place).round() as u64)).collect();
    run.points[0].trials = count as u32;
    run.points[0].trial_ids = run.trials.iter().map(|trial| trial.id).collect();
    run
}

/// A run of a study with one point whose every trial runs through these rates in its ten windows.
pub fn changing_within(count: usize, iops: impl Fn(usize) -> f64) -> Run {
    let windows = rounds(1, |_| 1e5).trials.remove(0).windows;
    let (ios, seconds) = windows.iter().enumerate().fold((0.0, 0.0), |(ios, seconds), (place, window)| {
        (ios + iops(place) * window.length_s, seconds + window.length_s)
    });
    let mut run = rounds(count, |_| ios / seconds);
    for window in run.trials.iter_mut().flat_map(|trial| trial.windows.iter_mut().enumerate()) {
        let (place, window) = window;
        let read = window.read.as_mut().expect("the usual trial reads");
        read.ios = (iops(place) * window.length_s).round() as u64;
    }
    run
}

/// The usual trial as visit number `place` of a run, of this point and at this rate.
pub fn visit(place: usize, point: usize, iops: u64) -> Trial {
    Trial {
        id: place as u64 + 1,
        point: Some(point),
        round: place as u32 + 1,
        started_s: 1.2 * place as f64,
        ..healthy(Rw::RandRead, 4096, 32, iops)
    }
}

/// One trial by hand, of so many windows of 100 ms at these rates.
pub fn single(windows: usize, iops: impl Fn(usize) -> f64) -> Run {
    let mut trial = usual();
    let of = |i: usize| Window {
        start_s: 0.1 + i as f64 / 10.0,
        length_s: 0.1,
        read: Some(window((iops(i) / 10.0).round() as u64, 4096, 320_000)),
        ..Window::default()
    };
    trial.windows = (0..windows).map(of).collect();
    let mut run = run(trial);
    run.info.study = "point".into();
    run
}

/// What a long write says of a write buffer of this size; it has a value only where it was found.
pub fn write_buffer(status: Status, buffer_bytes: u64) -> Finding {
    Finding {
        name: FindingName::WriteBufferBytes,
        experiment: "sustained-write".into(),
        conditions: Conditions::default(),
        status,
        value: (status == Status::Found).then_some(buffer_bytes as f64),
        unit: Unit::Bytes,
        low: None,
        high: None,
        at_least: false,
        confidence: 0.95,
        detail: Detail::Plain,
        notes: Vec::new(),
        trials: Vec::new(),
    }
}

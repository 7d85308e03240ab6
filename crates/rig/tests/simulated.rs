//! The measured loop on simulated devices: exact truths come out exactly.

use std::sync::atomic::AtomicBool;

use iosonde_model::{Phase, Rw, Trial, TrialSpec};
use iosonde_rig::{
    drive::Limits,
    engine::SharedDevice,
    trial::{Bed, Order},
};
use iosonde_sim::{Device, DeviceFile, builtin};

fn spec(depth: u32, block_size_bytes: u64) -> TrialSpec {
    TrialSpec {
        rw: Rw::RandRead,
        block_size_bytes,
        queue_depth: depth,
        jobs: 1,
        read_percent: None,
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: 1 << 30,
        engine: "sim".into(),
        direct: true,
        ..TrialSpec::default()
    }
}

fn run(text: &str, spec: &TrialSpec) -> Trial {
    let file = DeviceFile::parse(text, "test").unwrap();
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, 1)));
    let order = Order { spec, limits: Limits::time(1_000_000_000), phase: Phase::Measure, seed: 9 };
    bed.run(&order, &AtomicBool::new(false)).unwrap().trial
}

#[test]
fn a_closed_loop_on_fixed_servers_gives_min_of_n_and_c_over_s() {
    let ideal = builtin("ideal").unwrap();
    for depth in [1, 2, 3, 4, 8, 64] {
        let trial = run(ideal, &spec(depth, 4096));
        // 4 servers of 80 us: X(N) = min(N, 4) / 80 us, and by Little's law R = N / X.
        let truth_iops = f64::from(depth.min(4)) / 80e-6;
        let read = trial.read.unwrap();
        assert!((read.iops / truth_iops - 1.0).abs() < 1e-6, "depth {depth}: {} for {truth_iops}", read.iops);
        let truth_ns = f64::from(depth) / truth_iops * 1e9;
        let mean_ns = read.latency_ns.mean.unwrap();
        assert!((mean_ns / truth_ns - 1.0).abs() < 1e-3, "depth {depth}: {mean_ns} for {truth_ns}");
        assert!((trial.in_flight_mean.unwrap() / f64::from(depth) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_witness_saw_what_was_issued() {
    let trial = run(builtin("ideal").unwrap(), &spec(8, 65536));
    assert_eq!(trial.witnesses.block_layer_read_bytes, Some(trial.witnesses.issued_read_bytes));
    assert!(trial.witnesses.issued_read_bytes > trial.read.unwrap().bytes);
}

/// Checks ask nobody whether a device is simulated: its machine is witnessed like any other.
#[test]
fn a_quiet_machine_is_witnessed_and_a_trimmed_device_no_longer_says_where_data_lies() {
    let file = DeviceFile::parse(builtin("ideal").unwrap(), "test").unwrap();
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, 1)));
    let mut seen = |rw| {
        let spec = TrialSpec { rw, ..spec(4, 65536) };
        let order = Order { spec: &spec, limits: Limits::requests(100), phase: Phase::Measure, seed: 9 };
        bed.run(&order, &AtomicBool::new(false)).unwrap().trial.witnesses
    };
    let before = seen(Rw::Read);
    assert_eq!((before.steal_share, before.pressure_cpu_some_share), (Some(0.0), Some(0.0)));
    assert_eq!((before.suspended_s, before.calendar_step_s), (Some(0.0), Some(0.0)));
    assert_eq!((before.clock_ratio, before.io_limits), (Some(1.0), Some(Vec::new())));
    assert_eq!((before.unmapped_bytes, before.compressed_bytes), (Some(0), Some(0)));
    seen(Rw::Trim);
    assert_eq!(seen(Rw::Read).unmapped_bytes, None);
}

#[test]
fn the_same_seed_gives_the_same_trial_to_the_last_bit() {
    let noisy = builtin("noisy-virtual-disk").unwrap();
    // All but the moment on the calendar, which is this machine's.
    let [one, other] = [(); 2].map(|()| Trial { started_at: String::new(), ..run(noisy, &spec(16, 4096)) });
    assert_eq!(one, other);
}

#[test]
fn slow_storage_is_measured_as_long_as_planned_however_long_its_depth_takes_to_turn_over() {
    // One server of 20 ms: QD 128 turns over in 2.56 s, and 0.3 s were requested.
    let slow = "name = \"slow\"\nsummary = \"one slow server\"\ncapacity = \"1TB\"\n\
                [queue]\nservers = 1\nservice = { fixed = \"20ms\" }\n";
    let file = DeviceFile::parse(slow, "test").unwrap();
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, 1)));
    let spec = spec(128, 4096);
    let limits = Limits::time(300_000_000);
    let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: 9 };
    let trial = bed.run(&order, &AtomicBool::new(false)).unwrap().trial;
    // A tenth of 300 ms is warm-up, so 270 ms are measured: 14 completions, 20 ms apart.
    assert!((trial.warmup_s - 2.56).abs() < 1e-9, "{}", trial.warmup_s);
    assert_eq!(trial.read.as_ref().unwrap().ios, 14);
    assert!((trial.read.unwrap().iops - 50.0).abs() < 1e-6);
}

#[test]
fn a_count_of_requests_ends_a_trial_even_where_it_is_below_the_depth() {
    let file = DeviceFile::parse(builtin("ideal").unwrap(), "test").unwrap();
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, 1)));
    let spec = spec(32, 4096);
    let limits = Limits { duration_ns: 1_000_000_000, warm_up_ns: None, ios: Some(5) };
    let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: 9 };
    let trial = bed.run(&order, &AtomicBool::new(false)).unwrap().trial;
    assert_eq!((trial.read.unwrap().ios, trial.hung), (5, 0));
    // 5 requests on 4 servers of 80 us: two rounds.
    assert!((trial.elapsed_s - 160e-6).abs() < 1e-9);
}

#[test]
fn a_pause_between_requests_lets_a_buffer_empty_itself() {
    // 16 pages of 16 KiB wait in the buffer when an open loop of ten reads a second begins.
    let text = "name = \"b\"\nsummary = \"a buffer\"\ncapacity = \"1GiB\"\n[flash]\nunits = 1\nstripe = \"16KiB\"\n\
                page = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\nerase = \"3ms\"\n\
                pages_per_block = 256\nplacement = \"static\"\n\
                write_buffer = { size = \"1MiB\", latency = \"12us\", drain = \"10MB/s\", flush = \"1ms\" }\n";
    let mut bed =
        Bed::simulated(SharedDevice::new(Device::new(&DeviceFile::parse(text, "test").unwrap(), 1)));
    let stop = AtomicBool::new(false);
    let mut run = |spec: &TrialSpec, limits| {
        bed.run(&Order { spec, limits, phase: Phase::Measure, seed: 9 }, &stop).unwrap().trial
    };
    let write = TrialSpec { rw: Rw::Write, ..spec(1, 16_384) };
    run(&write, Limits { ios: Some(16), ..Limits::time(u64::MAX) });
    let pause = TrialSpec { rate_iops: Some(10.0), ..spec(1, 4096) };
    let trial = run(&pause, Limits::time(1_000_000_000));
    assert!((9..=10).contains(&trial.read.unwrap().ios) && trial.unserved == 0);
}

//! The measured loop on simulated devices: exact truths come out exactly.

use std::sync::atomic::AtomicBool;

use iosonde_model::{Phase, Rw, Sync, Think, Trial, TrialSpec};
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
    let limits = Limits { ios: Some(5), ..Limits::time(1_000_000_000) };
    let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: 9 };
    let trial = bed.run(&order, &AtomicBool::new(false)).unwrap().trial;
    assert_eq!((trial.read.unwrap().ios, trial.hung), (5, 0));
    // 5 requests on 4 servers of 80 us: two rounds.
    assert!((trial.elapsed_s - 160e-6).abs() < 1e-9);
}

/// A buffer of 1 MiB that takes pages of 16 KiB in 12 us each and empties itself at such a rate.
fn with_buffer(drain: &str) -> Bed {
    let text = format!(
        "name = \"b\"\nsummary = \"a buffer\"\ncapacity = \"1GiB\"\n[flash]\nunits = 1\nstripe = \"16KiB\"\n\
         page = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\nerase = \"3ms\"\n\
         pages_per_block = 256\nplacement = \"static\"\n\
         write_buffer = {{ size = \"1MiB\", latency = \"12us\", drain = \"{drain}\", flush = \"1ms\" }}\n"
    );
    Bed::simulated(SharedDevice::new(Device::new(&DeviceFile::parse(&text, "test").unwrap(), 1)))
}

#[test]
fn a_flush_at_the_end_is_part_of_the_measured_time() {
    let stop = AtomicBool::new(false);
    let write = |sync| TrialSpec { rw: Rw::Write, sync, ..spec(1, 16_384) };
    let run = |drain: &str, sync, limits| {
        let spec = write(sync);
        let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: 9 };
        with_buffer(drain).run(&order, &stop).unwrap().trial
    };
    // 16 pages of 16 KiB leave a buffer of 10 MB/s within 26.2 ms; the buffer took them in 192 us.
    let counted = Limits { ios: Some(16), ..Limits::time(u64::MAX) };
    let trial = run("10MB/s", Sync::FsyncAtEnd, counted);
    assert_eq!((trial.flush.as_ref().map(|flush| flush.ios), trial.hung), (Some(1), 0));
    assert!((0.025..0.030).contains(&trial.measured_s), "{}", trial.measured_s);
    assert!((trial.write.unwrap().iops - 16.0 / trial.measured_s).abs() < 1e-6);
    assert!(run("10MB/s", Sync::None, counted).measured_s < 0.001);
    // One that ends by its time counts from its first request on, and flushes once more than its time.
    let trial = run("10MB/s", Sync::FdatasyncAtEnd, Limits::time(200_000_000));
    assert_eq!((trial.warmup_s, trial.flush.as_ref().map(|flush| flush.ios)), (0.0, Some(1)));
    assert!((0.25..0.35).contains(&trial.measured_s), "{}", trial.measured_s);
    // What takes longer than a request may is no hang: 1 MiB at 20 kB/s.
    let trial = run("20kB/s", Sync::FsyncAtEnd, Limits { ios: Some(64), ..Limits::time(u64::MAX) });
    assert_eq!((trial.flush.map(|flush| flush.ios), trial.hung), (Some(1), 0));
    assert!(trial.measured_s > 45.0, "{}", trial.measured_s);
}

#[test]
fn a_pause_between_requests_lets_a_buffer_empty_itself() {
    // 16 pages of 16 KiB wait in the buffer when an open loop of ten reads a second begins.
    let mut bed = with_buffer("10MB/s");
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

fn thinking(depth: u32, pause_ms: u64, requests: Option<u64>, time_ns: Option<u64>) -> Trial {
    let think = Some(Think { pause_ns: pause_ms * 1_000_000, spin_ns: 0, requests, time_ns });
    run(builtin("ideal").unwrap(), &TrialSpec { think, ..spec(depth, 4096) })
}

#[test]
fn pauses_take_their_time_and_no_latency() {
    // 4 servers of 80 us. One by one, 4 requests and 1 ms: 4 / 1.32 ms. Eight at once take 160 us: 8 / 1.16 ms.
    // 10 ms of requests are 125 of them, in 20 ms.
    for (depth, pause_ms, requests, time_ns, truth_iops, truth_us) in [
        (1, 1, Some(4), None, 4.0 / 1.32e-3, 80.0),
        (8, 1, Some(8), None, 8.0 / 1.16e-3, 120.0),
        (1, 10, None, Some(10_000_000), 6250.0, 80.0),
        (1, 30, Some(1), None, 1.0 / 30.08e-3, 80.0),
    ] {
        let trial = thinking(depth, pause_ms, requests, time_ns);
        let read = trial.read.as_ref().unwrap();
        // What is measured begins and ends within a cycle: one of them more or less.
        let most = requests.map_or(125.0, |requests| requests as f64);
        let close = (read.ios as f64 - truth_iops * trial.measured_s).abs() <= most;
        assert!(close, "{requests:?}: {} for {truth_iops}", read.iops);
        let mean_us = read.latency_ns.mean.unwrap() / 1e3;
        assert!((mean_us / truth_us - 1.0).abs() < 0.01, "{requests:?}: {mean_us} us");
        assert!(trial.stalls.is_empty() && trial.hung == 0, "a pause is no stall");
    }
}

#[test]
fn a_full_queue_is_filled_again_where_the_workload_says() {
    // All 8 come back first: 4 after 80 us, 4 after 160 us, so that 8 and then 4 are outstanding.
    let trial = run(builtin("ideal").unwrap(), &TrialSpec { refill_at: Some(0), ..spec(8, 4096) });
    let read = trial.read.unwrap();
    assert!((read.iops / 50_000.0 - 1.0).abs() < 1e-3, "{}", read.iops);
    assert!((read.latency_ns.mean.unwrap() / 120e3 - 1.0).abs() < 1e-2);
    assert!((trial.in_flight_mean.unwrap() / 6.0 - 1.0).abs() < 1e-2, "{:?}", trial.in_flight_mean);
}

#[test]
fn a_stream_that_begins_later_is_measured_for_its_own_time() {
    let late = TrialSpec { delay_ns: 500_000_000, ..spec(1, 4096) };
    let trial = run(builtin("ideal").unwrap(), &TrialSpec { and: vec![late], ..spec(1, 4096) });
    assert!((trial.elapsed_s - 1.5).abs() < 1e-3, "{}", trial.elapsed_s);
    for (stream, from_s) in trial.streams.iter().zip([0.1, 0.6]) {
        let read = stream.read.as_ref().unwrap();
        assert!((stream.measured_s.unwrap() - 0.9).abs() < 1e-3 && (read.iops / 12_500.0 - 1.0).abs() < 1e-6);
        assert!((stream.windows[0].start_s - from_s).abs() < 1e-3, "{}", stream.windows[0].start_s);
    }
    // Alone it is the same, and its delay is not measured.
    let alone = run(builtin("ideal").unwrap(), &TrialSpec { delay_ns: 500_000_000, ..spec(1, 4096) });
    assert!((alone.read.unwrap().iops / 12_500.0 - 1.0).abs() < 1e-6 && (alone.elapsed_s - 1.5).abs() < 1e-3);
}

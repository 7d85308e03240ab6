//! Open loops, flushes, jobs and streams on simulated devices whose answers are known from theory.

use std::sync::atomic::AtomicBool;

use iosonde_model::{Arrivals, Phase, Rw, Sync, Trial, TrialSpec};
use iosonde_rig::{
    drive::Limits,
    engine::SharedDevice,
    trial::{Bed, Order},
};
use iosonde_sim::{Device, DeviceFile};

const ONE_SERVER: &str = "name = \"one\"\nsummary = \"one server of 100 us\"\ncapacity = \"1TB\"\n\
                          [queue]\nservers = 1\nservice = { fixed = \"100us\" }\n";

fn spec(rate_iops: f64, arrivals: Arrivals, depth: u32) -> TrialSpec {
    TrialSpec {
        queue_depth: depth,
        rate_iops: Some(rate_iops),
        arrivals,
        span_bytes: 1 << 30,
        engine: "sim".into(),
        ..TrialSpec::default()
    }
}

fn run(text: &str, spec: &TrialSpec, seconds: u64) -> Trial {
    let file = DeviceFile::parse(text, "test").unwrap();
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, 1)));
    let limits = Limits::time(seconds * 1_000_000_000);
    let order = Order { spec, limits, phase: Phase::Measure, seed: 9 };
    bed.run(&order, &AtomicBool::new(false)).unwrap().trial
}

#[test]
fn poisson_arrivals_at_half_load_wait_as_pollaczek_and_khinchine_say() {
    // M/D/1: mean wait = rho S / 2 (1 - rho) = 0.5 x 100 us / 1 = 50 us, so 150 us in all. 1.8 million requests;
    // waits are correlated over some ten requests, which leaves a standard error of about 0.2 us.
    let trial = run(ONE_SERVER, &spec(5000.0, Arrivals::Poisson, 1024), 400);
    let read = trial.read.as_ref().unwrap();
    let wait_us = read.latency_ns.mean.unwrap() / 1e3 - 100.0;
    assert!((wait_us / 50.0 - 1.0).abs() < 0.03, "{wait_us}");
    // A Poisson count of 1.8 million has a standard deviation of 0.075 %.
    assert!((trial.achieved_rate_iops.unwrap() / 5000.0 - 1.0).abs() < 0.005);
    assert_eq!((trial.unserved, trial.hung), (0, 0));
    assert_eq!(trial.pacing_error_ns, Some(0.0));
}

#[test]
fn a_fixed_rate_below_capacity_meets_an_idle_server_every_time() {
    let trial = run(ONE_SERVER, &spec(5000.0, Arrivals::Fixed, 64), 10);
    let latency = &trial.read.as_ref().unwrap().latency_ns;
    assert_eq!((latency.min, latency.max), (Some(100_000), Some(100_000)));
    // 200 us apart, 100 us in service.
    assert!((trial.in_flight_mean.unwrap() - 0.5).abs() < 1e-3);
    assert!((trial.achieved_rate_iops.unwrap() / 5000.0 - 1.0).abs() < 1e-3);
}

#[test]
fn a_rate_beyond_capacity_is_never_quietly_lowered() {
    // 20,000 asked of 10,000: after 10 s half of all that was due was never sent, except the 64 outstanding.
    let trial = run(ONE_SERVER, &spec(20_000.0, Arrivals::Fixed, 64), 10);
    assert!((trial.achieved_rate_iops.unwrap() / 10_000.0 - 1.0).abs() < 1e-3);
    assert!(trial.unserved.abs_diff(100_000 - 64) < 200, "{}", trial.unserved);
    // Latency counts from the due moment: the last ones waited half of the 10 s.
    let last_s = trial.read.as_ref().unwrap().latency_ns.max.unwrap() as f64 / 1e9;
    assert!((last_s - 5.0).abs() < 0.05, "{last_s}");
}

#[test]
fn a_stall_is_charged_to_every_request_that_it_delayed() {
    // Stuck from 5 s on for 1 s: of 1,000 requests due meanwhile the first waits 1 s, the last nothing. A closed loop
    // would count one.
    let stuck = format!("{ONE_SERVER}[faults]\nstuck = {{ at = \"5s\", for = \"1s\" }}\n");
    let trial = run(&stuck, &spec(1000.0, Arrivals::Fixed, 4096), 10);
    let read = trial.read.as_ref().unwrap();
    let late = read.histogram.total() as f64 * (1.0 - share_below(&trial, 10_000_000.0));
    assert!((late - 1090.0).abs() < 60.0, "{late}");
    assert!((read.latency_ns.max.unwrap() as f64 / 1e9 - 1.0).abs() < 0.01);
}

fn share_below(trial: &Trial, ns: f64) -> f64 {
    let histogram = &trial.read.as_ref().unwrap().histogram;
    let mut low = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low.0 + low.1) / 2.0;
        if histogram.quantile_ns(middle).unwrap() < ns { low.0 = middle } else { low.1 = middle }
    }
    low.0
}

#[test]
fn jobs_share_one_device_and_one_clock() {
    // 4 jobs of one request each keep 4 servers busy: 4 / 80 us.
    let four = iosonde_sim::builtin("ideal").unwrap();
    let spec = TrialSpec { jobs: 4, queue_depth: 1, rate_iops: None, ..spec(1.0, Arrivals::Fixed, 1) };
    let trial = run(four, &spec, 1);
    let read = trial.read.as_ref().unwrap();
    assert!((read.iops / 50_000.0 - 1.0).abs() < 1e-3, "{}", read.iops);
    assert!((trial.in_flight_mean.unwrap() - 4.0).abs() < 1e-6);
    assert!((read.ios as f64 / read.iops / trial.measured_s - 1.0).abs() < 1e-9);
    assert_eq!(
        trial.windows.iter().map(|w| w.read.as_ref().unwrap().ios).sum::<u64>().abs_diff(read.ios) / 100,
        0
    );
    assert_eq!(trial.witnesses.block_layer_read_bytes, Some(trial.witnesses.issued_read_bytes));
}

#[test]
fn streams_are_measured_apart_and_together() {
    let four = iosonde_sim::builtin("ideal").unwrap();
    let readers = TrialSpec { rate_iops: None, queue_depth: 3, ..spec(1.0, Arrivals::Fixed, 1) };
    let writer = TrialSpec { rw: Rw::Write, rate_iops: Some(1000.0), ..spec(1.0, Arrivals::Fixed, 8) };
    let trial = run(four, &TrialSpec { and: vec![writer], ..readers }, 2);
    assert_eq!(trial.streams.len(), 2);
    let (first, second) = (&trial.streams[0], &trial.streams[1]);
    // Three of four servers read, the fourth is enough for the writer.
    assert!((first.read.as_ref().unwrap().iops / (3.0 / 80e-6) - 1.0).abs() < 1e-3);
    assert!((second.achieved_rate_iops.unwrap() / 1000.0 - 1.0).abs() < 2e-3);
    assert!(first.write.is_none() && second.read.is_none());
    assert_eq!(trial.read, first.read);
    assert_eq!(trial.write.as_ref().unwrap().ios, second.write.as_ref().unwrap().ios);
    assert_eq!(trial.achieved_rate_iops, second.achieved_rate_iops);
}

#[test]
fn a_stream_that_is_ready_late_is_measured_beside_the_others_all_the_same() {
    // Every 300 ms a write, whose first beyond the warm-up is the second: it meets fifteen readers, and so do the last.
    let four = iosonde_sim::builtin("ideal").unwrap();
    let readers = TrialSpec { rate_iops: None, queue_depth: 15, ..spec(1.0, Arrivals::Fixed, 1) };
    let writer = TrialSpec { rw: Rw::Write, rate_iops: Some(1.0 / 0.3), ..spec(1.0, Arrivals::Fixed, 8) };
    let trial = run(four, &TrialSpec { and: vec![writer], ..readers }, 1);
    let write = trial.streams[1].write.as_ref().unwrap();
    assert!(write.ios >= 3, "{}", write.ios);
    // Eleven wait before it for 4 servers of 80 us; where nobody else is it takes 80 us.
    let least_ns = write.latency_ns.min.unwrap();
    assert!(least_ns > 190_000, "{least_ns}");
    let read = trial.read.as_ref().unwrap();
    let in_flight = read.iops * read.latency_ns.mean.unwrap() / 1e9;
    assert!((in_flight / 15.0 - 1.0).abs() < 2e-3, "{in_flight}");
}

#[test]
fn a_flush_waits_for_the_writes_before_it_and_nothing_goes_beside_it() {
    let four = iosonde_sim::builtin("ideal").unwrap();
    let spec = TrialSpec {
        rw: Rw::RandWrite,
        queue_depth: 4,
        rate_iops: None,
        sync: Sync::Fdatasync { every: 8 },
        ..spec(1.0, Arrivals::Fixed, 1)
    };
    let trial = run(four, &spec, 1);
    let (write, flush) = (trial.write.as_ref().unwrap(), trial.flush.as_ref().unwrap());
    // Eight writes for each flush, to the request.
    assert!(write.ios.abs_diff(flush.ios * 8) <= 8, "{} writes, {} flushes", write.ios, flush.ios);
    // 8 writes on 4 servers of 80 us take 160 us, and then the flush: between 160 and 200 us a cycle.
    let cycle_us = trial.measured_s * 1e6 / flush.ios as f64;
    assert!((160.0..200.0).contains(&cycle_us), "{cycle_us}");
    assert_eq!((trial.errors(), flush.errors), (0, 0));
}

#[test]
fn an_open_loop_is_the_same_to_the_last_bit_for_the_same_seed() {
    let spec = TrialSpec { jobs: 3, ..spec(1500.0, Arrivals::Poisson, 16) };
    let [one, other] =
        [(); 2].map(|()| iosonde_model::Trial { started_at: String::new(), ..run(ONE_SERVER, &spec, 3) });
    assert_eq!(one, other);
}

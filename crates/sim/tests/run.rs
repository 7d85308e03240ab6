//! How a device behaves towards its caller: the same run from the same seed, errors, ends, counters.

mod drive;

use drive::{closed_loop, device, next_done, random_blocks, read};
use iosonde_model::Op;
use iosonde_sim::{Ask, Device, DeviceFile, Done, builtin};
use proptest::prelude::*;

const NOISY: &str = "[host]\nrequest_cost = \"2us\"\n[link]\nbandwidth = \"1GB/s\"\nlatency = \"3us\"\n\
    [queue]\nservers = 3\nservice = { lognormal = { mean = \"50us\", cv = 0.5 } }\n\
    [noise]\nlatency_cv = 0.1\nrate_cv_100ms = 0.2\nlag1_100ms = 0.5\n\
    tail = { share = \"1%\", factor = 20 }\n\
    [faults]\neio = \"1%\"";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn looking_changes_nothing(
        mut arrivals in prop::collection::vec(0u64..300_000_000, 1..80),
        glances in prop::collection::vec(0u64..300_000_000, 0..80),
        seed: u64,
    ) {
        arrivals.sort_unstable();
        let unseen = history(seed, &arrivals, &[]);
        let watched = history(seed, &arrivals, &glances);
        prop_assert_eq!(&unseen, &watched);
        prop_assert_eq!(unseen.len(), arrivals.len());
        prop_assert!(unseen.is_sorted_by_key(|done| done.at_ns));
    }
}

/// Everything that is done when reads arrive at given moments, and the device is looked at at others as well.
fn history(seed: u64, arrivals_ns: &[u64], glances_ns: &[u64]) -> Vec<Done> {
    let mut noisy = device(NOISY, seed);
    let mut glances = glances_ns.to_vec();
    glances.sort_unstable();
    let mut glances = glances.into_iter().peekable();
    let mut done = Vec::new();
    for &at_ns in arrivals_ns {
        while let Some(glance_ns) = glances.next_if(|glance_ns| *glance_ns <= at_ns) {
            noisy.reap(glance_ns, &mut done);
        }
        noisy.submit(at_ns, read(at_ns, 4096));
    }
    glances.for_each(|glance_ns| noisy.reap(glance_ns, &mut done));
    noisy.reap(u64::MAX / 2, &mut done);
    done
}

#[test]
fn one_seed_gives_one_run_and_another_seed_another() {
    let arrivals: Vec<u64> = (0..2_000).map(|k| k * 30_000).collect();
    assert_eq!(history(1, &arrivals, &[]), history(1, &arrivals, &[]));
    assert_ne!(history(1, &arrivals, &[]), history(2, &arrivals, &[]));
}

#[test]
fn noise_leaves_the_mean_rate_and_a_tail_divides_it() {
    let queue = "[queue]\nservers = 2\nservice = { fixed = \"50us\" }\n[noise]\nlatency_cv = 0.2\n";
    let rate = |noise: &str| {
        let requests = 2_000_000;
        let end_ns =
            closed_loop(&mut device(&format!("{queue}{noise}"), 3), 8, requests, |tag| read(tag, 4096));
        requests as f64 * 1e9 / end_ns as f64
    };
    // 2 / 50 us = 40,000: the lognormal has mean 1. 50 s hold 500 windows: 0.1 sqrt(3 / 500) = 0.8 % for one
    // deviation of the wave's mean at a lag-1 correlation of 0.5.
    assert!((rate("") / 40_000.0 - 1.0).abs() < 0.002);
    assert!((rate("rate_cv_100ms = 0.1\nlag1_100ms = 0.5") / 40_000.0 - 1.0).abs() < 0.024);
    // 1 % take 20 times as long: mean service 1.19 x 50 us.
    assert!((rate("tail = { share = \"1%\", factor = 20 }") * 1.19 / 40_000.0 - 1.0).abs() < 0.01);
}

#[test]
fn failures_come_at_their_rate_take_their_time_and_move_nothing() {
    let mut faulty =
        device("[queue]\nservers = 1\nservice = { fixed = \"10us\" }\n[faults]\neio = \"1 per 100\"", 4);
    let requests = 200_000;
    let end_ns = closed_loop(&mut faulty, 4, requests, |tag| read(tag, 4096));
    assert_eq!(end_ns, requests * 10_000);
    let counters = faulty.counters();
    assert_eq!(counters.read_requests, requests);
    assert_eq!(counters.read_bytes, (requests - counters.failed_requests) * 4096);
    // 2,000 expected, deviation 44.5.
    assert!(counters.failed_requests.abs_diff(2_000) < 160, "{counters:?}");
}

#[test]
fn beyond_the_end_a_read_is_cut_short_and_a_write_fails() {
    let result = |op, offset_bytes| {
        let mut small = device("[queue]\nservers = 1\nservice = { fixed = \"10us\" }", 1);
        small.submit(0, Ask { tag: 0, op, offset_bytes, length_bytes: 8192, direct: true });
        let mut done = Vec::new();
        next_done(&mut small, &mut done);
        done[0].result
    };
    const END: u64 = 1 << 30;
    assert_eq!(result(Op::Read, END - 8192), 8192);
    assert_eq!(result(Op::Read, END - 4096), 4096);
    assert_eq!(result(Op::Read, END + 4096), 0);
    assert_eq!(result(Op::Write, END - 8192), 8192);
    assert_eq!(result(Op::Write, END - 4096), -28);
}

#[test]
fn counters_see_every_byte_once() {
    let file = DeviceFile::parse(builtin("plain-nvme").unwrap(), "plain-nvme").unwrap();
    let mut nvme = Device::new(&file, 1);
    closed_loop(&mut nvme, 64, 10_000, random_blocks(Op::Read, 1000, 4096, 1));
    let mut done = Vec::new();
    nvme.submit(1_000_000_000, Ask { op: Op::Write, ..read(7, 65_536) });
    assert_eq!(nvme.counters().write_bytes, 0, "not back yet");
    next_done(&mut nvme, &mut done);
    let counters = nvme.counters();
    assert_eq!((counters.read_bytes, counters.read_requests), (40_960_000, 10_000));
    assert_eq!((counters.write_bytes, counters.write_requests), (65_536, 1));
    assert_eq!(nvme.next_event_ns(), None, "idle");
}

//! Throttle, network, heat, neighbour and faults against their laws.

mod drive;

use drive::{closed_loop, device, next_done, random_blocks, read};
use iosonde_model::Op;
use iosonde_sim::{Ask, Device, Done};

const FAST: &str = "[queue]\nservers = 64\nservice = { fixed = \"50us\" }\n";

/// Keeps a queue of `depth` requests until `end_ns`; returns all completions.
fn run_until(device: &mut Device, depth: u64, end_ns: u64) -> Vec<Done> {
    (0..depth).for_each(|tag| device.submit(0, read(tag, 4096)));
    let (mut all, mut done) = (Vec::new(), Vec::new());
    loop {
        let now_ns = next_done(device, &mut done);
        if now_ns > end_ns {
            return all;
        }
        for one in done.drain(..) {
            all.push(one);
            device.submit(now_ns, read(one.tag, 4096));
        }
    }
}

fn done_between(all: &[Done], from_ns: u64, to_ns: u64) -> u64 {
    all.iter().filter(|one| one.at_ns > from_ns && one.at_ns <= to_ns).count() as u64
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn a_throttle_lets_its_rate_pass_to_the_request() {
    let mut plain = device(&format!("{FAST}[throttle]\niops = 3000\n"), 1);
    let all = run_until(&mut plain, 32, 10 * SECOND);
    // Tokens come at k / 3,000 s from k = 0 on, and each request is done 50 us later: 30,000 by 10 s.
    assert_eq!(done_between(&all, 0, 10 * SECOND), 30_000);
    let bytes =
        closed_loop(&mut device(&format!("{FAST}[throttle]\nbytes = \"125MB/s\"\n"), 1), 32, 10_001, |tag| {
            read(tag, 131_072)
        });
    // 10,000 gaps of 131,072 B / 125 MB/s = 1,048.576 us.
    assert_eq!(bytes, 10_000 * 1_048_576 + 50_000);
}

#[test]
fn a_full_bucket_lasts_as_long_as_the_formula_says() {
    let burst = "[throttle]\niops = 1000\nburst = { iops = 10000, credit = 45000 }\n";
    let mut cloud = device(&format!("{FAST}{burst}"), 1);
    let all = run_until(&mut cloud, 64, 20 * SECOND);
    // 45,000 / (10,000 - 1,000) = 5 s at 10,000 a second, then 1,000.
    assert!(done_between(&all, 0, 5 * SECOND).abs_diff(50_000) <= 2);
    assert!(done_between(&all, 6 * SECOND, 20 * SECOND).abs_diff(14_000) <= 1);
}

fn write(tag: u64, length_bytes: u32) -> Ask {
    Ask { op: Op::Write, ..read(tag, length_bytes) }
}

#[test]
fn a_request_costs_a_token_for_each_chunk() {
    let chunks = format!("{FAST}[throttle]\niops = 3000\nchunk = \"16KiB\"\n");
    // 40 KiB are three chunks: 1,000 gaps of 3 / 3,000 s, and 50 us for the last.
    let took = closed_loop(&mut device(&chunks, 1), 32, 1001, |tag| read(tag, 40 << 10));
    assert_eq!(took, SECOND + 50_000);
}

#[test]
fn reads_and_writes_share_a_bucket_or_have_one_each() {
    let mix = |tag: u64| if tag.is_multiple_of(2) { read(tag, 4096) } else { write(tag, 4096) };
    // 1,000 of either kind. Shared: 2,000 at 1,000 a second. Each its own: writes take as long at 500 a second.
    let shared = closed_loop(&mut device(&format!("{FAST}[throttle]\niops = 1000\n"), 1), 32, 2001, mix);
    assert_eq!(shared, 2 * SECOND + 50_000);
    let each = format!("{FAST}[throttle]\niops = {{ read = 4000, write = 500 }}\n");
    let took = closed_loop(&mut device(&each, 1), 32, 2001, mix);
    assert!(took.abs_diff(2 * SECOND) < 5_000_000, "{took}");
}

#[test]
fn both_limits_hold_and_the_tighter_one_decides() {
    let both = format!("{FAST}[throttle]\niops = 1000\nbytes = \"10MB/s\"\n");
    // 4 KiB at 1,000 a second are 4 MB/s; 100 kB at 10 MB/s are 100 a second.
    assert_eq!(closed_loop(&mut device(&both, 1), 32, 1001, |tag| read(tag, 4096)), SECOND + 50_000);
    assert_eq!(closed_loop(&mut device(&both, 1), 32, 101, |tag| read(tag, 100_000)), SECOND + 50_000);
}

#[test]
fn a_credit_in_bytes_lasts_as_long_as_the_formula_says() {
    let burst =
        "[throttle]\nbytes = \"4096kB/s\"\nburst = { bytes = \"40960kB/s\", credit_bytes = \"184320kB\" }\n";
    let all = run_until(&mut device(&format!("{FAST}{burst}"), 1), 64, 20 * SECOND);
    // 184,320 kB / (40,960 - 4,096) kB/s = 5 s at 10,000 requests of 4,096 B a second, then 1,000.
    assert!(done_between(&all, 0, 5 * SECOND).abs_diff(50_000) <= 2);
    assert!(done_between(&all, 6 * SECOND, 20 * SECOND).abs_diff(14_000) <= 1);
}

#[test]
fn portions_pass_at_once_and_keep_the_rate() {
    let slices = format!("{FAST}[throttle]\niops = 2000\nrefill = \"100ms\"\n");
    let all = run_until(&mut device(&slices, 1), 16, 10 * SECOND);
    // 200 each 100 ms, all of them within 200 / 16 x 50 us, and nothing else until the next portion.
    for slice in 0..99 {
        let from_ns = slice * SECOND / 10;
        assert_eq!(done_between(&all, from_ns, from_ns + 2_000_000), 200, "slice {slice}");
        assert_eq!(done_between(&all, from_ns + 2_000_000, from_ns + SECOND / 10), 0, "slice {slice}");
    }
}

#[test]
fn one_alone_makes_the_round_trip_and_the_server_may_answer() {
    let nfs = "[network]\nround_trip = \"0.4ms\"\nbandwidth = \"100MB/s\"\nserver_cache = \"64MiB\"\n\
               [queue]\nservers = 1\nservice = { fixed = \"8ms\" }";
    let mut remote = device(nfs, 1);
    let took = |remote: &mut Device, now_ns: u64, op| {
        remote.submit(now_ns, Ask { op, ..read(0, 4096) });
        next_done(remote, &mut Vec::new()) - now_ns
    };
    // 0.4 ms + 40.96 us + 8 ms, the second time without the 8 ms; a write always with them.
    assert_eq!(took(&mut remote, 0, Op::Read), 8_440_960);
    assert_eq!(took(&mut remote, SECOND, Op::Read), 440_960);
    assert_eq!(took(&mut remote, 2 * SECOND, Op::Write), 8_440_960);
}

#[test]
fn the_server_answers_the_share_of_the_span_that_it_holds() {
    let nfs = "[network]\nround_trip = \"100us\"\nbandwidth = \"1GB/s\"\nserver_cache = \"64MiB\"\n\
               [queue]\nservers = 1\nservice = { fixed = \"1ms\" }";
    // 128 MiB of span: half is found. Alone: 104.096 us, and 1 ms for the other half.
    let mut remote = device(nfs, 1);
    let mut ask = random_blocks(Op::Read, 32_768, 4096, 5);
    let warm_ns = closed_loop(&mut remote, 1, 120_000, &mut ask);
    let mut now_ns = warm_ns;
    let mut done = Vec::new();
    for tag in 0..100_000 {
        remote.submit(now_ns, ask(tag));
        now_ns = next_done(&mut remote, &mut done);
        done.clear();
    }
    let mean_ns = (now_ns - warm_ns) as f64 / 100_000.0;
    // One deviation of the share found is 0.16 %, of the mean 1.6 us.
    assert!((mean_ns - 604_096.0).abs() < 6_000.0, "{mean_ns}");
}

#[test]
fn a_device_that_never_rests_slows_down_and_one_that_rests_recovers() {
    let hot = "[queue]\nservers = 1\nservice = { fixed = \"1ms\" }\n\
               [thermal]\nafter = \"10s at full rate\"\nfactor = 0.5\nrecover = \"4s\"";
    let mut working = device(hot, 1);
    let all = run_until(&mut working, 1, 20 * SECOND);
    // 1,000 a second for 10 s, then 500.
    assert!(done_between(&all, 0, 10 * SECOND).abs_diff(10_000) <= 1);
    assert!(done_between(&all, 10 * SECOND, 20 * SECOND).abs_diff(5_000) <= 1);
    let after_rest_ms = |rest_ns: u64| {
        let mut resting = device(hot, 1);
        let hot_ns = closed_loop(&mut resting, 1, 11_000, |tag| read(tag, 4096));
        resting.submit(hot_ns + rest_ns, read(0, 4096));
        (next_done(&mut resting, &mut Vec::new()) - hot_ns - rest_ns) / 1_000_000
    };
    assert_eq!([after_rest_ms(3_900_000_000), after_rest_ms(4_100_000_000)], [2, 1]);
}

#[test]
fn a_neighbour_takes_its_share_while_it_is_there() {
    let shared = "[queue]\nservers = 1\nservice = { fixed = \"100us\" }\n\
                  [noise]\nneighbour = { every = \"10s\", for = \"2s\", takes = \"75%\" }";
    let all = run_until(&mut device(shared, 9), 4, 100 * SECOND);
    // 10,000 a second, less 0.75 x 2 / 10: 8,500 on average over whole periods, at most a few requests off at
    // each of the 20 changes.
    assert!(all.len().abs_diff(850_000) <= 20 * 16, "{}", all.len());
    let slow = (0..1000).filter(|k| done_between(&all, k * SECOND / 10, (k + 1) * SECOND / 10) < 300).count();
    assert!(slow.abs_diff(200) <= 20, "{slow} of 1,000 tenths of a second were slow");
}

#[test]
fn a_run_effect_is_drawn_once_and_a_point_effect_for_each_point() {
    let toml = "[queue]\nservers = 1\nservice = { fixed = \"100us\" }\n";
    let first = |noise: &str, seed, length_bytes| {
        closed_loop(&mut device(&format!("{toml}{noise}"), seed), 1, 1, |tag| read(tag, length_bytes)) as f64
    };
    let run = "[noise]\nrun_effect = 0.1";
    assert_eq!(first(run, 1, 4096), first(run, 1, 65_536));
    assert_ne!(first(run, 1, 4096), first(run, 2, 4096));
    let point = "[noise]\npoint_run_effect = 0.1";
    assert_ne!(first(point, 1, 4096), first(point, 1, 65_536));
    // The rate has mean 1 and CV 0.1 over 4,000 devices: one deviation of the mean is 0.16 %, of the CV 1.1
    // %.
    let rates: Vec<f64> = (0..4_000).map(|seed| 100_000.0 / first(run, seed, 4096)).collect();
    let mean = rates.iter().sum::<f64>() / 4_000.0;
    let cv = (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / 4_000.0).sqrt() / mean;
    assert!((mean - 1.0).abs() < 0.006 && (cv / 0.1 - 1.0).abs() < 0.045, "{mean} {cv}");
}

#[test]
fn a_run_effect_of_the_host_is_on_what_memory_serves_and_on_nothing_below() {
    let toml = "[queue]\nservers = 1\nservice = { fixed = \"100us\" }\n\
                [host]\nrequest_cost = \"10us\"\nmemory = \"1GiB\"\ncopy_rate = \"4.096GB/s\"\n";
    let both = |effect: &str, seed, length_bytes| {
        let mut device = device(&format!("{toml}{effect}"), seed);
        let ask = |tag| Ask { direct: false, offset_bytes: 0, ..read(tag, length_bytes) };
        let fetched_ns = closed_loop(&mut device, 1, 1, ask);
        (fetched_ns, closed_loop(&mut device, 1, 1, ask) - fetched_ns)
    };
    // 10 us and 1 us of copying; the first time 100 us more, for the device.
    assert_eq!(both("", 1, 4096), (111_000, 11_000));
    let run = "run_effect = 0.1";
    let (fetched_ns, held_ns) = both(run, 1, 4096);
    assert_eq!(fetched_ns - held_ns, 100_000, "the device is as fast as ever");
    assert!(held_ns.abs_diff(11_000) > 50 && both(run, 2, 4096).1 != held_ns, "{held_ns}");
    let point = "point_run_effect = 0.1";
    let stretch = |length_bytes, nominal_ns: f64| both(point, 1, length_bytes).1 as f64 / nominal_ns;
    assert!((stretch(4096, 11_000.0) - stretch(8192, 12_000.0)).abs() > 1e-3);
}

#[test]
fn a_stuck_device_answers_when_it_comes_back() {
    let mut stuck = device(&format!("{FAST}[faults]\nstuck = {{ at = \"1s\", for = \"5s\" }}\n"), 1);
    // Under way when it begins; arriving meanwhile; after it.
    for (tag, at_ns) in [(1, SECOND - 10_000), (2, 2 * SECOND), (3, 7 * SECOND)] {
        stuck.submit(at_ns, read(tag, 4096));
    }
    let mut done = Vec::new();
    stuck.reap(8 * SECOND, &mut done);
    let ends: Vec<_> = done.iter().map(|one| (one.tag, one.at_ns)).collect();
    assert_eq!(ends, [(1, 6 * SECOND), (2, 6 * SECOND + 50_000), (3, 7 * SECOND + 50_000)]);
}

#[test]
fn a_device_that_is_gone_says_so() {
    let mut gone = device(&format!("{FAST}[faults]\ngone_at = \"1s\"\n"), 1);
    for (tag, at_ns) in [(1, SECOND - 60_000), (2, SECOND - 10_000), (3, SECOND + 5_000)] {
        gone.submit(at_ns, read(tag, 4096));
    }
    let mut done = Vec::new();
    gone.reap(2 * SECOND, &mut done);
    let results: Vec<_> = done.iter().map(|one| (one.tag, one.result)).collect();
    assert_eq!(results, [(1, 4096), (3, -19), (2, -19)]);
    assert_eq!(gone.counters().read_bytes, 4096);
}

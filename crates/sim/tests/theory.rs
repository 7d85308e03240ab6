//! A simulated queue against queueing theory.

mod drive;

use drive::{closed_loop, device, next_done, open_loop_mean_ns, read};
use iosonde_model::Op;
use iosonde_sim::{Ask, Worker};

/// Erlang's C: the share of arrivals that wait, with `offered` = rate x service.
fn erlang_c(servers: u32, offered: f64) -> f64 {
    let mut blocking = 1.0; // Erlang's B by its recursion, from no servers up
    for k in 1..=servers {
        blocking = offered * blocking / (f64::from(k) + offered * blocking);
    }
    let load = offered / f64::from(servers);
    blocking / (1.0 - load * (1.0 - blocking))
}

#[test]
fn erlangs_c_at_known_points() {
    // One server: the share that waits is the load. Two servers at load 1/2: 1/3.
    assert!((erlang_c(1, 0.7) - 0.7).abs() < 1e-12);
    assert!((erlang_c(2, 1.0) - 1.0 / 3.0).abs() < 1e-12);
}

/// How far the simulated mean wait is from `wait_ns(load)`, at each load.
fn assert_waits(service: &str, servers: u32, service_ns: f64, wait_ns: impl Fn(f64) -> f64) {
    // At 90 % the mean of n waits of M/M/1 has a relative deviation of sqrt(2 (1 + p) / (p (1 - p)^2) / n) =
    // sqrt(422 / n) (Whitt 1989): 0.7 % for 9 million, so 2 % is nearly three deviations.
    // Few wait for one of four servers at 30 % (4 % of all), which scatters their mean by 0.5 % in 15
    // million.
    let at_30_percent = if servers > 1 { 15_000_000 } else { 3_000_000 };
    for (load, requests) in [(0.3, at_30_percent), (0.6, 2_000_000), (0.9, 9_000_000)] {
        let rate_per_s = load * f64::from(servers) * 1e9 / service_ns;
        let mean_ns = |servers| {
            let mut queue = device(&format!("[queue]\nservers = {servers}\nservice = {service}"), 5);
            open_loop_mean_ns(&mut queue, rate_per_s, requests, 11)
        };
        // Nobody waits for 64 servers: the same draws, without the wait. Four servers at 30 % keep a request
        // waiting for 1 us, which the scatter of millions of service times would hide; one server's 34 us
        // need no such help.
        let served_ns = if servers > 1 { mean_ns(64) } else { service_ns };
        let waited_ns = mean_ns(servers) - served_ns;
        let off = waited_ns / wait_ns(load) - 1.0;
        assert!(off.abs() < 0.02, "{service}, {servers} servers, load {load}: {off:+.4} off");
    }
}

#[test]
fn m_m_1_waits_as_in_the_formula() {
    assert_waits("{ exponential = \"80us\" }", 1, 80_000.0, |load| load * 80_000.0 / (1.0 - load));
}

#[test]
fn m_d_1_waits_half_as_long() {
    assert_waits("{ fixed = \"80us\" }", 1, 80_000.0, |load| load * 80_000.0 / (1.0 - load) / 2.0);
}

#[test]
fn m_m_4_waits_as_erlang_says() {
    let wait_ns = |load: f64| erlang_c(4, 4.0 * load) * 80_000.0 / (4.0 * (1.0 - load));
    assert_waits("{ exponential = \"80us\" }", 4, 80_000.0, wait_ns);
}

#[test]
fn m_g_1_waits_as_pollaczek_and_khinchine_say() {
    let wait_ns = |load: f64| load * 80_000.0 / (1.0 - load) * (1.0 + 0.5f64.powi(2)) / 2.0;
    assert_waits("{ lognormal = { mean = \"80us\", cv = 0.5 } }", 1, 80_000.0, wait_ns);
}

#[test]
fn a_closed_loop_on_fixed_servers_is_exact() {
    // X(N) = min(N, c) / S: n requests end after n / X exactly when N's batches divide n.
    for depth in [1, 2, 3, 4, 5, 8, 32, 256] {
        let mut ideal = device("[queue]\nservers = 4\nservice = { fixed = \"80us\" }", 1);
        let requests = 96 * 256;
        let end_ns = closed_loop(&mut ideal, depth, requests, |tag| read(tag, 4096));
        assert_eq!(end_ns, requests / depth.min(4) * 80_000, "QD {depth}");
    }
}

#[test]
fn one_alone_takes_the_sum_of_its_way() {
    let toml = "[host]\nrequest_cost = { read = \"1.5us\", write = \"2us\" }\n[link]\nbandwidth = \"1GB/s\"\n\
                latency = \"5us\"\n[queue]\nservers = 1\nservice = { fixed = \"60us\" }";
    for (op, cost_ns) in [(Op::Read, 1_500), (Op::Write, 2_000)] {
        for length_bytes in [512, 4_096, 1 << 20] {
            let mut plain = device(toml, 1);
            plain.submit(0, Ask { tag: 9, op, offset_bytes: 0, length_bytes, direct: true });
            let mut done = Vec::new();
            let at_ns = next_done(&mut plain, &mut done);
            // 1 ns a byte at 1 GB/s.
            assert_eq!(at_ns, cost_ns + 5_000 + 60_000 + u64::from(length_bytes));
            assert_eq!((done[0].tag, done[0].result, done[0].at_ns), (9, length_bytes as i32, at_ns));
            assert_eq!(plain.host_cost_ns(op), cost_ns);
            assert_eq!(plain.busy_ns(), [cost_ns]);
            // Below the host it was all the rest.
            assert_eq!(plain.counters().in_flight_ns, 65_000 + u64::from(length_bytes));
        }
    }
}

#[test]
fn workers_issue_side_by_side_on_as_many_processors_as_there_are() {
    let toml = |processors: u32| {
        format!(
            "[host]\nrequest_cost = \"10us\"\nprocessors = {processors}\n\
             [queue]\nservers = 32\nservice = {{ fixed = \"60us\" }}"
        )
    };
    // Eight requests of four workers: 8, 4 and 2 of them on one processor, and the last takes 60 us more.
    for (processors, end_ns) in [(1, 140_000), (2, 100_000), (4, 80_000), (8, 80_000)] {
        let mut host = device(&toml(processors), 1);
        (0..8)
            .for_each(|tag| host.submit_by(Worker { host: 0, number: tag as usize % 4 }, 0, read(tag, 4096)));
        let mut done = Vec::new();
        while host.next_event_ns().is_some() {
            next_done(&mut host, &mut done);
        }
        assert_eq!(done.last().map(|done| done.at_ns), Some(end_ns), "{processors} processors");
        assert_eq!(host.busy_ns().iter().sum::<u64>(), 80_000);
    }
}

#[test]
fn each_host_has_processors_of_its_own() {
    let toml = "[host]\nrequest_cost = \"10us\"\n[queue]\nservers = 32\nservice = { fixed = \"60us\" }";
    let mut shared = device(toml, 1);
    (0..8).for_each(|tag| {
        shared.submit_by(Worker { host: tag as usize % 4, number: tag as usize }, 0, read(tag, 4096));
    });
    let mut done = Vec::new();
    while shared.next_event_ns().is_some() {
        next_done(&mut shared, &mut done);
    }
    // Two requests of each host, one after the other, and the last takes 60 us more.
    assert_eq!(done.last().map(|done| done.at_ns), Some(80_000));
    assert_eq!(shared.busy_ns(), [20_000; 4]);
}

/// Requests a second in a closed loop.
fn rate(toml: &str, depth: u64, requests: u64, ask: impl FnMut(u64) -> Ask) -> f64 {
    requests as f64 * 1e9 / closed_loop(&mut device(toml, 1), depth, requests, ask) as f64
}

#[test]
fn the_tightest_part_sets_the_rate() {
    let queue = "[queue]\nservers = 32\nservice = { fixed = \"60us\" }";
    // 1 / 2 us = 500,000 < 533,333; 3.5 GB/s / 4,096 B = 854,492 allows more. Start and end cost 80 us of 0.2
    // s.
    let program =
        rate(&format!("[host]\nrequest_cost = \"2us\"\n{queue}"), 256, 100_000, |tag| read(tag, 4096));
    assert!((program / 500_000.0 - 1.0).abs() < 0.001, "{program}");
    // 3.5 GB/s / 128 KiB = 26,703.
    let link =
        rate(&format!("[link]\nbandwidth = \"3.5GB/s\"\n{queue}"), 256, 50_000, |tag| read(tag, 131_072));
    assert!((link / 26_702.88 - 1.0).abs() < 0.001, "{link}");
}

#[test]
fn a_duplex_link_carries_both_directions_at_once() {
    let queue = "[queue]\nservers = 32\nservice = { fixed = \"60us\" }";
    let mixed = |tag: u64| Ask { op: Op::TRANSFERS[tag as usize % 2], ..read(tag, 131_072) };
    let duplex = rate(&format!("[link]\nbandwidth = \"1GB/s\"\n{queue}"), 64, 20_000, mixed);
    let half = rate(&format!("[link]\nbandwidth = \"1GB/s\"\nduplex = false\n{queue}"), 64, 20_000, mixed);
    // One lane: 1 GB/s / 128 KiB = 7,629 a second. With two lanes the mix that a closed loop settles on
    // leaves one direction waiting now and then, so at least 1.9 times that and never more than twice.
    assert!((half / 7_629.4 - 1.0).abs() < 0.002, "{half}");
    assert!(duplex / half > 1.9 && duplex / half < 2.001, "{duplex} against {half}");
}

#[test]
fn fixed_times_in_a_row_have_a_sharp_corner() {
    // The link limits: 1 GB/s / 4,096 B = 244,141. Alone 71.096 us, so the knee is 17.36 and 95 % needs 17.
    let toml = "[host]\nrequest_cost = \"2us\"\n[link]\nbandwidth = \"1GB/s\"\nlatency = \"5us\"\n\
                [queue]\nservers = 16\nservice = { fixed = \"60us\" }";
    for depth in [1, 4, 10, 16, 17, 18, 32] {
        let reached = rate(toml, depth, 100_000, |tag| read(tag, 4096));
        let expected = (depth as f64 * 1e9 / 71_096.0).min(244_140.6);
        assert!((reached / expected - 1.0).abs() < 0.001, "QD {depth}: {reached} for {expected}");
    }
}

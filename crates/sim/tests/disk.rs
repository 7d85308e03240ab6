//! A simulated disk against its laws.

mod drive;

use drive::{closed_loop, random_blocks};
use iosonde_model::Op;
use iosonde_sim::{Ask, Device, DeviceFile};

/// 7,200 rpm, 1 TB: T = 8.333 ms.
fn disk(rest: &str) -> Device {
    let text = format!(
        "name = \"disk\"\ncapacity = \"1TB\"\n[disk]\nrpm = 7200\nouter = \"210MB/s\"\ninner = \"105MB/s\"\n\
         seek = {{ track = \"0.6ms\", average = \"8.5ms\" }}\n{rest}"
    );
    Device::new(&DeviceFile::parse(&text, "test").unwrap(), 1)
}

/// 10^12 / 4,096.
const BLOCKS: u64 = 244_140_625;

fn mean_ns(disk: &mut Device, depth: u64, requests: u64) -> f64 {
    closed_loop(disk, depth, requests, random_blocks(Op::Read, BLOCKS, 4096, 7)) as f64 / requests as f64
}

#[test]
fn random_reads_take_a_mean_seek_and_half_a_turn() {
    // 8.5 ms + 4.167 ms + 4,096 B / 157.5 MB/s = 12.693 ms; the deviation of one is 3.9 ms, of the mean of
    // 100,000 0.1 %.
    let mean = mean_ns(&mut disk(""), 1, 100_000);
    assert!((mean / 12_692_673.0 - 1.0).abs() < 0.004, "{mean}");
    // In line and served in order it is the same.
    let in_line = mean_ns(&mut disk("queue = { slots = 32, policy = \"fifo\" }"), 32, 100_000);
    assert!((in_line / 12_692_673.0 - 1.0).abs() < 0.004, "{in_line}");
}

#[test]
fn shortest_positioning_first_shortens_it() {
    let nearest = mean_ns(&mut disk("queue = { slots = 32, policy = \"sptf\" }"), 32, 30_000);
    let alone = mean_ns(&mut disk("queue = { slots = 32, policy = \"sptf\" }"), 1, 30_000);
    // Seltzer, Chen and Ousterhout (1990) and Jacobson and Wilkes (1991) report about twice the rate with
    // tens of requests to choose from.
    assert!((alone / 12_692_673.0 - 1.0).abs() < 0.01, "{alone}");
    assert!(alone / nearest > 1.8 && alone / nearest < 3.0, "{}", alone / nearest);
}

#[test]
fn reads_in_sequence_go_at_the_rate_of_their_place() {
    let rate = |begin: u64, cache: &str, host: &str| {
        let mut disk = disk(&format!("{cache}{host}"));
        let ask = |tag: u64| Ask {
            tag,
            op: Op::Read,
            offset_bytes: begin + tag * 131_072,
            length_bytes: 131_072,
            direct: true,
        };
        4_000.0 * 131_072.0 * 1e9 / closed_loop(&mut disk, 1, 4_000, ask) as f64
    };
    let cache = "cache = \"64MiB\"\n";
    // 524 MB from the edge in, the rate has fallen by 0.04 %; positioning costs up to 8.3 ms of 2.5 s, and
    // at the inner edge a whole stroke of 15 ms more of 5 s.
    assert!((rate(0, cache, "") / 210e6 - 1.0).abs() < 0.005);
    assert!((rate(1_000_000_000_000 - 4_000 * 131_072, cache, "") / 105e6 - 1.0).abs() < 0.007);
    // A program that takes 100 us over each request loses nothing with a cache, and a turn each time without
    // one.
    let slow_program = "[host]\nrequest_cost = \"100us\"\n";
    assert!((rate(0, cache, slow_program) / 210e6 - 1.0).abs() < 0.005);
    let turn_each = 131_072.0 * 1e9 / (60e9 / 7200.0 + 131_072.0 / 0.21);
    let without = rate(0, "", slow_program);
    assert!((without / turn_each - 1.0).abs() < 0.005, "{without} {turn_each}");
}

#[test]
fn writes_in_sequence_keep_up_only_with_another_in_line() {
    let turns_lost = |depth| {
        let mut disk = disk("cache = \"64MiB\"\n[host]\nrequest_cost = \"100us\"\n");
        let ask = |tag: u64| Ask {
            tag,
            op: Op::Write,
            offset_bytes: tag * 65_536,
            length_bytes: 65_536,
            direct: true,
        };
        let end_ns = closed_loop(&mut disk, depth, 1_000, ask) as f64;
        (end_ns - 1_000.0 * 65_536.0 / 0.21) / (60e9 / 7200.0)
    };
    assert!(turns_lost(2) < 2.0, "{}", turns_lost(2));
    assert!(turns_lost(1) > 998.0, "{}", turns_lost(1));
}

#[test]
fn a_write_cache_takes_a_burst_and_a_flush_waits_for_the_platter() {
    let cached = |policy: &str| {
        disk(&format!("write_cache = \"4MiB\"\nqueue = {{ slots = 32, policy = \"{policy}\" }}\n"))
    };
    let mut fifo = cached("fifo");
    // 1,000 x 4 KiB fit: a microsecond each.
    let end_ns = closed_loop(&mut fifo, 1, 1_000, random_blocks(Op::Write, BLOCKS, 4096, 7));
    assert_eq!(end_ns, 1_000_000);
    // All of them are on the platter after 1,000 x 12.69 ms; their mean is off by 1 % (one deviation).
    let mut done = Vec::new();
    fifo.submit(end_ns, Ask { tag: 1, op: Op::Flush, offset_bytes: 0, length_bytes: 0, direct: true });
    let flushed_ns = drive::next_done(&mut fifo, &mut done);
    assert!((flushed_ns as f64 / 12_692_673e3 - 1.0).abs() < 0.04, "{flushed_ns}");
    // In the long run the cache changes nothing for one after another, and the choice helps for the nearest first.
    let lasting = |policy: &str| {
        let mut disk = cached(policy);
        let mut ask = random_blocks(Op::Write, BLOCKS, 4096, 7);
        let warm_ns = closed_loop(&mut disk, 4, 2_000, &mut ask);
        (drive::closed_loop_between(&mut disk, 4, warm_ns, 10_000, ask) - warm_ns) as f64 / 10_000.0
    };
    assert!((lasting("fifo") / 12_692_673.0 - 1.0).abs() < 0.02, "{}", lasting("fifo"));
    assert!(lasting("sptf") < 0.55 * 12_692_673.0, "{}", lasting("sptf"));
}

#[test]
fn a_read_does_not_wait_for_cached_writes() {
    let mut disk = disk("write_cache = \"4MiB\"\n");
    let end_ns = closed_loop(&mut disk, 1, 1_000, random_blocks(Op::Write, BLOCKS, 4096, 7));
    let mut done = Vec::new();
    disk.submit(end_ns, Ask { tag: 1, op: Op::Read, offset_bytes: 0, length_bytes: 4096, direct: true });
    // The write under way, and its own: two strokes and turns of 24 ms at most.
    assert!(drive::next_done(&mut disk, &mut done) < end_ns + 50_000_000);
}

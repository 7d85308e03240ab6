//! Splitting and slots against their laws.

mod drive;

use drive::{closed_loop, device, next_done, read};
use iosonde_model::{FindingName, Op};
use iosonde_sim::{Ask, DeviceFile, truths};

const QUEUE: &str = "[queue]\nservers = 32\nservice = { fixed = \"60us\" }\n";
const MEBIBYTE: u32 = 1 << 20;

#[test]
fn a_large_request_goes_down_in_pieces_and_is_done_with_the_last() {
    let toml =
        format!("[link]\nbandwidth = \"1GB/s\"\nlatency = \"5us\"\nmax_transfer = \"128KiB\"\n{QUEUE}");
    for op in [Op::Read, Op::Write] {
        let mut split = device(&toml, 1);
        let mut done = Vec::new();
        split.submit(0, Ask { tag: 3, op, offset_bytes: 0, length_bytes: MEBIBYTE, direct: true });
        // 8 pieces on 8 servers: 5 us + 60 us, and 1,048,576 B / 1 GB/s as if it were whole.
        assert_eq!(next_done(&mut split, &mut done), 65_000 + 1_048_576);
        assert_eq!((done.len(), done[0].tag, done[0].result), (1, 3, MEBIBYTE as i32));
        let counters = split.counters();
        // The block layer sees eight requests and the same bytes.
        assert_eq!(counters.read_requests + counters.write_requests, 8);
        assert_eq!(counters.read_bytes + counters.write_bytes, u64::from(MEBIBYTE));
    }
}

#[test]
fn pieces_take_servers_each() {
    // 32 servers / 60 us / 8 pieces = 66,667; the link of 100 GB/s allows more.
    let toml = format!("[link]\nbandwidth = \"100GB/s\"\nmax_transfer = \"128KiB\"\n{QUEUE}");
    let end_ns = closed_loop(&mut device(&toml, 1), 32, 40_000, |tag| read(tag, MEBIBYTE));
    let rate = 40_000.0 * 1e9 / end_ns as f64;
    assert!((rate / 66_666.7 - 1.0).abs() < 0.001, "{rate}");
    let file = DeviceFile::parse(&format!("name = \"x\"\ncapacity = \"1GiB\"\n{toml}"), "x").unwrap();
    let bandwidth =
        truths(&file).into_iter().find(|truth| truth.finding == FindingName::DeviceBandwidth).unwrap();
    assert!((bandwidth.value.unwrap() / (66_666.7 * 1_048_576.0) - 1.0).abs() < 1e-5, "{bandwidth:?}");
}

#[test]
fn a_piece_that_fails_makes_the_whole_fail_once() {
    let toml = format!("[link]\nmax_transfer = \"4KiB\"\n{QUEUE}[faults]\neio = \"2%\"\n");
    let mut faulty = device(&toml, 1);
    closed_loop(&mut faulty, 8, 20_000, |tag| read(tag, 16_384));
    // 1 - 0.98^4 = 7.76 % of 20,000 = 1,553, deviation 38.
    assert!(faulty.counters().failed_requests.abs_diff(1_553) < 160, "{:?}", faulty.counters());
}

#[test]
fn slots_hold_back_what_more_depth_would_bring() {
    let rate = |slots: u64, depth: u64| {
        let toml = format!("[link]\nlatency = \"20us\"\nslots = {slots}\n{QUEUE}");
        let end_ns = closed_loop(&mut device(&toml, 1), depth, 64_000, |tag| read(tag, 4096));
        64_000.0 * 1e9 / end_ns as f64
    };
    // 8 slots / 80 us = 100,000 however deep; without their limit QD 256 would reach 533,333.
    for depth in [8, 32, 256] {
        assert!((rate(8, depth) / 100_000.0 - 1.0).abs() < 0.001, "{depth}");
    }
    assert!((rate(8, 4) / 50_000.0 - 1.0).abs() < 0.001);
    assert!((rate(1, 32) / 12_500.0 - 1.0).abs() < 0.001);
    assert!((rate(1024, 256) / 533_333.3 - 1.0).abs() < 0.005);
}

fn truth(toml: &str, finding: FindingName) -> iosonde_sim::Truth {
    let text = format!("name = \"x\"\ncapacity = \"1GiB\"\n{toml}");
    let file = DeviceFile::parse(&text, "x").unwrap();
    truths(&file).into_iter().find(|truth| truth.finding == finding).unwrap()
}

#[test]
fn slots_have_a_truth_where_they_decide_alone() {
    let iops = truth(&format!("[link]\nlatency = \"20us\"\nslots = 8\n{QUEUE}"), FindingName::MaxIops);
    assert_eq!(
        iops.derivation,
        "8 slots / 80.0 µs = 100,000 (more than that: 32 servers / 60.0 µs = 533,333)"
    );
    // Times that vary: between 8 slots' and 32 servers' law lies no formula.
    let varied = QUEUE.replace("fixed = \"60us\"", "lognormal = { mean = \"60us\", cv = 0.5 }");
    let iops = truth(&format!("[link]\nslots = 8\n{varied}"), FindingName::MaxIops);
    assert_eq!(iops.value, None);
    assert!(iops.derivation.contains("8 slots are fewer than keep the medium busy"), "{}", iops.derivation);
    // Enough of them do not matter.
    assert!(truth(&format!("[link]\nslots = 64\n{varied}"), FindingName::MaxIops).value.is_some());
}

#[test]
fn reads_and_writes_may_have_a_rate_each() {
    let toml = format!("[link]\nbandwidth = {{ read = \"1GB/s\", write = \"2GB/s\" }}\n{QUEUE}");
    for (op, per_byte) in [(Op::Read, 2), (Op::Write, 1)] {
        let mut done = Vec::new();
        let mut link = device(&toml, 1);
        link.submit(0, Ask { tag: 1, op, offset_bytes: 0, length_bytes: MEBIBYTE, direct: true });
        // 60 us, and half a nanosecond a byte for writes, a whole one for reads.
        assert_eq!(next_done(&mut link, &mut done), 60_000 + u64::from(MEBIBYTE) * per_byte / 2, "{op}");
        let file = DeviceFile::parse(&format!("name = \"x\"\ncapacity = \"1GiB\"\n{toml}"), "x").unwrap();
        let bandwidth = truths(&file)
            .into_iter()
            .find(|truth| truth.finding == FindingName::DeviceBandwidth && truth.conditions.op == Some(op));
        assert_eq!(bandwidth.unwrap().value.unwrap().round(), 2e9 / per_byte as f64, "{op}");
    }
}

#[test]
fn impossible_links_are_refused() {
    let refused = |link: &str| {
        let text = format!("name = \"x\"\ncapacity = \"1GiB\"\n[link]\n{link}\n{QUEUE}");
        DeviceFile::parse(&text, "x.toml").unwrap_err().to_string()
    };
    assert_eq!(
        refused("bandwidth = \"3.5GB/s\"\nlatency = \"100us\"\nmax_transfer = \"4KiB\"\nslots = 8"),
        "x.toml:4:13: [link] bandwidth = 3.5GB/s cannot be: 8 slots of 4 KiB each, held for at least 101 µs, \
         carry no more than 324 MB/s"
    );
    assert!(refused("slots = 0").contains("slots = 0 cannot be: there must be between 1 and 65,536"));
    assert!(refused("max_transfer = \"1KiB\"").contains("max_transfer = 1KiB cannot be"));
}

//! Arrays of simulated devices against their laws.

mod drive;

use drive::{closed_loop, next_done, random_blocks};
use iosonde_model::{FindingName, Op};
use iosonde_sim::{Ask, Device, DeviceFile, Truth, truths};

/// One server of 100 us behind a wire of 400 MB/s.
const MEMBER: &str = "name = \"m\"\ncapacity = \"1GB\"\n[host]\nrequest_cost = \"1s\"\n[link]\n\
    bandwidth = \"400MB/s\"\n\
    [queue]\nservers = 1\nservice = { fixed = \"100us\" }\n";

/// An array, of which `member.toml` is each member.
fn parse(capacity: &str, raid: &str, rest: &str, member: &str) -> Result<DeviceFile, String> {
    let text = format!("name = \"x\"\ncapacity = \"{capacity}\"\n[raid]\n{raid}\n{rest}");
    let members = |name: &str| match name {
        "member.toml" => Ok(member.to_owned()),
        _ => Err(format!("there is no {name}")),
    };
    DeviceFile::parse_with(&text, "x.toml", &members).map_err(|error| error.to_string())
}

const FOUR: &str = "level = 0\nmembers = \"member.toml\"\ncount = 4\nstripe = \"64KiB\"";

fn four() -> DeviceFile {
    parse("3.9GB", FOUR, "", MEMBER).unwrap()
}

fn at(op: Op, offset_bytes: u64, length_bytes: u32) -> Ask {
    Ask { tag: 0, op, offset_bytes, length_bytes, direct: true }
}

fn truth(file: &DeviceFile, finding: FindingName, op: Option<Op>) -> Truth {
    truths(file).into_iter().find(|truth| truth.finding == finding && truth.conditions.op == op).unwrap()
}

#[test]
fn a_request_goes_to_each_member_that_it_touches_at_once() {
    let mut device = Device::new(&four(), 1);
    let mut alone = |now_ns, ask| {
        device.submit(now_ns, ask);
        next_done(&mut device, &mut Vec::new()) - now_ns
    };
    // 100 us and 4,096 B / 400 MB/s; the member's program costs nothing here.
    assert_eq!(alone(0, at(Op::Read, 0, 4096)), 110_240);
    // Four stripes side by side take as long as one: 100 us and 64 KiB / 400 MB/s.
    assert_eq!(alone(1_000_000, at(Op::Read, 0, 4 << 16)), 263_840);
    // Eight stripes are two on each member, one request of 128 KiB.
    assert_eq!(alone(2_000_000, at(Op::Read, 0, 8 << 16)), 427_680);
    assert_eq!(alone(4_000_000, at(Op::Flush, 0, 0)), 1_000);
}

fn rate(file: &DeviceFile, depth: u64, requests: u64, length_bytes: u32, offset: impl Fn(u64) -> u64) -> f64 {
    let mut device = Device::new(file, 1);
    let ask = |tag| Ask { tag, ..at(Op::Read, offset(tag), length_bytes) };
    requests as f64 * 1e9 / closed_loop(&mut device, depth, requests, ask) as f64
}

#[test]
fn members_add_up_and_truth_says_so() {
    let file = four();
    // 4 x 1 / 100 us, one stripe after another.
    let even = rate(&file, 32, 40_000, 4096, |tag| tag % 50_000 * 65_536);
    let iops = truth(&file, FindingName::MaxIops, Some(Op::Read));
    assert_eq!(iops.value, Some(40_000.0), "{}", iops.derivation);
    assert!((even / 40_000.0 - 1.0).abs() < 0.002, "{even}");
    // 1 MiB is 256 KiB on each member: 4 x 400 MB/s, where the servers allow 10,000 of them a second.
    let bytes_per_s = rate(&file, 16, 3_000, 1 << 20, |tag| tag << 20) * f64::from(1 << 20);
    let bandwidth = truth(&file, FindingName::DeviceBandwidth, Some(Op::Read)).value.unwrap();
    assert!((bandwidth / 1.6e9 - 1.0).abs() < 1e-9, "{bandwidth}");
    assert!((bytes_per_s / bandwidth - 1.0).abs() < 0.005, "{bytes_per_s}");
    assert_eq!(truth(&file, FindingName::StripeBytes, None).value, Some(65_536.0));
    assert_eq!(truth(&file, FindingName::Parallelism, None).value, Some(4.0));
    assert!((truth(&file, FindingName::BaseLatency, Some(Op::Read)).value.unwrap() - 110_240.0).abs() < 1e-6);
}

#[test]
fn random_addresses_queue_at_each_member_apart() {
    // 4 equal stations with fixed times at QD 4: between the exponential network's N / (N + 4 - 1) = 0.571 and
    // the sharp corner's 1.
    let mut device = Device::new(&four(), 1);
    let requests = 100_000;
    let ns = closed_loop(&mut device, 4, requests, random_blocks(Op::Read, 900_000, 4096, 7));
    let share = requests as f64 * 1e9 / ns as f64 / 40_000.0;
    assert!((0.58..0.75).contains(&share), "{share}");
}

#[test]
fn a_member_that_fails_makes_the_request_fail() {
    let file = parse("3.9GB", FOUR, "", &format!("{MEMBER}[faults]\neio = \"100%\"\n")).unwrap();
    let mut device = Device::new(&file, 1);
    device.submit(0, at(Op::Write, 0, 1 << 20));
    let mut done = Vec::new();
    next_done(&mut device, &mut done);
    assert_eq!(done.iter().map(|one| one.result).collect::<Vec<_>>(), [-5]);
}

#[test]
fn impossible_arrays_are_refused() {
    let with = |from: &str, to: &str| FOUR.replace(from, to);
    let queue = "[queue]\nservers = 1\nservice = { fixed = \"1us\" }\n";
    let cases = [
        (with("level = 0", "level = 5"), "", "[raid] level = 5 cannot be: level 0 is simulated"),
        (with("member.toml", "other"), "", "[raid] members = other cannot be: there is no other"),
        (with("count = 4", "count = 1"), "", "between 2 and 4,096 members"),
        (with("count = 4", "count = 3"), "", "less than the capacity"),
        (with("64KiB", "1000B"), "", "512-byte blocks"),
        (with("stripe", "strip"), "", "did you mean `stripe`?"),
        (FOUR.to_owned(), "[noise]\nlatency_cv = 0.1\n", "[noise] beside [raid]"),
        (FOUR.to_owned(), queue, "exactly one medium"),
    ];
    for (raid, rest, rule) in cases {
        let said = parse("3.9GB", &raid, rest, MEMBER).unwrap_err();
        assert!(said.contains(rule), "{said}");
    }
    let said = parse("3.9GB", FOUR, "", &format!("{MEMBER}[faults]\nlost = \"1%\"\n")).unwrap_err();
    assert!(said.contains("give such [faults] to the array"), "{said}");
    let nested = format!("name = \"m\"\ncapacity = \"1GB\"\n[raid]\n{FOUR}\n");
    let said = parse("3.9GB", FOUR, "", &nested).unwrap_err();
    assert!(said.contains("members are single devices"), "{said}");
}

#[test]
fn an_array_of_devices_that_come_with_the_program() {
    let raid = FOUR.replace("member.toml", "sata-ssd");
    let text = format!("name = \"x\"\ncapacity = \"32GiB\"\n[raid]\n{raid}\n");
    let file = DeviceFile::parse(&text, "x").unwrap();
    // 4 x 8 units.
    assert_eq!(truth(&file, FindingName::Parallelism, None).value, Some(32.0));
    let steady = file.in_state(iosonde_sim::StartState::Steady).unwrap();
    assert_eq!(truth(&steady, FindingName::Parallelism, None).value, Some(32.0));
}

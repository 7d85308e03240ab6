//! Limits from the first second on: whether reads and writes share them.

use iosonde_model::{FindingName, Op};
use iosonde_report::Document;

use crate::common::Bench;

/// Limits of 3,000 requests and 131 MB/s, as `sim:cloud-gp3` has them for reads and writes together, for each of the
/// two.
const EACH: &str = r#"
name = "each"
summary = "3,000 IOPS and 131 MB/s for reads, and as much again for writes"
capacity = "100GiB"
[host]
request_cost = "3us"
[throttle]
iops = { read = 3000, write = 3000 }
bytes = { read = "125MiB/s", write = "125MiB/s" }
[network]
round_trip = "0.25ms"
bandwidth = "1.2GB/s"
[queue]
servers = 64
service = { lognormal = { mean = "350us", cv = 0.3 } }
"#;

/// The limit's unit, the direction that has it alone, and whether reads and writes share it.
type Told = (&'static str, Option<Op>, Option<bool>);

fn limits(bench: &Bench, target: &str, seed: u64) -> Vec<(String, Option<Op>, Option<bool>)> {
    let said = bench.iosonde(&["run", "quick", target, "--seed", &seed.to_string(), "--json", "-q"]);
    assert_eq!(said.code, 0, "{target}: {}", said.err);
    let run: Document = serde_json::from_str(&said.out).unwrap();
    let limits = run.findings.iter().filter(|finding| finding.name == FindingName::ConstantLimit);
    let mut all: Vec<_> =
        limits.map(|finding| (finding.unit.clone(), finding.conditions.op, finding.shared)).collect();
    all.sort();
    all
}

/// Runs of 20 seeds that tell exactly this.
fn told_as(bench: &Bench, target: &str, expected: &[Told]) -> usize {
    let expected: Vec<_> =
        expected.iter().map(|(unit, op, shared)| ((*unit).to_owned(), *op, *shared)).collect();
    (1..=20).filter(|&seed| limits(bench, target, seed) == expected).count()
}

#[test]
fn quick_adds_the_mix_that_tells_whether_reads_and_writes_share_a_limit() {
    let bench = Bench::new();
    bench.text("each.toml", EACH);
    let shared = ["B/s", "IOPS"].map(|unit| (unit, None, Some(true)));
    let each =
        ["B/s", "IOPS"].map(|unit| [Op::Read, Op::Write].map(|op| (unit, Some(op), Some(false)))).concat();
    // Of 20 runs of which 95 % tell it, fewer than 17 do in one of 60 tries.
    let right = [told_as(&bench, "sim:cloud-gp3", &shared), told_as(&bench, "sim:each.toml", &each)];
    assert!(right.iter().all(|right| *right >= 17), "{right:?} of 20");
}

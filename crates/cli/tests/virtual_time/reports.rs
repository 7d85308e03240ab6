//! Five published reports, measured again: each one's study on the simulated device of the report.
//! What the report found and its numbers bear out is found; what it missed is said. The figures of the reports stand in
//! the comments of `devices/*.toml`; docs/studies.md shows both side by side.

use std::collections::BTreeMap;

use crate::common::{Bench, shared};
use iosonde_model::{CheckName, FindingName, Op, Outcome, Point, Rw, Status, TrialSpec};
use iosonde_report::{Document as Run, FindingLine as Finding};

const MIB: f64 = 1_048_576.0;

/// The study of each report on its device. Tests of what every run must keep to look at the same runs.
pub(crate) const STUDIES: [&[&str]; 6] =
    [MAC_MICROBENCHMARKS, FIO_MATRIX, FOUR_MEDIA, MAC_M1, MAC_INTEL, FIO_SSD];
const MAC_MICROBENCHMARKS: &[&str] = &["mac-microbenchmarks", "sim:mac-ssd", "--time", "4m", "--seed", "3"];
const FIO_MATRIX: &[&str] = &["fio-matrix", "sim:fio-matrix-laptop", "--seed", "3"];
const FOUR_MEDIA: &[&str] = &["four-media", "sim:mac-ssd-2014", "--time", "2m", "--seed", "3"];
/// 1 GiB, so that a test takes seconds: the sizes end at 128 MiB, where the report's means end too.
const MAC_M1: &[&str] = &["machine-suite", "sim:mac-m1", "--time", "2m", "--size", "1GiB", "--seed", "3"];
const MAC_INTEL: &[&str] =
    &["machine-suite", "sim:mac-intel", "--time", "2m", "--size", "1GiB", "--seed", "3"];
const FIO_SSD: &[&str] = &["fio-ssd-profiling", "sim:windows-laptop", "--seed", "3"];

fn point(run: &Run, is_it: impl Fn(&TrialSpec) -> bool) -> &Point {
    run.points.iter().find(|point| is_it(&point.spec)).expect("the point was measured")
}

fn iops(point: &Point, op: Op) -> f64 {
    point.direction(op).expect("it has this direction").iops.value
}

fn bytes_per_s(run: &Run, rw: Rw, block_size_bytes: u64) -> f64 {
    let plain = |spec: &TrialSpec| spec.rw == rw && spec.block_size_bytes == block_size_bytes;
    let own = point(run, |spec| plain(spec) && spec.stride_bytes.is_none());
    iops(own, if rw.reads() { Op::Read } else { Op::Write }) * block_size_bytes as f64
}

fn findings(run: &Run, name: FindingName) -> Vec<&Finding> {
    let found: Vec<_> = run.findings.iter().filter(|finding| finding.name == name).collect();
    assert!(!found.is_empty(), "{name}");
    found
}

/// How many doubts and voids each check has, and the first one's words.
fn troubles(run: &Run) -> BTreeMap<CheckName, (usize, &str)> {
    let mut out: BTreeMap<CheckName, (usize, &str)> = BTreeMap::new();
    for line in run.verdicts.iter().filter(|line| line.verdict >= Outcome::Warning) {
        out.entry(line.check).or_insert((0, &line.why)).0 += 1;
    }
    out
}

#[test]
fn mac_microbenchmarks_level_off_where_the_report_says_and_random_reads_are_no_faster() {
    let shared = shared::run(MAC_MICROBENCHMARKS);
    let run = &shared.run;
    let edge = |op| {
        let own = |f: &&Finding| f.experiment == "io-size" && f.conditions.op == Some(op);
        let all = findings(run, FindingName::PlateauBlockSize);
        all.into_iter()
            .find(own)
            .and_then(|finding| finding.value)
            .map(|bytes| (bytes as u64).next_power_of_two())
    };
    // "until 4 MB" for writes, "until 1 MB" for reads.
    // Points between the grid's may know it better; the report's grid has the next power of two.
    assert_eq!((edge(Op::Read), edge(Op::Write)), (Some(1 << 20), Some(4 << 20)));
    // "A significant benefit for random over sequential" reads: there is none.
    for finding in findings(run, FindingName::RandomVsSequential) {
        let (low, high) = (finding.low.unwrap(), finding.high.unwrap());
        assert!(0.95 < low && low <= 1.0 && (1.0..1.05).contains(&high), "{finding:?}");
    }
    // "Exponential growth after an 8 MB stride": stride does not matter.
    for finding in findings(run, FindingName::StrideEffect) {
        // Either way there is no growth: all lie within 5 % of each other, or none is seen to differ.
        assert!(finding.sentence.contains("no effect of the stride"), "{}", finding.sentence);
    }
}

/// A buffer that takes 0.3 s to be emptied after writes that meet two of 32 dies; reads in between wait for those.
const SLOW_TO_EMPTY: &str = r#"
name = "slow-to-empty"
summary = "a write buffer that takes a third of a second to be emptied after some writes"
capacity = "64GiB"
[host]
request_cost = "2us"
[link]
bandwidth = "3GB/s"
latency = "3us"
[flash]
units = 32
stripe = "64KiB"
page = "64KiB"
mapping_unit = "4KiB"
read = "10us"
program = "600us"
write_buffer = { size = "64MiB", latency = "60us", flush = "3ms" }
"#;

const READS_AND_A_WRITE: &str = r#"
name = "reads-and-a-write"
question = "?"
time = "25s"
precision = "2%"
order = "reads-first"
[[experiment]]
kind = "block-size"
rw = "randread"
block_size = "4k..512k*2"
[[experiment]]
kind = "stride"
rw = "write"
block_size = "64k"
stride = ["1M", "64k"]
"#;

#[test]
fn what_writes_leave_behind_in_late_rounds_widens_no_interval_of_the_reads() {
    let bench = Bench::new();
    bench.text("device.toml", SLOW_TO_EMPTY);
    bench.text("study.toml", READS_AND_A_WRITE);
    let run = bench.run(&["run", "study.toml", "sim:device.toml", "--size", "1GiB", "--seed", "3"]);
    let writes = |point: &&Point| point.spec.rw == Rw::Write;
    let visits = run.points.iter().filter(writes).map(|point| point.trials).max();
    assert!(visits > Some(20), "the writes go on where the reads are done: {visits:?}");
    for point in run.points.iter().filter(|point| !writes(point)) {
        let rate = point.direction(Op::Read).unwrap().iops;
        assert!(rate.relative_half_width().is_some_and(|half| half < 0.005), "{rate:?} {}", point.trials);
    }
}

#[test]
fn fio_matrix_finds_the_reports_rates_and_that_64_were_never_in_flight() {
    let shared = shared::run(FIO_MATRIX);
    let run = &shared.run;
    // Block size, queue depth, reads and writes a second in thousands, of table 1.
    let mixed = [
        (4, 64, 82.2, 81.8),
        (64, 64, 19.7, 20.1),
        (128, 64, 11.4, 12.0),
        (4, 16, 76.1, 75.6),
        (4, 256, 86.1, 85.7),
        (4, 1024, 88.1, 87.6),
    ];
    let near = |iops: f64, reported_k: f64| (iops / 1e3 / reported_k - 1.0).abs() < 0.12;
    for (kib, depth, read_k, write_k) in mixed {
        let own = point(run, |spec| {
            spec.rw == Rw::RandRw && spec.block_size_bytes == kib << 10 && spec.queue_depth == depth
        });
        let (read, write) = (iops(own, Op::Read), iops(own, Op::Write));
        assert!(near(read, read_k) && near(write, write_k), "{kib} KiB, {depth}: {read} {write}");
    }
    let alone = |rw| point(run, |spec| spec.rw == rw && spec.queue_depth == 64);
    assert!(near(iops(alone(Rw::RandRead), Op::Read), 189.0));
    assert!(near(iops(alone(Rw::RandWrite), Op::Write), 152.0));
    // Little's law: at 4 KiB the depth never reached the device, and the program set the rates.
    let troubles = troubles(run);
    assert!(
        troubles[&CheckName::DepthNotReached].1.ends_with(" at the device: the rest waited above it"),
        "{troubles:?}"
    );
    assert!(troubles[&CheckName::GeneratorBound].1.contains("not the storage's"), "{troubles:?}");
    // So nothing is concluded about a buffer or the drive from rows that the program made.
    assert!(run.findings.iter().all(|finding| finding.status != Status::Found), "{:?}", run.findings);
}

#[test]
fn four_media_finds_the_curve_and_whose_it_is() {
    let shared = shared::run(FOUR_MEDIA);
    let run = &shared.run;
    let mib_per_s = |rw, bytes| {
        let own = point(run, |spec| spec.rw == rw && spec.block_size_bytes == bytes && !spec.direct);
        iops(own, if rw == Rw::Read { Op::Read } else { Op::Write }) * bytes as f64 / MIB
    };
    // "Levels out between 100 and 110 MiB/s" from 4 KiB on, and 380 to 440 from 8 KiB on; below they rise.
    for bytes in [4096, 65_536, 2 << 20] {
        let rate = mib_per_s(Rw::Write, bytes);
        assert!((100.0..112.0).contains(&rate), "{bytes}: {rate}");
    }
    for bytes in [8192, 65_536, 2 << 20] {
        let rate = mib_per_s(Rw::Read, bytes);
        assert!((380.0..442.0).contains(&rate), "{bytes}: {rate}");
    }
    assert!(mib_per_s(Rw::Write, 512) < 80.0 && mib_per_s(Rw::Read, 512) < 180.0);
    // "The SSD page size is approximately 4 KiB": the curve is the program's, and no statement about the device.
    for finding in findings(run, FindingName::ProcessorShare) {
        assert!(finding.low.is_some_and(|low| low > 0.95), "{finding:?}");
        assert!(finding.sentence.contains("CPU-bound"), "{}", finding.sentence);
    }
    let troubles = troubles(run);
    assert!(
        troubles.contains_key(&CheckName::CacheServed) && troubles.contains_key(&CheckName::WriteBack),
        "{troubles:?}"
    );
    let own = |finding: &&Finding| finding.status == Status::Found && finding.experiment == "media";
    assert!(run.findings.iter().filter(own).all(|finding| finding.name == FindingName::ProcessorShare));
}

#[test]
fn machine_suite_finds_the_two_ratios_and_no_decline_and_that_all_of_it_is_memory() {
    let (m1, intel) = (shared::run(MAC_M1), shared::run(MAC_INTEL));
    let (m1, intel) = (&m1.run, &intel.run);
    let mean_ratio = |rw: Rw| {
        let own = m1.points.iter().filter(|p| p.spec.rw == rw && p.spec.stride_bytes.is_none());
        let sizes: Vec<u64> = own.map(|point| point.spec.block_size_bytes).collect();
        let total = |run: &Run| sizes.iter().map(|&bytes| bytes_per_s(run, rw, bytes)).sum::<f64>();
        total(m1) / total(intel)
    };
    // "2.97x faster for reads and 7.07x for writes", as a ratio of means over all sizes.
    assert!((mean_ratio(Rw::Read) - 2.97).abs() < 0.15, "{}", mean_ratio(Rw::Read));
    assert!((mean_ratio(Rw::Write) - 7.07).abs() < 0.35, "{}", mean_ratio(Rw::Write));
    // "Begin to plateau around 2 MB", and a "sharp decline" at 128 MB that no order of visits made here.
    let share = |rw, bytes| bytes_per_s(m1, rw, bytes) / bytes_per_s(m1, rw, 128 << 20);
    for rw in [Rw::Read, Rw::Write, Rw::RandRead] {
        assert!(share(rw, 2 << 20) > 0.94 && share(rw, 262_144) < 0.9, "{rw}");
        assert!((share(rw, 32 << 20) - 1.0).abs() < 0.02, "{rw}");
    }
    // Writes without a flush, reads of what was just written: none of it is the drive.
    let troubles = troubles(m1);
    assert!(
        troubles.contains_key(&CheckName::CacheServed) && troubles.contains_key(&CheckName::DirectIgnored),
        "{troubles:?}"
    );
    assert!(m1.findings.iter().all(|finding| finding.status != Status::Found), "{:?}", m1.findings);
}

#[test]
fn fio_ssd_profiling_finds_the_limits_and_refuses_the_sheets_conditions() {
    let shared = shared::run(FIO_SSD);
    let (bench, run) = (shared.bench(), &shared.run);
    let at = |rw, bytes, depth| {
        point(run, |spec| spec.rw == rw && spec.block_size_bytes == bytes && spec.queue_depth == depth)
    };
    let reads = |bytes, depth| iops(at(Rw::RandRead, bytes, depth), Op::Read);
    // 411,295 random reads of 4 KiB; "approaches its limit around a queue depth of 64", "around 16" at 128 KiB.
    assert!((reads(4096, 1024) / 411_295.0 - 1.0).abs() < 0.03, "{}", reads(4096, 1024));
    assert!(reads(4096, 64) > 0.95 * reads(4096, 1024) && reads(4096, 16) < 0.6 * reads(4096, 1024));
    assert!(reads(131_072, 16) > 0.97 * reads(131_072, 1024));
    // 3,333 MB/s in sequence.
    let sequential = bytes_per_s(run, Rw::Read, 131_072);
    assert!((sequential / 3.333e9 - 1.0).abs() < 0.03, "{sequential}");
    // A "divot" of writes at a depth of 32 would have an interval that excludes its neighbours'.
    let ends = |depth| {
        let write = at(Rw::RandWrite, 131_072, depth).write.as_ref().expect("it writes");
        (write.iops.low.unwrap(), write.iops.high.unwrap())
    };
    let (own, before, after) = (ends(32), ends(16), ends(64));
    assert!(own.1 > before.0.min(after.0), "{own:?} {before:?} {after:?}");
    // 316,935 random writes against a sheet's 118,000: not comparable, and why.
    assert!(troubles(run)[&CheckName::GeneratorBound].1.contains("is its limit, not the storage's"));
    let said = bench.iosonde(&["spec", "last", "d7-p5600", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let lines = document["lines"].as_array().unwrap();
    let writes = lines.iter().find(|line| line["line"].as_str().unwrap().contains("random write")).unwrap();
    assert_eq!(writes["verdict"], "not comparable", "{writes}");
}

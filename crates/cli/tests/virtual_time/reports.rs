//! Five published reports, measured again: each one's study on the simulated device of the report.
//! What the report found and its numbers bear out is found; what it missed is said. The figures of the reports stand in
//! the comments of `devices/*.toml`; docs/studies.md shows both side by side.

use std::collections::BTreeMap;

use crate::common::{Bench, shared};
use iosonde_model::{CheckName, Files, FindingName, Op, Outcome, Point, Rw, Status, TrialSpec};
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
/// Within the drive's fast cache of 100 GiB, which the report never left.
const FIO_SSD_FRESH: &[&str] =
    &["fio-ssd-profiling", "sim:windows-laptop", "--seed", "3", "--max-write", "90GB"];
/// The other three media of that report; two minutes are too short for a stick.
const OTHER_MEDIA: [&[&str]; 3] = [
    &["four-media", "sim:usb3-hdd", "--seed", "3"],
    &["four-media", "sim:usb3-stick", "--seed", "3"],
    &["four-media", "sim:dfs", "--seed", "3"],
];

fn point(run: &Run, is_it: impl Fn(&TrialSpec) -> bool) -> &Point {
    run.points.iter().find(|point| is_it(&point.spec)).expect("the point was measured")
}

fn iops(point: &Point, op: Op) -> f64 {
    point.direction(op).expect("it has this direction").iops.value
}

fn latency(point: &Point, op: Op) -> f64 {
    point.direction(op).and_then(|direction| direction.latency_ns_mean).expect("it has a latency").value
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
    let of = |name, experiment: &str, op| {
        let own = |f: &&Finding| f.experiment == experiment && f.conditions.op == Some(op);
        findings(run, name).into_iter().find(own).and_then(|finding| finding.value).expect("it is found")
    };
    // "until 4 MB" for writes, "until 1 MB" for reads, on a grid of fours. Points between the grid's know it better:
    // 95 % of b / (b + n½) are reached at 19 n½, which is 2.8 GB/s x 15 us = 42,000 B, and 3 GB/s x 65 us, each x 19.
    for experiment in ["io-size", "random-io"] {
        for (op, truth, step) in [(Op::Read, 798e3, MIB), (Op::Write, 3.705e6, 4.0 * MIB)] {
            let found = of(FindingName::PlateauBlockSize, experiment, op);
            assert!(
                (truth * 0.99..=truth * 1.05).contains(&found) && found < step,
                "{experiment} {op}: {found}"
            );
        }
    }
    // "After 4 MB, reading throughput was lower than writing throughput."
    let fastest = |rw| bytes_per_s(run, rw, 64 << 20);
    assert!(fastest(Rw::Read) < 0.95 * fastest(Rw::Write));
    let crossover = findings(run, FindingName::Crossover);
    let at = crossover.iter().find(|finding| finding.experiment == "io-size").unwrap();
    assert!(at.low >= Some(MIB) && at.high <= Some(4.0 * MIB), "{at:?}");
    // "Random reads plateau in the range of 5000-6000 MB/s": the drive's link moves 2,800.
    let random = bytes_per_s(run, Rw::RandRead, 100 << 20);
    assert!((random / 2.8e9 - 1.0).abs() < 0.01, "{random}");
    // "Random writes 2500-3000 MB/s from 64 MB."
    for bytes in [64 << 20, 100 << 20] {
        assert!((2.5e9..3.0e9).contains(&bytes_per_s(run, Rw::RandWrite, bytes)));
    }
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
    assert!(troubles[&CheckName::DepthNotReached].1.contains("reached the device at once"), "{troubles:?}");
    assert!(troubles[&CheckName::GeneratorBound].1.contains("not the storage's"), "{troubles:?}");
    // The latencies of 64 and 128 KiB, in microseconds; those of 4 KiB contradict Little's law in the report.
    for (kib, read_us, write_us) in [(64, 1167.0, 1993.0), (128, 1218.0, 4097.0)] {
        let own = point(run, |spec| spec.rw == Rw::RandRw && spec.block_size_bytes == kib << 10);
        for (op, reported) in [(Op::Read, read_us), (Op::Write, write_us)] {
            let mean = latency(own, op) / 1e3;
            assert!((mean / reported - 1.0).abs() < 0.15, "{kib} KiB: {mean} of {reported}");
        }
    }
    // Their rates and depths demand these means over both directions.
    for (depth, demanded_us) in [(16, 105.0), (64, 390.0), (256, 1490.0), (1024, 5828.0)] {
        let own = point(run, |spec| {
            spec.rw == Rw::RandRw && spec.block_size_bytes == 4096 && spec.queue_depth == depth
        });
        let mean = (latency(own, Op::Read) + latency(own, Op::Write)) / 2e3;
        assert!((mean / demanded_us - 1.0).abs() < 0.05, "{depth}: {mean}");
        assert!(latency(own, Op::Write) < latency(own, Op::Read), "writes wait for less at 4 KiB");
    }
    // So nothing is concluded about a buffer or the drive from rows that the program made.
    assert!(run.findings.iter().all(|finding| finding.status != Status::Found), "{:?}", run.findings);
}

/// Block size from which a program gains nothing: value, or `None` where it is inconclusive.
fn program_plateau(run: &Run, op: Op) -> Option<f64> {
    let own = |finding: &&Finding| finding.conditions.op == Some(op);
    findings(run, FindingName::ProgramPlateau).into_iter().find(own).expect("it is looked for").value
}

#[test]
fn the_four_media_level_off_as_the_report_says_and_are_told_apart_past_the_cache() {
    let [disk, stick, network] = OTHER_MEDIA.map(shared::run);
    let mib_per_s = |run: &Run, rw, bytes, direct| {
        let own = point(run, |spec| spec.rw == rw && spec.block_size_bytes == bytes && spec.direct == direct);
        iops(own, if rw == Rw::Read { Op::Read } else { Op::Write }) * bytes as f64 / MIB
    };
    // The report's files are new: created, written, closed.
    let media = disk.run.points.iter().filter(|p| p.experiment == "media" && p.spec.rw == Rw::Write);
    assert!(media.clone().count() == 10 && media.clone().all(|p| p.spec.files == Files::New));
    // "HDD 64 KiB, 80 to 110 MiB/s written and 400 to 450 read": memory, since the disk reads 114.
    assert_eq!(program_plateau(&disk.run, Op::Write), Some(65_536.0));
    assert!((100.0..106.0).contains(&mib_per_s(&disk.run, Rw::Write, 2 << 20, false)));
    assert!((400.0..450.0).contains(&mib_per_s(&disk.run, Rw::Read, 65_536, false)));
    assert!((110.0..116.0).contains(&mib_per_s(&disk.run, Rw::Read, 1 << 20, true)));
    // "The same performance regardless of block size": the stick's own 20 MiB/s, whatever the program asks.
    for bytes in [128, 4096, 65_536, 2 << 20] {
        assert!((19.0..21.5).contains(&mib_per_s(&stick.run, Rw::Write, bytes, false)), "{bytes}");
    }
    // "55 to 60 MiB/s from 8 KiB on."
    for bytes in [8192, 65_536, 2 << 20] {
        assert!((55.0..60.0).contains(&mib_per_s(&network.run, Rw::Write, bytes, false)), "{bytes}");
    }
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
        assert!(finding.sentence.contains("the CPU is the limit"), "{}", finding.sentence);
    }
    let troubles = troubles(run);
    assert!(
        troubles.contains_key(&CheckName::CacheServed) && troubles.contains_key(&CheckName::WriteBack),
        "{troubles:?}"
    );
    let of_program = [FindingName::ProcessorShare, FindingName::ProgramPlateau];
    let own = |finding: &&Finding| finding.status == Status::Found && finding.experiment == "media";
    assert!(run.findings.iter().filter(own).all(|finding| of_program.contains(&finding.name)));
    // "Levels out from 4 KiB" for writes: of the program. Reads of 8 KiB have 91 % of the highest.
    assert_eq!(program_plateau(run, Op::Write), Some(4096.0));
    assert_eq!(program_plateau(run, Op::Read), Some(65_536.0));
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
    let mut found = m1.findings.iter().filter(|finding| finding.status == Status::Found);
    assert!(found.all(|finding| finding.name == FindingName::ProgramPlateau), "{:?}", m1.findings);
    // "The benefits begin to plateau around 2 MB": of the program. 95 % of b / (b + n½) at 19 n½, n½ = time of a call
    // x rate: 1.03 MB for reads and 2.1 MB for writes, on a grid of 256 KiB, 2 MiB, 8 MiB.
    assert_eq!(program_plateau(m1, Op::Read), Some(2.0 * MIB));
    assert!([2.0 * MIB, 8.0 * MIB].map(Some).contains(&program_plateau(m1, Op::Write)));
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
    // A "divot" of writes at a depth of 32: none of 128 KiB, and none is claimed of 4 KiB.
    let divot = |bytes| {
        let own = |f: &&Finding| {
            let conditions = &f.conditions;
            f.experiment == "queue-depth"
                && (conditions.op, conditions.block_size_bytes) == (Some(Op::Write), Some(bytes))
        };
        findings(run, FindingName::Shape).into_iter().find(own).expect("it is looked for").status
    };
    assert_eq!(divot(131_072), Status::Absent);
    assert_ne!(divot(4096), Status::Found);
    // 316,935 random writes against a sheet's 118,000: not comparable, and why.
    assert!(troubles(run)[&CheckName::GeneratorBound].1.contains("is its limit, not the storage's"));
    let said = bench.iosonde(&["spec", "last", "d7-p5600", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let lines = document["lines"].as_array().unwrap();
    let writes = lines.iter().find(|line| line["line"].as_str().unwrap().contains("random write")).unwrap();
    assert_eq!(writes["verdict"], "not comparable", "{writes}");
}

#[test]
fn within_the_fast_cache_the_four_figures_of_the_sheet_and_the_mixes_come_out() {
    let shared = shared::run(FIO_SSD_FRESH);
    let run = &shared.run;
    assert!(run.info.bytes_written < 90_000_000_000, "{}", run.info.bytes_written);
    let at = |rw, bytes, depth| {
        point(run, |spec| spec.rw == rw && spec.block_size_bytes == bytes && spec.queue_depth == depth)
    };
    // Part 4: 3,333 and 2,268 MB/s, 411,295 and 316,935 blocks of 4 KiB a second.
    for (rw, reported) in [(Rw::Read, 3.3332e9), (Rw::Write, 2.2684e9)] {
        let rate = bytes_per_s(run, rw, 131_072);
        assert!((rate / reported - 1.0).abs() < 0.01, "{rw}: {rate}");
    }
    for (rw, op, reported) in [(Rw::RandRead, Op::Read, 411_295.0), (Rw::RandWrite, Op::Write, 316_935.0)] {
        let rate = iops(at(rw, 4096, 1024), op);
        assert!((rate / reported - 1.0).abs() < 0.01, "{rw}: {rate}");
    }
    // Part 1: "minimal impact on latency". Six-fold for reads; writes are faster at 4 KiB and slower from 32 KiB on.
    let read = |bytes| latency(at(Rw::RandRead, bytes, 16), Op::Read);
    let write = |bytes| latency(at(Rw::RandWrite, bytes, 16), Op::Write);
    assert!(read(131_072) > 6.0 * read(4096) && write(131_072) > 10.0 * write(4096));
    assert!(write(4096) < 0.6 * read(4096) && write(32_768) > read(32_768));
    // Part 2, 4 KiB: "write latency is lower than the read latency at each percentage".
    for share in [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0] {
        let own = point(run, |spec| spec.block_size_bytes == 4096 && spec.read_percent == Some(share));
        assert!(latency(own, Op::Write) < 0.5 * latency(own, Op::Read), "{share}");
    }
    // Part 2, 128 KiB: "an interesting peak in write latency at 40:60" is not found, and may be within the intervals.
    let of_writes = |f: &&Finding| {
        let conditions = &f.conditions;
        f.experiment == "mix"
            && (conditions.op, conditions.block_size_bytes) == (Some(Op::Write), Some(131_072))
    };
    let peak = findings(run, FindingName::Shape).into_iter().find(of_writes).expect("it is looked for");
    assert_ne!(peak.status, Status::Found, "{peak:?}");
    // "Ten-fold for reads, five-fold for writes" from 4 to 128 KiB.
    let gain = |rw, op| 32.0 * iops(at(rw, 131_072, 16), op) / iops(at(rw, 4096, 16), op);
    let (reads, writes) = (gain(Rw::RandRead, Op::Read), gain(Rw::RandWrite, Op::Write));
    assert!((4.5..5.5).contains(&reads) && (1.5..2.5).contains(&writes), "{reads} {writes}");
}

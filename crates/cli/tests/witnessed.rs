//! What a witness on a real kernel decides: the same mistakes that published reports made, made again here, and the
//! sentence that catches each.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::fs;

use common::{Bench, limited::Limited};
use iosonde_model::{CheckName, FindingName, Op, Outcome, Phase};
use iosonde_report::{Document as Run, VerdictLine as Judgement};

/// The verdicts of a check on trials, the worst first.
fn said(run: &Run, check: CheckName) -> Vec<&Judgement> {
    let own = |judgement: &&Judgement| judgement.check == check && judgement.trial.is_some();
    run.verdicts.iter().filter(own).collect()
}

/// The first verdict of a check that a trial is invalid.
fn invalid(run: &Run, check: CheckName) -> &Judgement {
    let found = said(run, check).into_iter().find(|one| one.verdict == Outcome::Invalid);
    found.unwrap_or_else(|| panic!("{check} calls no trial invalid: {:?}", run.verdicts))
}

/// Whether the kernel tells what its page cache holds; says so where it does not.
fn cache_is_seen(run: &Run) -> bool {
    let seen = run.trials.iter().any(|trial| trial.witnesses.resident_after_bytes.is_some());
    if !seen {
        eprintln!("skipped: {:?}", run.trials[0].witnesses.absent);
    }
    seen
}

/// M1, M6: "reads at 400 to 450 MiB/s" of a file that was just written.
#[test]
fn reading_again_what_was_just_written_is_cache_served() {
    let bench = Bench::new();
    bench.file("data", 64);
    let run = bench.run(&[
        "point",
        "data",
        "--read-only",
        "--buffered",
        "--rw",
        "read",
        "--bs",
        "1m",
        "--time",
        "500ms",
    ]);
    if cache_is_seen(&run) {
        invalid(&run, CheckName::CacheServed);
    }
}

#[test]
fn a_sparse_file_is_unmapped() {
    let bench = Bench::new();
    if !common::direct_here(&bench) {
        return;
    }
    fs::File::create(bench.path("sparse")).unwrap().set_len(256 << 20).unwrap();
    let run = bench.run(&["point", "sparse", "--read-only", "--depth", "4", "--time", "500ms"]);
    let Some(holes) = run.trials[0].witnesses.unmapped_bytes else {
        return eprintln!("skipped: this file system does not tell where its holes are");
    };
    assert_eq!(holes, 256 << 20);
    assert_eq!(invalid(&run, CheckName::Unmapped).figures["unmapped_bytes"], (256 << 20) as f64);
    // A file that is written through has none, and the check says so by passing.
    bench.file("whole", 64);
    let run = bench.run(&["point", "whole", "--read-only", "--depth", "4", "--time", "500ms"]);
    assert_eq!(run.trials[0].witnesses.unmapped_bytes, Some(0));
    assert!(said(&run, CheckName::Unmapped).is_empty(), "{:?}", said(&run, CheckName::Unmapped));
}

/// M17: writes compared without a flush.
#[test]
fn writes_that_memory_took_are_not_the_devices() {
    let bench = Bench::new();
    // 50 ms: too short for the kernel to begin writing back (dirty_writeback_centisecs is 500).
    let words =
        ["point", ".", "--buffered", "--rw", "write", "--bs", "1m", "--size", "64MiB", "--time", "60ms"];
    let run = bench.run(&words);
    if run.info.device.medium == iosonde_model::Medium::Memory || !cache_is_seen(&run) {
        return eprintln!("skipped: no view of the page cache below {}", bench.folder.path().display());
    }
    invalid(&run, CheckName::WriteBack);
}

#[test]
fn memory_is_called_memory() {
    if !std::path::Path::new("/dev/shm").is_dir() {
        return eprintln!("skipped: no /dev/shm");
    }
    let bench = Bench::new();
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let words = ["point", folder.path().to_str().unwrap(), "--size", "32MiB", "--time", "300ms"];
    let run = bench.run(&words);
    let why = &invalid(&run, CheckName::CacheServed).why;
    assert!(why.starts_with("tmpfs "), "{why}");
}

/// A compressed disk in memory, made for one test and removed after it.
struct Zram(String);

impl Zram {
    fn of_bytes(size_bytes: u64) -> Option<Self> {
        let skipped = |error: &std::io::Error| eprintln!("skipped: no zram device can be made: {error}");
        let number = fs::read_to_string("/sys/class/zram-control/hot_add").inspect_err(skipped).ok()?;
        let zram = Self(number.trim().to_owned());
        let size = fs::write(format!("/sys/block/zram{}/disksize", zram.0), size_bytes.to_string());
        size.inspect_err(skipped).ok().map(|()| zram)
    }

    fn path(&self) -> String {
        format!("/dev/zram{}", self.0)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = fs::write(format!("/sys/block/zram{}/reset", self.0), "1");
        let _ = fs::write("/sys/class/zram-control/hot_remove", &self.0);
    }
}

/// Its driver fills the whole page that a buffer lies in (see `guard/direct.rs`): the program has to survive that.
#[test]
fn a_compressed_disk_in_memory_is_called_memory() {
    let Some(zram) = Zram::of_bytes(32 << 20) else { return };
    let bench = Bench::new();
    if let Err(error) = fs::write(zram.path(), vec![7_u8; 8 << 20]) {
        return eprintln!("skipped: {} cannot be written: {error}", zram.path());
    }
    let run = bench.run(&["point", &zram.path(), "--read-only", "--depth", "4", "--time", "300ms"]);
    let why = &invalid(&run, CheckName::CacheServed).why;
    assert!(why.starts_with("zram"), "{why}");
}

#[test]
fn the_clocks_of_this_machine_are_watched() {
    let bench = Bench::new();
    let run = bench.run(&["point", ".", "--size", "16MiB", "--time", "300ms"]);
    let witnesses = &run.trials.last().unwrap().witnesses;
    assert!(witnesses.calendar_step_s.is_some() && witnesses.suspended_s.is_some(), "{witnesses:?}");
    let ratio = witnesses.clock_ratio.expect("300 ms are enough to compare clocks");
    // Calibration is good to 0.1 %.
    assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
}

#[test]
fn a_containers_limit_is_witnessed_where_it_is_set() {
    let bench = Bench::new();
    bench.file("data", 32);
    let free = bench.run(&["point", "data", "--read-only", "--time", "200ms"]);
    assert!(free.trials[0].witnesses.io_limits.as_ref().is_none_or(Vec::is_empty));
    let Some(group) = Limited::by(&bench, "blkio.throttle.read_bps_device", 8_000_000) else { return };
    let run =
        group.run(&bench, &["point", "data", "--read-only", "--bs", "64k", "--depth", "4", "--time", "1s"]);
    let limits = run.trials[0].witnesses.io_limits.clone().expect("control groups are mounted");
    let [limit] = &limits[..] else { panic!("{limits:?}") };
    assert_eq!((limit.op, limit.iops, limit.bytes_per_s), (Op::Read, None, Some(8e6)));
    assert_eq!(Some(&limit.device), run.info.device.name.as_ref());
    assert!(limit.set_by.ends_with("blkio.throttle.read_bps_device"), "{}", limit.set_by);
}

/// A container's limit is named as the cause, with its rate, and is a finding.
#[test]
fn a_containers_limit_is_named_as_the_cause_and_its_rate_is_right() {
    let bench = Bench::new();
    if !common::direct_here(&bench) {
        return;
    }
    bench.file("data", 64);
    bench.text(
        "limit.toml",
        "name = \"limit\"\nquestion = \"Is there a limit?\"\ntime = \"13s\"\n[[experiment]]\nkind = \"limit\"\n\
         trial = \"2s\"\n",
    );
    let Some(group) = Limited::by(&bench, "blkio.throttle.read_iops_device", 2000) else { return };
    // Where other programs take the processors for all of the time, no trial is valid, and each says so.
    let stands = |run: &Run| {
        let found = run.findings.iter().find(|finding| finding.name == FindingName::ThrottleRate);
        found.is_some_and(|finding| finding.value.is_some())
    };
    let disturbed = |run: &Run| {
        let voids =
            said(run, CheckName::Interference).into_iter().chain(said(run, CheckName::GeneratorBound));
        voids.filter(|one| one.verdict == Outcome::Invalid).count() > 0
    };
    let mut run = group.run(&bench, &["run", "limit.toml", "data", "--read-only"]);
    for _ in 0..2 {
        if !stands(&run) && disturbed(&run) {
            run = group.run(&bench, &["run", "limit.toml", "data", "--read-only"]);
        }
    }
    if !stands(&run) && disturbed(&run) {
        return eprintln!("skipped: others left no processor for a trial under a limit, three times");
    }
    let why = &invalid(&run, CheckName::Throttled).why;
    assert!(why.contains(" to 2 k read IOPS, and this trial reached "), "{why}");
    // The limit's grain is 100 ms: over five trials of 2 s, one grain more or less is 1 %.
    let found = run.findings.iter().find(|finding| finding.name == FindingName::ThrottleRate).unwrap();
    let value = found.value.unwrap_or_else(|| panic!("{}", found.sentence));
    assert!((value / 2000.0 - 1.0).abs() < 0.02, "{}", found.sentence);
    assert!((found.low.unwrap()..=found.high.unwrap()).contains(&2000.0), "{}", found.sentence);
    // Requests that wait for the limit are outstanding all the same.
    let trials = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    for in_flight in trials.map(|trial| trial.in_flight_mean.unwrap()) {
        assert!((in_flight / 32.0 - 1.0).abs() < 0.01, "mean depth {in_flight}, requested 32");
    }
}

/// Somebody else reads the same disk in bursts.
#[test]
fn another_programs_bursts_are_interference() {
    use std::{
        process::{Command, Stdio},
        sync::atomic::{AtomicBool, Ordering},
    };
    let bench = Bench::new();
    if !common::direct_here(&bench) {
        return;
    }
    bench.file("data", 32);
    let other = bench.file("other", 64);
    let stop = AtomicBool::new(false);
    let run = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let mut burst = Command::new("dd");
                burst.arg(format!("if={}", other.display())).args(["of=/dev/null", "bs=1M", "iflag=direct"]);
                let _ = burst.stderr(Stdio::null()).status();
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
        });
        let run = bench.run(&["point", "data", "--read-only", "--depth", "1", "--time", "1s"]);
        stop.store(true, Ordering::Relaxed);
        run
    });
    if run.trials[0].witnesses.block_layer_read_bytes.is_none() {
        return eprintln!("skipped: {:?}", run.trials[0].witnesses.absent);
    }
    let found = said(&run, CheckName::Interference);
    assert!(found.iter().any(|one| one.verdict == Outcome::Invalid), "{:?}", run.verdicts);
}

/// A processor that others keep busy, with this program on it.
#[test]
fn a_busy_processor_is_named_and_is_no_property_of_the_device() {
    use std::process::{Child, Command, Stdio};
    struct Hogs(Vec<Child>);
    impl Drop for Hogs {
        fn drop(&mut self) {
            self.0.iter_mut().for_each(|hog| drop((hog.kill(), hog.wait())));
        }
    }
    let bench = Bench::new();
    if !common::direct_here(&bench) {
        return;
    }
    bench.file("data", 64);
    let pinned = |program: &std::ffi::OsStr| {
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(program);
        command
    };
    let mut hogs = Hogs(Vec::new());
    for _ in 0..3 {
        let mut hog = pinned("sh".as_ref());
        let Ok(child) = hog.args(["-c", "while :; do :; done"]).stdout(Stdio::null()).spawn() else {
            return eprintln!("skipped: no taskset here");
        };
        hogs.0.push(child);
    }
    let words = ["point", "data", "--read-only", "--depth", "32", "--time", "1s", "--json", "--quiet"];
    let inner = bench.command(&words);
    let mut command = pinned(inner.get_program());
    command.args(inner.get_args()).current_dir(bench.folder.path());
    let output = command.env("IOSONDE_STORE", bench.path("notebook.db")).output().unwrap();
    drop(hogs);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Run = serde_json::from_slice(&output.stdout).unwrap();
    // Where somebody used the disk as well, that is said first.
    let named = [CheckName::GeneratorBound, CheckName::Interference].map(|check| said(&run, check).len());
    assert!(named.iter().sum::<usize>() > 0, "{:?}", run.verdicts);
    let waited = run.trials[0].witnesses.pressure_cpu_some_share;
    assert!(waited.is_none_or(|share| share > 0.25), "three programs beside this one: {waited:?}");
    // Nothing else is made of it: no limit, no fault of the device.
    for check in [CheckName::Throttled, CheckName::CacheServed, CheckName::AboveTheLimit, CheckName::Errors] {
        assert!(said(&run, check).is_empty(), "{:?}", said(&run, check));
    }
}

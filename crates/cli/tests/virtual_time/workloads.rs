//! `point` with whole workloads: what is typed is what is run, on simulated storage whose answers are known.

use crate::common::Bench;
use iosonde_model::FindingName;
use serde_json::Value;

fn point(words: &[&str]) -> Value {
    let said = Bench::new().iosonde(&[&["point"], words, &["--json", "--quiet", "--seed", "5"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).expect("stdout holds one JSON document")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn every_word_of_a_workload_reaches_the_document() {
    let document = point(&[
        "sim:ideal",
        "--rw",
        "randrw",
        "--mix",
        "70",
        "--bs",
        "4k:3,64k:1",
        "--depth",
        "4",
        "--jobs",
        "2",
        "--sync",
        "fdatasync:16",
        "--payload",
        "compress:50%",
        "--distribution",
        "zipf:1.1",
        "--time",
        "1s",
    ]);
    let spec = &document["trials"].as_array().unwrap().last().unwrap()["spec"];
    assert_eq!(spec["distribution"], "zipf:1.1");
    assert_eq!((&spec["sync"], &spec["payload"]), (&"fdatasync:16".into(), &"compress:50%".into()));
    assert_eq!(spec["block_sizes"][1]["bytes"], 65_536);
    assert_eq!((number(&spec["jobs"]), number(&spec["read_percent"])), (2.0, 70.0));
}

#[test]
fn a_stream_beside_the_first_is_measured_apart_and_together() {
    let document = point(&["sim:ideal", "--depth", "3", "--and", "rw=write rate=1000 bs=8k", "--time", "1s"]);
    let trial = document["trials"].as_array().unwrap().last().unwrap();
    let streams = trial["streams"].as_array().unwrap();
    assert_eq!(streams.len(), 2);
    // Three of four servers of 80 us read.
    assert!((number(&streams[0]["read"]["iops"]) / 37_500.0 - 1.0).abs() < 1e-3);
    assert!((number(&streams[1]["achieved_rate_iops"]) / 1000.0 - 1.0).abs() < 5e-3);
    assert_eq!(trial["write"]["ios"], streams[1]["write"]["ios"]);
}

#[test]
fn the_highest_load_that_keeps_a_latency_is_found_with_its_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clerk.toml");
    // M/M/1: p99 = ln(100) / (10,000/s - load), so 1 ms is kept up to 5,394.8/s.
    let text = "name = \"clerk\"\nsummary = \"M/M/1\"\ncapacity = \"64GiB\"\n\
                [queue]\nservers = 1\nservice = { exponential = \"100us\" }\n";
    std::fs::write(&path, text).unwrap();
    let target = format!("sim:{}", path.display());
    let words = ["--arrivals", "poisson", "--latency-limit", "p99=1ms", "--depth", "1024", "--time", "300s"];
    let document = point(&[&[target.as_str()], words.as_slice()].concat());
    let finding = &document["findings"][0];
    assert_eq!(
        (&finding["name"], &finding["status"]),
        (&FindingName::IopsAtLatency.as_str().into(), &"found".into())
    );
    let (low, high) = (number(&finding["low"]), number(&finding["high"]));
    assert!(low < 5394.8 && 5394.8 < high && high / low < 1.15, "[{low}, {high}]");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    for (words, told) in [
        (vec!["--bs", "4k,64k"], "weights"),
        (vec!["--rw", "read", "--mix", "50"], "one direction"),
        (vec!["--sync", "fsync:1"], "writes nothing"),
        (vec!["--rate", "0"], "requests a second"),
        (vec!["--arrivals", "poisson"], "--rate"),
        (vec!["--and", "rw=write bss=4k"], "no `bss`"),
        (vec!["--distribution", "zipf:-1"], "zipf"),
        (vec!["--rate", "100", "--latency-limit", "p99=1ms"], "--latency-limit"),
        (vec!["--latency-limit", "p99"], "p99=1ms"),
        (vec!["--engine", "sim:fast"], "no option"),
        (vec!["--span", "2k"], "span"),
        (vec!["--stride", "64k"], "sequential"),
    ] {
        let said = bench.iosonde(&[&["point", "sim:ideal"], words.as_slice()].concat());
        assert_eq!(said.code, 2, "{words:?}: {}", said.err);
        assert!(said.err.contains(told), "{words:?}: {}", said.err);
    }
}

#[test]
fn damage_between_writing_and_reading_is_found_and_voids_the_trial() {
    let bench = Bench::new();
    let file = bench.file("data", 16);
    let of = |words: &[&str]| bench.iosonde(&[&["point", "data", "--verify", "--bs", "4k"], words].concat());
    let all = ["--ios", "4096", "--time", "60s"];
    let written = of(&[&["--rw", "write", "--destroy", "--depth", "8"], &all[..]].concat());
    assert!(
        written.code == 0 && written.out.contains("4.10 k blocks read back: all as written"),
        "{}",
        written.out
    );
    let read = |strict: bool| {
        let strict: &[&str] = if strict { &["--strict"] } else { &[] };
        of(&[&["--rw", "read", "--read-only"], strict, &all[..]].concat())
    };
    let sound = read(false);
    assert!(sound.code == 0 && sound.out.contains("all as written"), "{}", sound.out);

    // One block swapped for its neighbour, one bit turned in another, and a thousand zeroed.
    let mut disk = std::fs::read(&file).unwrap();
    disk.copy_within(4096 * 10..4096 * 11, 4096 * 11);
    disk[4096 * 20 + 2000] ^= 1;
    disk[4096 * 2000..4096 * 3000].fill(0);
    std::fs::write(&file, disk).unwrap();
    let damaged = read(true);
    assert_eq!(damaged.code, 3, "{}", damaged.out);
    let out = damaged.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["1 torn", "1 misplaced", "1000 without a whole mark", "the trial is invalid"] {
        assert!(out.contains(said), "`{said}` is not in: {out}");
    }
}

#[test]
fn weighted_sizes_and_streams_of_unlike_blocks_are_no_contradiction() {
    for words in [
        &["sim:ideal", "--bs", "4k:60,64k:40", "--depth", "4", "--time", "1s"][..],
        &["sim:ideal", "--depth", "4", "--and", "rw=randread bs=64k", "--time", "1s"],
        &["sim:ideal", "--jobs", "8", "--depth", "16", "--time", "1s"],
    ] {
        let document = point(words);
        let verdicts = document["verdicts"].as_array().unwrap();
        let units = verdicts.iter().filter(|verdict| verdict["check"] == "units");
        assert!(
            units.clone().all(|verdict| verdict["verdict"] != "invalid"),
            "{:?}",
            units.collect::<Vec<_>>()
        );
    }
}

#[test]
fn many_deep_jobs_on_slow_storage_do_not_change_its_rate() {
    // sim:ideal: 4 servers / 80 us = 50,000 a second, however many wait.
    let document = point(&["sim:ideal", "--jobs", "64", "--depth", "256", "--time", "3s"]);
    let iops = number(&document["trials"][0]["read"]["iops"]);
    assert!((iops / 50_000.0 - 1.0).abs() < 0.02, "{iops}");
}

// Windows trims no part of a file on request.
#[cfg(not(windows))]
#[test]
fn trims_end_after_one_pass() {
    let bench = Bench::new();
    bench.file("data", 16);
    let words =
        ["point", "data", "--destroy", "--rw", "randtrim", "--bs", "64k", "--size", "16M", "--time", "20s"];
    let run = bench.run(&words);
    let trial = run.trials.iter().rfind(|trial| trial.trim.is_some()).unwrap();
    assert_eq!(trial.trim.as_ref().unwrap().ios, 256, "16 MiB / 64 KiB, once each");
}

#[test]
fn what_measures_nothing_is_refused_and_writes_nothing() {
    let bench = Bench::new();
    let file = bench.file("data", 4);
    let before = std::fs::read(&file).unwrap();
    for (words, said) in [
        (&["--read-only", "--rw", "randwrite"][..], "--read-only writes nothing"),
        (&["--read-only", "--and", "rw=trim"], "--read-only writes nothing"),
        (&["--read-only", "--rate", "0.01", "--time", "1s"], "ten are needed"),
        (&["--read-only", "--warmup", "2s", "--time", "1s"], "leaves nothing"),
        (&["--read-only", "--warmup", "1s", "--ios", "10"], "leave --warmup out"),
        (&["--destroy", "--rw", "write", "--payload", "dedupe:30%", "--bs", "6k"], "no multiples"),
        (&["--destroy", "--verify", "--rw", "randwrite", "--bs", "1000", "--buffered"], "512"),
        (&["--destroy", "--verify", "--rw", "write", "--engine", "null"], "null"),
        (&["--destroy", "--verify", "--rw", "randwrite", "--and", "rw=write"], "same blocks"),
        (
            &["--destroy", "--verify", "--rw", "write", "--jobs", "2", "--ranges", "shared"],
            "ranges of their own",
        ),
        (&["--read-only", "--stride", "64k"], "is random"),
        (&["--read-only", "--and", ""], "a stream is written as"),
    ] {
        bench.iosonde(&[&["point", "data"], words].concat()).refused(&[said]);
        assert!(std::fs::read(&file).unwrap() == before, "{words:?} wrote to the file");
    }
}

#[test]
fn a_latency_that_no_load_keeps_is_the_answer() {
    // The service itself takes 80 us.
    let said = Bench::new().iosonde(&["point", "sim:ideal", "--latency-limit", "p99=50us", "--seed", "1"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.err.contains("is not kept even at") && said.err.contains("it was 80"), "{}", said.err);
}

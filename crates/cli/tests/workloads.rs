//! `point` with whole workloads: what is typed is what is run, on simulated storage whose answers are known.

mod common;

use common::Bench;
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
    assert_eq!((&finding["name"], &finding["status"]), (&"iops_at_latency".into(), &"found".into()));
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
        (vec!["--and", "rw=write bss=4k"], "--bss"),
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

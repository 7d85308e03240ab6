//! What published reports got wrong, each on a simulated device on which it happens again, and the sentence that
//! catches it. The numbers M1 .. M17 are those of docs/checks.md.

mod common;

use common::Bench;
use iosonde_model::{Closed, Judgement, Outcome, Run, Status};

const CACHED: &str = "name = \"cached\"\nsummary = \"a device behind a page cache\"\ncapacity = \"64GB\"\n[host]\n\
    request_cost = \"2us\"\nmemory = \"4GiB\"\npage_cache = true\ncopy_rate = \"5GB/s\"\n[queue]\nservers = 4\n\
    service = { fixed = \"300us\" }\n";

const BUFFER: &str = "name = \"buffer\"\nsummary = \"2 GiB of write buffer before flash\"\ncapacity = \"64GB\"\n\
    [link]\nbandwidth = \"1GB/s\"\nlatency = \"5us\"\n[flash]\nunits = 8\nstripe = \"16KiB\"\npage = \"16KiB\"\n\
    mapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\nerase = \"3ms\"\nplacement = \"static\"\n\
    write_buffer = { size = \"2GiB\", latency = \"12us\", drain = \"200MB/s\" }\n";

const STUDY: &str = "name = \"depths\"\nquestion = \"?\"\ntime = \"30s\"\n[[experiment]]\nkind = \"queue-depth\"\n\
    rw = \"randread\"\nblock_size = \"4k\"\ndepth = [1, 2, 4, 8]\n";

/// Four servers with small waves, and what more is said of their noise.
fn four_servers(noise: &str) -> String {
    format!(
        "name = \"four\"\nsummary = \"four servers\"\ncapacity = \"64GB\"\n[queue]\nservers = 4\n\
         service = {{ lognormal = {{ mean = \"400us\", cv = 0.2 }} }}\n[noise]\nrate_cv_100ms = 0.02\n\
         lag1_100ms = 0.5\n{noise}\n"
    )
}

fn measured(device: &str, words: &[&str]) -> Run {
    let bench = Bench::new();
    bench.text("device.toml", device);
    bench.text("study.toml", STUDY);
    let words: Vec<&str> = words.iter().copied().chain(["--seed", "3"]).collect();
    bench.run(&words)
}

/// The first doubt or void of a check.
fn said<'a>(run: &'a Run, check: &str) -> &'a Judgement {
    let own = |line: &&Judgement| line.check == check && line.verdict >= Outcome::Doubt;
    run.verdicts.iter().find(own).unwrap_or_else(|| panic!("{check} is silent: {:?}", run.verdicts))
}

#[test]
fn m1_and_m6_a_small_file_read_again_is_memory_and_not_the_disk() {
    let read =
        ["--buffered", "--rw", "read", "--bs", "1M", "--depth", "1", "--size", "256MiB", "--time", "4s"];
    let run = measured(CACHED, &[&["point", "sim:device.toml"][..], &read[..]].concat());
    let judged = said(&run, "cache-served");
    assert_eq!(judged.verdict, Outcome::Void);
    assert!(
        judged.why.starts_with("the device moved 1.")
            && judged.why.ends_with("that were read: this is memory")
    );
}

#[test]
fn m4_a_burst_into_a_write_buffer_is_told_from_what_lasts() {
    let write = ["--rw", "randwrite", "--bs", "64k", "--depth", "16", "--time", "12s"];
    let run = measured(BUFFER, &[&["point", "sim:device.toml"][..], &write[..]].concat());
    // 200 MB/s / 64 KiB = 3,052 a second lasts.
    let step = &said(&run, "not-steady").why;
    assert!(step.contains(" to 3.0") && step.contains("a mean over both describes neither"), "{step}");
    assert!(said(&run, "throttled").why.contains("a write buffer that is full"));
}

#[test]
fn m5_nothing_is_concluded_about_a_device_that_was_not_asked() {
    let words = ["run", "study.toml", "sim:device.toml", "--buffered", "--size", "256MiB", "--time", "20s"];
    let run = measured(CACHED, &words);
    let void =
        run.verdicts.iter().filter(|line| line.check == "cache-served" && line.verdict == Outcome::Void);
    assert!(void.count() > 10);
    let found: Vec<_> = run.findings.iter().filter(|finding| finding.status == Status::Found).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn m8_a_device_that_becomes_slower_is_drift_and_no_parameter() {
    let slower = four_servers("drift_per_hour = \"-99.9999999999%\"");
    let run = measured(&slower, &["run", "study.toml", "sim:device.toml"]);
    let drift = said(&run, "drift");
    // A factor of 10^-12 in an hour: 0.81 in 27 s.
    assert!(
        drift.why.starts_with("the rate fell by ") && drift.why.contains("all points alike"),
        "{}",
        drift.why
    );
    let change = drift.figures["change_share"];
    assert!((-0.23..-0.15).contains(&change), "{change}");
}

#[test]
fn m11_a_point_stops_when_its_interval_is_tight_enough() {
    let run = measured(&four_servers(""), &["run", "study.toml", "sim:device.toml", "--time", "120s"]);
    assert!(run.points.iter().all(|point| point.closed == Some(Closed::Precision)));
    assert!(run.info.elapsed_s < 119.0, "{}", run.info.elapsed_s);
}

#[test]
fn m13_equal_plateaus_on_unlike_devices_are_the_programs() {
    let on = |service: &str| {
        let device = format!(
            "name = \"d\"\nsummary = \"a device\"\ncapacity = \"64GB\"\n[host]\nrequest_cost = \"100us\"\n[queue]\n\
             servers = 16\nservice = {{ fixed = \"{service}\" }}\n"
        );
        let write =
            ["point", "sim:device.toml", "--rw", "randwrite", "--bs", "4k", "--depth", "16", "--time", "2s"];
        said(&measured(&device, &write), "generator-bound").why.clone()
    };
    // One takes three times as long as the other, and both give what 100 us a request leave.
    let expected =
        "the program was busy 100 % of the time: 10 k IOPS is what it can make, not what the storage";
    assert!(on("80us").starts_with(expected), "{}", on("80us"));
    assert!(on("240us").starts_with(expected), "{}", on("240us"));
}

#[test]
fn m16_a_steady_state_that_was_not_tested_is_not_claimed() {
    let short =
        ["point", "sim:device.toml", "--rw", "randread", "--bs", "4k", "--depth", "4", "--time", "2s"];
    let run = measured(&four_servers(""), &short);
    let line = run.verdicts.iter().find(|line| line.check == "not-steady").expect("it is spoken of");
    assert_eq!(line.verdict, Outcome::Abstain);
    assert!(line.why.contains("30 are needed to tell whether it held its rate"), "{}", line.why);
}

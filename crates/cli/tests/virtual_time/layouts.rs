//! Layouts of simulated hosts, on a device that shows which address went to which unit.

use crate::common::{Bench, Said};
use serde_json::Value;

/// Four units behind stripes of 16 KiB, each with a queue of its own: 4 / 60 us = 66,667 reads a second where each has
/// one request at a time.
const STRIPED: &str = r#"
name = "striped"
summary = "four units behind stripes of 16 KiB"
capacity = "1GiB"
[flash]
units = 4
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
placement = "static"
"#;
const TRUE_IOPS: f64 = 4.0 / 60e-6;

fn said(bench: &Bench, words: &[&str]) -> Said {
    std::fs::write(bench.path("striped.toml"), STRIPED).unwrap();
    let target = format!("sim:{}", bench.path("striped.toml").display());
    let common =
        ["--rw", "randread", "--bs", "16k", "--time", "2s", "--size", "64MiB", "--quiet", "--seed", "5"];
    bench.iosonde(&[&["point", &target], &common[..], words].concat())
}

fn read(words: &[&str]) -> Value {
    let said = said(&Bench::new(), &[words, &["--json"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).expect("stdout holds one JSON document")
}

fn iops(document: &Value) -> f64 {
    document["trials"].as_array().unwrap().last().unwrap()["read"]["iops"].as_f64().unwrap()
}

#[test]
fn strided_blocks_give_each_worker_a_unit_of_its_own() {
    // Worker w of W has the blocks k W + w: with as many workers as units, and blocks of a stripe, always one unit.
    for words in [
        &["--hosts", "4", "--layout", "shared-strided"][..],
        &["--hosts", "4", "--layout", "shared-strided", "--rotate"],
        &["--hosts", "2", "--jobs", "2", "--layout", "shared-strided"],
        &["--jobs", "4", "--layout", "shared-strided"],
    ] {
        let iops = iops(&read(words));
        assert!((iops / TRUE_IOPS - 1.0).abs() < 0.005, "{words:?}: {iops} and not 66,667");
    }
}

#[test]
fn in_other_layouts_workers_meet_at_the_units() {
    for layout in ["shared", "shared-segmented", "file-per-host", "file-per-worker"] {
        let document = read(&["--hosts", "4", "--layout", layout]);
        assert_eq!(document["run"]["device"]["layout"], layout);
        // Four requests at random units leave a unit idle in some part of the time.
        let iops = iops(&document);
        assert!(iops < 0.9 * TRUE_IOPS && iops > 0.4 * TRUE_IOPS, "{layout}: {iops}");
    }
}

#[test]
fn hosts_without_a_layout_share_the_device_as_before() {
    let document = read(&["--hosts", "4"]);
    assert_eq!(document["run"]["device"]["layout"], "shared");
    assert_eq!(document["run"]["device"]["working_set_bytes"], 64 << 20);
    assert!(read(&[])["run"]["device"].get("layout").is_none(), "one host has none");
}

#[test]
fn parts_of_hosts_must_fit_the_device() {
    let bench = Bench::new();
    let parts = said(&bench, &["--hosts", "32", "--layout", "shared-segmented"]);
    assert_eq!(parts.code, 2, "{}", parts.out);
    assert!(parts.err.contains("--size 64 MiB does not fit"), "{}", parts.err);
    let shared = said(&bench, &["--hosts", "32", "--layout", "shared"]);
    assert_eq!(shared.code, 0, "{}", shared.err);
}

#[test]
fn layouts_that_make_no_sense_are_bad_usage() {
    let bench = Bench::new();
    for (words, sentence) in [
        (&["--rotate"][..], "there is one host"),
        (&["--hosts", "2", "--rotate"], "--layout shared has none"),
        (
            &["--hosts", "2", "--layout", "shared-strided", "--align", "4k"],
            "--align and --stride in blocks of 16 KiB",
        ),
        (&["--hosts", "2", "--layout", "shared", "--verify"], "--verify needs a part in one piece"),
        (&["--hosts", "2", "--layout", "strided"], "invalid value 'strided' for '--layout <HOW>'"),
        (
            &["--layout", "strided"],
            "file-per-host, file-per-worker, shared-segmented, shared-strided, shared",
        ),
    ] {
        let said = said(&bench, words);
        assert_eq!(said.code, 2, "{words:?}: {}", said.out);
        assert!(said.err.contains(sentence), "{words:?}: {}", said.err);
    }
}

#[test]
fn a_comparison_says_that_layouts_differ() {
    let bench = Bench::new();
    for layout in ["shared", "shared-strided"] {
        let said = said(&bench, &["--hosts", "4", "--layout", layout, "--label", layout]);
        assert_eq!(said.code, 0, "{}", said.err);
        let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&format!("4 hosts, layout {layout}")), "{words}");
    }
    let compared = bench.iosonde(&["compare", "shared", "shared-strided"]);
    assert!(compared.out.contains("layout"), "{}{}", compared.out, compared.err);
    assert!(compared.out.contains("shared-strided"), "{}{}", compared.out, compared.err);
}

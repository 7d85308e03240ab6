//! `spec`: a run against a vendor's sheet, on the sheet's own simulated drive, fresh and steady, and on 2 GiB of it.

mod common;

use common::Bench;
use serde_json::Value;

const STUDY: &str = r#"
name = "small"
question = "Does it do what the sheet says?"
time = "8s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = [128, 256]
"#;

fn lines(bench: &Bench, target: &str, size: &str) -> Vec<Value> {
    bench.text("small.toml", STUDY);
    let ran = bench.iosonde(&["run", "small.toml", target, "--rounds", "5", "--seed", "1", "--size", size]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let said = bench.iosonde(&["spec", "last", "d7-p5600", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    document["lines"].as_array().unwrap().clone()
}

#[test]
fn a_fresh_drive_is_above_and_a_steady_one_meets() {
    let bench = Bench::new();
    let fresh = lines(&bench, "sim:d7-p5600", "1.6TB");
    assert_eq!(fresh[2]["verdict"], "meets", "{}", fresh[2]);
    assert_eq!(fresh[3]["verdict"], "above", "{}", fresh[3]);
    assert!(fresh[3]["why"].as_str().unwrap().contains("suspicious rather than good"));
    assert_eq!(fresh[0]["verdict"], "not comparable", "sequential reads were not measured");
    let steady = lines(&bench, "sim:d7-p5600-steady", "1.6TB");
    assert_eq!(steady[2]["verdict"], "meets", "{}", steady[2]);
    assert_eq!(steady[3]["verdict"], "meets", "{}", steady[3]);
    let text = bench.iosonde(&["spec", "last", "d7-p5600"]).out;
    assert!(text.contains("random write, 100 % span") && text.contains("meets"), "{text}");
}

#[test]
fn a_part_of_a_drive_is_not_comparable_and_says_why() {
    let bench = Bench::new();
    let part = lines(&bench, "sim:d7-p5600", "2GiB");
    assert!(part.iter().all(|line| line["verdict"] == "not comparable"), "{part:?}");
    assert!(part[3]["why"].as_str().unwrap().contains("span 2 GiB of"), "{}", part[3]);
    assert_eq!(bench.iosonde(&["spec", "last", "--claim", "randread 4k 9000000", "--strict"]).code, 3);
    bench.iosonde(&["spec", "last", "--claim", "randread 4k many"]).refused(&["as in"]);
    bench.iosonde(&["spec", "last", "d7-p560"]).refused(&["did you mean `d7-p5600`"]);
    bench.iosonde(&["spec", "last"]).refused(&["sheet"]);
    let listed = bench.iosonde(&["specs"]).out;
    assert!(listed.contains("d7-p5600") && listed.contains("samsung-990-pro"), "{listed}");
}

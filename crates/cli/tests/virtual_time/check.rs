//! `check`: storage against a documented requirement, on simulated queues whose 99th percentile is known.

use crate::common::Bench;
use serde_json::Value;

/// A queue whose service is lognormal with a variation of 0.5: p99 = mean x exp(2.3263 x 0.4724 - 0.1116), or 2.684
/// means.
fn device(mean: &str) -> String {
    format!(
        "name = \"x\"\nsummary = \"known tail\"\ncapacity = \"64MiB\"\n[queue]\nservers = 1\n\
         service = {{ lognormal = {{ mean = \"{mean}\", cv = 0.5 }} }}\n[faults]\n\
         stuck = {{ at = \"20s\", for = \"50ms\" }}\n"
    )
}

fn check(bench: &Bench, more: &[&str]) -> crate::common::Said {
    let target = format!("sim:{}", bench.path("device.toml").display());
    bench.iosonde(&[&["check", "etcd", &target, "--seed", "5"], more].concat())
}

#[test]
fn a_tail_below_the_limit_passes_and_one_above_fails() {
    let bench = Bench::new();
    // 2.684 x 2.98 ms = 8.0 ms, and x 4.47 ms = 12.0 ms.
    for (mean, code, word) in [("2.98ms", 0, "PASS"), ("4.47ms", 3, "FAIL")] {
        bench.text("device.toml", &device(mean));
        let said = check(&bench, &[]);
        assert_eq!(said.code, code, "{} {}", said.out, said.err);
        assert!(said.out.starts_with(word) && said.out.lines().count() <= 12, "{}", said.out);
        assert!(said.out.contains("commit p99") && said.out.contains("2019-04-18"), "{}", said.out);
    }
}

#[test]
fn at_the_limit_itself_few_runs_decide() {
    let bench = Bench::new();
    // 2.684 x 3.7258 ms = 10.0 ms. Where 5 % decide, more than 3 of 12 do with a probability of 0.2 %.
    bench.text("device.toml", &device("3.7258ms"));
    let target = format!("sim:{}", bench.path("device.toml").display());
    let mut decided = 0;
    for seed in 1..=12 {
        let said = bench.iosonde(&["check", "etcd", &target, "--seed", &seed.to_string()]);
        match said.code {
            4 => assert!(
                said.out.starts_with("INCONCLUSIVE") && said.out.contains("to settle"),
                "{}",
                said.out
            ),
            0 | 3 => decided += 1,
            _ => panic!("{}{}", said.out, said.err),
        }
    }
    assert!(decided <= 3, "{decided} of 12 decided");
}

#[test]
fn the_answer_is_in_the_document_the_junit_file_and_shown_again() {
    let bench = Bench::new();
    bench.text("device.toml", &device("4.47ms"));
    let junit = bench.path("check.xml");
    let said = check(&bench, &["--json", "--junit", junit.to_str().unwrap()]);
    assert_eq!(said.code, 3, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let answer = &document["requirement"];
    assert_eq!((answer["verdict"].as_str(), answer["name"].as_str()), (Some("fail"), Some("etcd")));
    let limit = &answer["limits"][0];
    let (low, high) = (limit["low"].as_f64().unwrap(), limit["high"].as_f64().unwrap());
    assert!(low < 12.0e6 && 12.0e6 < high && limit["limit"] == 1e7, "{limit}");
    // The point has the same percentile: one figure has one interval.
    assert_eq!(document["points"][0]["commit"]["latency_ns_p99"]["value"], limit["value"]);
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("failures=\"1\"") && xml.contains("message=\"commit p99"), "{xml}");
    let shown = bench.iosonde(&["show"]);
    assert!(shown.code == 0 && shown.out.starts_with("FAIL"), "{}", shown.out);
    assert!(bench.iosonde(&["export", "last", "-f", "csv", "-o", "-"]).out.contains("commit_us_p99"));
}

#[test]
fn what_cannot_be_checked_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.text("device.toml", &device("1ms"));
    bench.iosonde(&["check", "etdc", "sim:ideal"]).refused(&["did you mean `etcd`?"]);
    bench.text(
        "own.toml",
        "name = 'x'\nsummary = ''\nwhy = ''\nsource = ''\nsource_date = '2026'\nlimit = []\n",
    );
    bench.iosonde(&["check", "own.toml", "sim:ideal"]).refused(&["requirement own.toml:4:10", "`source`"]);
    bench.iosonde(&["check", "etcd", "sim:ideal", "--read-only"]).refused(&["--read-only", "etcd"]);
    let there = bench.file("there", 1);
    bench.iosonde(&["check", "etcd", there.to_str().unwrap()]).refused(&["--destroy"]);
    assert_eq!(std::fs::metadata(there).unwrap().len(), 1 << 20);
    let listed = bench.iosonde(&["requirements"]).out;
    assert!(listed.contains("etcd") && listed.contains("android-storage"), "{listed}");
    assert!(bench.iosonde(&["requirements", "etcd"]).out.contains("source_date"));
}

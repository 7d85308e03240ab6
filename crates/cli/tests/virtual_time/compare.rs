//! `run --repeats` and `compare`, on simulated storage whose ratio is known.

use crate::common::Bench;
use serde_json::Value;

/// A plain queue with one server: a fixed service time, so many microseconds, and a run effect of 1 %.
fn device(bench: &Bench, name: &str, service_us: u32) -> String {
    let text = format!(
        "name = \"{name}\"\nsummary = \"one server\"\ncapacity = \"4GiB\"\n[queue]\nservers = 1\nservice = {{ fixed = \
         \"{service_us}us\" }}\n[noise]\nrun_effect = 0.01\npoint_run_effect = 0.01\n"
    );
    format!("sim:{}", bench.text(&format!("{name}.toml"), &text).display())
}

const STUDY: &str = r#"
name = "small"
question = "How fast?"
time = "12s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = [1, 2, 4]
"#;

fn measured(bench: &Bench, label: &str, service_us: u32, seed: &str) {
    let target = device(bench, label, service_us);
    let words =
        ["run", "small.toml", &target, "--repeats", "5", "--label", label, "--seed", seed, "--rounds", "5"];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("5 repeats: "), "{}", said.out);
}

/// The lines about one figure.
fn of_figure<'a>(document: &'a Value, figure: &str) -> Vec<&'a Value> {
    let lines = document["comparisons"].as_array().unwrap();
    lines.iter().filter(|line| line["figure"] == figure).collect()
}

#[test]
fn repeats_of_two_devices_give_their_ratio() {
    let bench = Bench::new();
    bench.text("small.toml", STUDY);
    measured(&bench, "slow", 120, "1");
    measured(&bench, "fast", 100, "100");
    let said = bench.iosonde(&["compare", "slow", "fast", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let pair = &document["pairs"][0];
    assert_eq!(pair["unit"], "repeat");
    // 120 µs / 100 µs.
    let mean = &pair["geometric_means"][0];
    let holds = |line: &Value| line["low"].as_f64().unwrap() <= 1.2 && 1.2 <= line["high"].as_f64().unwrap();
    assert!(holds(mean), "{mean}");
    assert_eq!(mean["verdict"], "faster");
    let lines = of_figure(&document, "iops");
    assert_eq!(lines.len(), 6);
    assert!(lines.iter().all(|line| holds(line)), "{lines:?}");
    assert_eq!(of_figure(&document, "latency_ns_p99").len(), 6);
    assert_eq!(pair["p99_means"][0]["verdict"], "faster", "{pair}");
    let text = bench.iosonde(&["compare", "slow", "fast"]).out;
    assert!(text.contains("\nCOMPARED  fast is ") && text.contains(" % faster than slow (95"), "{text}");
    assert!(pair["sentence"].as_str().unwrap().ends_with("each side ran 5 times)."), "{pair}");

    // The other way round something is slower, and --strict says so with its code.
    let said = bench.iosonde(&["compare", "fast", "slow", "--strict"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert_eq!(bench.iosonde(&["compare", "slow", "fast", "--strict"]).code, 0);
    assert_eq!(bench.iosonde(&["compare", "slow", "--baseline", "fast", "--strict"]).code, 3);
}

#[test]
fn what_cannot_be_compared_is_refused_in_words() {
    let bench = Bench::new();
    bench.text("small.toml", STUDY);
    let target = device(&bench, "one", 100);
    assert_eq!(bench.iosonde(&["run", "small.toml", &target, "--rounds", "5", "--seed", "3"]).code, 0);
    bench.iosonde(&["compare", "last"]).refused(&["alone cannot be compared"]);
    bench.iosonde(&["compare", "last", "last"]).refused(&["named twice"]);
    bench.iosonde(&["compare", "last", "nobody"]).refused(&["nobody"]);
    bench.iosonde(&["compare", "last", "last", "--figure", "iop"]).refused(&["did you mean `iops`"]);
    bench.iosonde(&["compare", "last", "last", "--margin", "80%"]).refused(&["between 0% and 50%"]);
    bench.iosonde(&["run", "small.toml", &target, "--repeats", "1"]).refused(&["--repeats"]);
}

/// A published comparison of two laptops: sequential and random requests at QD 1.
const MACHINES: &str = r#"
name = "machines"
question = "What do requests of each size get?"
time = "20s"
[[experiment]]
kind = "block-size"
rw = ["read", "randread", "write", "randwrite"]
block_size = ["4k", "256k", "4M"]
"#;

#[test]
fn two_laptops_of_memory_are_as_far_apart_as_was_published_and_nothing_is_said_of_their_storage() {
    let bench = Bench::new();
    bench.text("machines.toml", MACHINES);
    for (name, seed) in [("mac-intel", "1"), ("mac-m1", "500")] {
        let device = format!("sim:{name}");
        let words = ["run", "machines.toml", &device, "--repeats", "5", "--label", name, "--seed", seed];
        let said = bench.iosonde(&[&words[..], &["--rounds", "8", "--size", "256MiB"]].concat());
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let said = bench.iosonde(&["compare", "mac-intel", "mac-m1", "--json"]);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let pair = &document["pairs"][0];
    assert_eq!((pair["about"].as_str(), pair["unit"].as_str()), (Some("program"), Some("repeat")));
    let sentence = pair["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("This compares memory, not the storage"), "{sentence}");
    // Seconds of a request: what a call costs and copying takes. 54 us and 1.01 GB/s against 18 us and 3 GB/s, writes
    // 324 us and 0.34 GB/s against 46 us and 2.4 GB/s.
    let truth = |op: &str, bytes: f64| match op {
        "read" => (54e-6 + bytes / 1.01e9) / (18e-6 + bytes / 3e9),
        _ => (324e-6 + bytes / 0.34e9) / (46e-6 + bytes / 2.4e9),
    };
    let holds = |told: &Value, value: f64| {
        told["low"].as_f64().unwrap() <= value && value <= told["high"].as_f64().unwrap()
    };
    let lines = of_figure(&document, "iops");
    assert_eq!(lines.len(), 12);
    for line in lines {
        let size = line["spec"]["block_size_bytes"].as_f64().unwrap();
        assert!(holds(line, truth(line["op"].as_str().unwrap(), size)), "{line}");
        assert!(
            line["why"].as_str().unwrap().contains("mac-m1 (repeat 1): invalid for the storage:"),
            "{line}"
        );
    }
    // "2.97x faster for reads and 7.07x times faster for writes."
    for (of, times) in [("all reads", 2.97), ("all writes", 7.07)] {
        let mean = pair["geometric_means"].as_array().unwrap().iter().find(|mean| mean["of"] == of).unwrap();
        assert!(holds(mean, times), "{mean}");
        assert_eq!(mean["verdict"], "faster");
    }
}

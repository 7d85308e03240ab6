//! Targets in turns: what a layer costs above its base, the odd one of several, and a run beside an earlier one.

use crate::common::Bench;
use serde_json::Value;

/// A plain queue with one server behind a link: times in microseconds.
fn device(bench: &Bench, name: &str, service_us: u32, link_us: u32) -> String {
    let text = format!(
        "name = \"{name}\"\nsummary = \"one server\"\ncapacity = \"4GiB\"\n[link]\nbandwidth = \"1GB/s\"\nlatency = \
         \"{link_us}us\"\n[queue]\nservers = 1\nservice = {{ lognormal = {{ mean = \"{service_us}us\", cv = 0.1 }} }}\n"
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
depth = [1, 4]
"#;

fn json(bench: &Bench, words: &[&str]) -> Value {
    let words: Vec<&str> = words.iter().copied().chain(["--json", "--quiet"]).collect();
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{words:?}: {}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn a_layer_costs_what_it_adds_and_resume_and_compare_say_so_too() {
    let bench = Bench::new();
    let (base, above) = (device(&bench, "base", 100, 5), device(&bench, "above", 100, 25));
    // A target alone is measured with the study `layers`.
    let document = json(&bench, &["run", "--over", &base, &above, "--time", "20s"]);
    let layer = &document["pairs"][0]["layer"];
    let added: Vec<&Value> =
        layer["lines"].as_array().unwrap().iter().filter_map(|line| line["cost"].get("added_ns")).collect();
    assert_eq!(added.len(), 3, "reads, writes and commits at QD 1: {layer}");
    for added in &added[..2] {
        let of = |end: &str| added[end].as_f64().unwrap();
        // 20 µs more on the way of each request.
        assert!(
            of("low") <= 20_000.0 && 20_000.0 <= of("high") && of("high") - of("low") < 4_000.0,
            "{added}"
        );
    }
    assert_eq!(layer["warnings"].as_array().unwrap().len(), 0, "{layer}");
    // The runs keep it: comparing them again needs no word.
    let ids: Vec<&str> = document["sides"]
        .as_array()
        .unwrap()
        .iter()
        .map(|side| side["runs"][0]["id"].as_str().unwrap())
        .collect();
    let again = json(&bench, &["compare", ids[0], ids[1]]);
    assert_eq!(again["pairs"][0]["layer"], *layer);
    let shown = bench.iosonde(&["compare", ids[0], ids[1]]);
    assert!(shown.out.contains("\nLAYER") && shown.out.contains("cost of the layer"), "{}", shown.out);
    let page = bench.iosonde(&["report", ids[0], ids[1], "-f", "md"]);
    assert_eq!(page.code, 0, "{}", page.err);
}

#[test]
fn the_study_of_a_layer_on_one_target_names_what_it_lacks() {
    let bench = Bench::new();
    let above = device(&bench, "above", 100, 25);
    let asks = |words: &[&str]| bench.iosonde(words).err.contains(&format!("--over BASE {above}"));
    assert!(asks(&["run", "layers", &above, "--time", "10s"]));
    assert!(!asks(&["run", "layers", &above, "--time", "10s", "--over", &above]));
}

#[test]
fn a_layer_that_is_faster_than_its_base_is_named_as_a_cache() {
    let bench = Bench::new();
    bench.text("small.toml", STUDY);
    let (base, cache) = (device(&bench, "base", 100, 5), device(&bench, "cache", 30, 5));
    let document = json(&bench, &["run", "small.toml", "--over", &base, &cache]);
    let warnings = document["pairs"][0]["layer"]["warnings"].to_string();
    assert!(
        warnings.contains("caches what it reads") && warnings.contains("holds writes back"),
        "{warnings}"
    );
    // Two ordinary runs, of which the user says it afterwards.
    json(&bench, &["run", "small.toml", &base, "--label", "below"]);
    json(&bench, &["run", "small.toml", &cache, "--label", "through"]);
    assert!(json(&bench, &["compare", "below", "through"])["pairs"][0].get("layer").is_none());
    let told = json(&bench, &["compare", "--over", "below", "through"]);
    assert_eq!(told["pairs"][0]["layer"]["warnings"].as_array().unwrap().len(), 2, "{told}");
}

#[test]
fn one_slow_drive_of_five_is_named() {
    let bench = Bench::new();
    bench.text("small.toml", STUDY);
    let times = [100, 100, 112, 100, 100];
    let each: Vec<String> =
        times.iter().enumerate().map(|(nth, us)| device(&bench, &format!("drive{nth}"), *us, 5)).collect();
    let mut words = vec!["run", "small.toml"];
    words.extend(each.iter().map(String::as_str));
    let odd = json(&bench, &words)["odd_sides"].clone();
    let named = odd["odd"].as_array().unwrap();
    assert_eq!(named.len(), 1, "{odd}");
    assert_eq!(named[0]["name"], each[2]);
    // 105 µs / 117 µs at QD 1, 100 / 112 at QD 4.
    let of = |end: &str| named[0]["ratio"][end].as_f64().unwrap();
    assert!(of("low") <= 0.895 && 0.895 <= of("high") + 0.005, "{odd}");
    assert_eq!(odd["sides"], 5);
}

#[test]
fn a_run_beside_an_earlier_one_says_whether_the_storage_is_slower() {
    let bench = Bench::new();
    bench.text("small.toml", STUDY);
    let (new, old) = (device(&bench, "new", 100, 5), device(&bench, "old", 125, 5));
    json(&bench, &["run", "small.toml", &new, "--label", "new"]);
    // The target alone: the study, size and seed are the earlier run's.
    let said = bench.iosonde(&["run", &old, "--against", "new", "--strict"]);
    // 105 and 100 µs against 130 and 125: the geometric mean is 0.804.
    assert!(said.out.contains("COMPARED  now is 19."), "{}", said.out);
    assert!(said.out.contains(" % slower than "), "{}", said.out);
    assert_eq!(said.code, 3, "--strict: {}", said.err);
    assert!(said.err.contains("slower in these two runs"), "one run each has no interval: {}", said.err);
    let in_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(in_one_line(&said.out).contains("of two places, and not of time"), "{}", said.out);
    let same = bench.iosonde(&["run", &new, "--against", "new"]);
    assert!(
        same.out.contains("now is as fast as ") && !in_one_line(&same.out).contains("of two places"),
        "{}",
        same.out
    );
    bench.text("other.toml", &STUDY.replace("4k", "16k"));
    let nothing = bench.iosonde(&["run", "other.toml", &new, "--against", "new", "--strict"]);
    assert_eq!(nothing.code, 3, "nothing was compared: {}{}", nothing.out, nothing.err);
    assert_eq!(same.code, 0, "{}", same.err);
    let unknown = bench.iosonde(&["run", &new, "--against", "nobody"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    let several = bench.iosonde(&["run", "small.toml", &new, &old, "--against", "new"]);
    assert_eq!(several.code, 2, "{}", several.err);
}

/// What was measured since the earlier run may have changed as well: it is no measure of how much equal runs differ.
#[test]
fn a_regression_is_told_each_time_that_it_is_looked_for() {
    let bench = Bench::new();
    bench.text("small.toml", STUDY);
    let drive = device(&bench, "drive", 100, 5);
    for label in ["base", "second", "third"] {
        json(&bench, &["run", "small.toml", &drive, "--label", label]);
    }
    device(&bench, "drive", 125, 5);
    for nth in 0..3 {
        let said = bench.iosonde(&["run", &drive, "--against", "base", "--strict"]);
        assert!(said.out.contains("slower than base"), "{nth}: {}", said.out);
        assert_eq!(said.code, 3, "{nth}: {}", said.err);
    }
}

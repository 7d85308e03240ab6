//! `iosonde cold`: volumes whose data are fetched when they are first read, and volumes that have them.

use iosonde_model::{Cold, ColdVerdict, Estimate};

use crate::common::Bench;

/// 512 KiB at 60 MB/s after 10 ms, below a volume that answers in 500 us on 32 servers and moves 250 MB/s.
fn restored(present_percent: u32) -> String {
    format!(
        "name = \"restored\"\nsummary = \"a volume made from a snapshot\"\ncapacity = \"100GB\"\n\
         [link]\nbandwidth = \"250MB/s\"\nslots = 128\n[queue]\nservers = 32\nservice = {{ fixed = \"500us\" }}\n\
         [snapshot]\nchunk = \"512KiB\"\nlatency = \"10ms\"\nbandwidth = \"60MB/s\"\npresent = \"{present_percent}%\"\n"
    )
}

fn found(bench: &Bench, target: &str, seed: u64, due: i32) -> Cold {
    let seed = seed.to_string();
    let said = bench.iosonde(&["cold", target, "--seed", &seed, "--json", "-q"]);
    assert_eq!(said.code, due, "{target}: {}", said.err);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}", said.out))
}

fn holds(estimate: &Estimate, truth: f64) -> bool {
    let ends = estimate.low.zip(estimate.high);
    ends.is_some_and(|(low, high)| (low..=high).contains(&truth))
}

#[test]
fn a_restored_volume_is_cold_with_its_share_and_the_time_to_warm_it() {
    let bench = Bench::new();
    bench.text("restored.toml", &restored(25));
    let (mut shares, mut times, seeds) = (0, 0, 20);
    for seed in 1..=seeds {
        let cold = found(&bench, "sim:restored.toml", seed, 3);
        assert_eq!(cold.verdict, ColdVerdict::Cold);
        shares += u32::from(holds(&cold.slow_share, 0.75));
        // 75 of 100 GB at 60 MB/s.
        assert!((cold.read_all_s.value / 1250.0 - 1.0).abs() < 0.05, "{cold:?}");
        times += u32::from(holds(&cold.read_all_s, 1250.0));
        assert!(cold.elapsed_s < 120.0, "{cold:?}");
    }
    // Of 20 intervals at 95 %, fewer than 16 hold the truth in one of 390 tries.
    assert!(shares >= 16 && times >= 16, "{shares} and {times} of {seeds}");
}

#[test]
fn the_latency_of_a_fetch_is_that_of_the_store() {
    let bench = Bench::new();
    bench.text("restored.toml", &restored(0));
    let cold = found(&bench, "sim:restored.toml", 7, 3);
    // 10 ms + 512 KiB / 60 MB/s longer than the second time.
    let fetch_ns = cold.latency_ns.first.value - cold.latency_ns.again.value;
    assert!((fetch_ns / 18.738e6 - 1.0).abs() < 0.001, "{fetch_ns}");
    assert!(cold.slow_share.value > 0.99, "{cold:?}");
}

#[test]
fn devices_that_have_their_data_are_warm() {
    let bench = Bench::new();
    bench.text("whole.toml", &restored(100));
    for target in ["sim:whole.toml", "sim:sata-ssd", "sim:hdd-7200", "sim:cloud-gp3"] {
        assert_eq!(found(&bench, target, 3, 0).verdict, ColdVerdict::Warm, "{target}");
    }
}

#[test]
fn a_screen_says_what_is_slower_and_what_to_do() {
    let bench = Bench::new();
    bench.text("restored.toml", &restored(25));
    let said = bench.iosonde(&["cold", "sim:restored.toml", "--seed", "1", "-q"]);
    insta::assert_snapshot!(said.out);
}

#[test]
fn the_page_has_the_figures_of_the_document_and_replaces_nothing_of_others() {
    let bench = Bench::new();
    bench.text("restored.toml", &restored(25));
    let words = ["cold", "sim:restored.toml", "--seed", "1", "-q"];
    let cold = found(&bench, "sim:restored.toml", 1, 3);
    let ask = |more: &[&str]| bench.iosonde(&[&words[..], more].concat());
    let said = ask(&["-o", "cold.html", "--json=cold.json"]);
    assert!(said.code == 3 && said.out.contains("report  cold.html"), "{} {}", said.out, said.err);
    let page = std::fs::read_to_string(bench.path("cold.html")).unwrap();
    let kept: Cold =
        serde_json::from_str(&std::fs::read_to_string(bench.path("cold.json")).unwrap()).unwrap();
    assert_eq!((kept.slow_share, kept.latency_ns), (cold.slow_share, cold.latency_ns));
    let slowdown = format!("{:.1}", cold.latency_ns.slowdown.value);
    for part in
        ["<p class=\"headline bad\">Cold</p>", &slowdown, "chart-first-and-second-reads", "restored.toml"]
    {
        assert!(page.contains(part), "{part}");
    }
    // A quarter of the places has its data: its first reads are as fast as second ones.
    let times = &cold.single_ns;
    let [first, again] = [&times[0], &times[1]].map(|times| times.quantile_ns(0.1).unwrap());
    assert!((first / again - 1.0).abs() < 0.05, "{first} {again}");
    assert!(ask(&["-o", "-"]).out.starts_with("<!DOCTYPE html>"));
    assert_eq!(ask(&["-o", "cold.html"]).code, 3);
    bench.text("notes.html", "mine");
    let bad: [(&[&str], &str); 3] = [
        (&["-o", "notes.html"], "is no result"),
        (&["-o", "restored.toml"], "what this command reads"),
        (&["-o", "x", "--json=x"], "same file"),
    ];
    for (refused, due) in bad {
        let said = ask(refused);
        assert!(said.code == 2 && said.err.contains(due), "{} {}", said.code, said.err);
    }
    assert_eq!(std::fs::read_to_string(bench.path("notes.html")).unwrap(), "mine");
}

#[test]
fn what_is_too_small_or_in_memory_is_refused() {
    let bench = Bench::new();
    bench.file("data", 64);
    let small = bench.iosonde(&["cold", "data"]);
    assert!(small.code == 2 && small.err.contains("need 320 MiB"), "{}", small.err);
    let none = bench.iosonde(&["cold", "nothing-here"]);
    assert!(none.code == 2 && none.err.contains("nothing-here"), "{}", none.err);
    let folder = bench.iosonde(&["cold", "./"]);
    assert!(folder.code == 2, "{} {}", folder.code, folder.err);
}

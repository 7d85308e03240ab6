//! `run STUDY A B`: targets that take turns, compared in pairs.

mod common;

use std::collections::BTreeSet;

use common::{Bench, SMALL_STUDY};
use iosonde_model::{DeviceNote, Phase, RunState};
use iosonde_report::Document as Run;
use serde_json::Value;

/// A plain queue with one server and noise of 5 %.
fn device(bench: &Bench, name: &str, service_us: u32) -> String {
    let text = format!(
        "name = \"{name}\"\nsummary = \"one server\"\ncapacity = \"4GiB\"\n[queue]\nservers = 1\nservice = {{ fixed = \
         \"{service_us}us\" }}\n[noise]\nrate_cv_100ms = 0.05\nlag1_100ms = 0.5\n"
    );
    format!("sim:{}", bench.text(&format!("{name}.toml"), &text).display())
}

fn shown(bench: &Bench, reference: &str) -> Run {
    let said = bench.iosonde(&["show", reference, "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn two_devices_take_turns_and_their_ratio_is_known() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let (slow, fast) = (device(&bench, "slow", 120), device(&bench, "fast", 100));
    let words = ["run", "small.toml", &slow, &fast, "--seed", "7", "--label", "slow,fast", "--json"];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("in turn"), "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let pair = &document["pairs"][0];
    let lines = document["comparisons"].as_array().unwrap().iter().filter(|line| line["figure"] == "iops");
    let lines: Vec<&Value> = lines.collect();
    // 120 µs / 100 µs.
    let holds = |line: &Value| line["low"].as_f64().unwrap() <= 1.2 && 1.2 <= line["high"].as_f64().unwrap();
    assert!(holds(&pair["geometric_means"][0]), "{pair}");
    assert_eq!(pair["geometric_means"][0]["verdict"], "faster");
    assert!(lines.len() == 4 && lines.iter().all(|line| holds(line)), "{lines:?}");
    let sentence = pair["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("fast is ") && sentence.contains(" faster than slow "), "{sentence}");
    assert!(sentence.contains("in alternating trials). With one run of each"), "{sentence}");

    let (a, b) = (shown(&bench, "slow"), shown(&bench, "fast"));
    assert_eq!(
        (&a.info.in_turn_with, &b.info.in_turn_with),
        (&vec![b.info.id.clone()], &vec![a.info.id.clone()])
    );
    assert_eq!((a.info.state, b.info.state), (RunState::Done, RunState::Done));
    // One order for both, from one seed, and noise of their own.
    let order = |run: &Run| -> Vec<(u32, Option<usize>)> {
        let first = run.trials.iter().filter(|trial| trial.round == 1);
        first.map(|trial| (trial.round, trial.point)).collect()
    };
    assert_eq!(order(&a), order(&b));
    assert_eq!(a.info.seed, b.info.seed);
    let rates = |run: &Run| -> Vec<f64> {
        let level = if run.info.label.as_deref() == Some("slow") { 1e6 / 120.0 } else { 1e6 / 100.0 };
        let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
        measured.map(|trial| (trial.iops() / level * 1000.0).round()).take(8).collect()
    };
    assert_ne!(rates(&a), rates(&b));

    // Every other command takes the two as any others.
    let text = bench.iosonde(&["compare", "slow", "fast"]).out;
    assert!(
        text.split_whitespace().collect::<Vec<_>>().join(" ").contains("in alternating trials"),
        "{text}"
    );
    assert_eq!(bench.iosonde(&["run", "--add=slow", "--rounds", "2"]).code, 0);
    let page = std::fs::read_dir(bench.folder.path()).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        (name.contains(&format!("{}-{}", a.info.id, b.info.id))).then_some(name)
    });
    assert_eq!(page.count(), 1);
}

#[test]
fn three_targets_are_ranked_and_the_screen_says_how_to_go_on() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let all = [device(&bench, "a", 100), device(&bench, "b", 150), device(&bench, "c", 200)];
    let said = bench.iosonde(&["run", "small.toml", &all[0], &all[1], &all[2], "--seed", "3"]);
    assert_eq!(said.code, 0, "{}", said.err);
    // Device a answers after 100 µs, so that it is the first; two pairs have a table each, too.
    assert!(said.out.contains("COMPARED") && said.out.contains("throughput against"), "{}", said.out);
    for word in ["FROM FASTEST TO SLOWEST", "VALID", "iosonde compare ", "iosonde show "] {
        assert!(said.out.contains(word), "{word}: {}", said.out);
    }
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("Workloads are compared with")
            && words.contains("only; for another pair: `iosonde compare "),
        "{words}"
    );
    // They are called by what was measured, since they have no names.
    assert!(said.out.contains("a.toml") && said.out.contains("c.toml"), "{}", said.out);

    let fourth = device(&bench, "d", 400);
    let said = bench.iosonde(&["run", "small.toml", &all[0], &all[1], &all[2], &fourth, "--seed", "3"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let places: Vec<&str> =
        said.out.lines().filter(|line| line.contains("slower") && line.starts_with("  ")).collect();
    assert!(places.iter().any(|line| line.starts_with("  4. ") && line.contains("d.toml")), "{}", said.out);
    assert!(!said.out.contains("COMPARED"), "of four, the ranking has the ratios: {}", said.out);
}

#[test]
fn a_simulated_device_and_a_folder_take_turns_over_equal_sizes() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let model = device(&bench, "model", 100);
    let words =
        ["run", "small.toml", ".", &model, "--size", "32MiB", "--rounds", "5", "--label", "real,model"];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    let (real, model) = (shown(&bench, "real"), shown(&bench, "model"));
    let size = |run: &Run| run.info.device.working_set_bytes;
    assert_eq!(size(&real), size(&model));
    assert!(real.trials.iter().any(|trial| trial.phase == Phase::Prepare));
    let names: BTreeSet<String> = common::names_in(bench.folder.path()).into_iter().collect();
    assert!(names.iter().all(|name| !name.starts_with(".iosonde")), "{names:?}");
}

#[test]
fn two_folders_of_one_device_are_said_to_be_that() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    for folder in ["a", "b"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let words = ["run", "small.toml", "a", "b", "--size", "16MiB", "--rounds", "5", "--label", "a,b"];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    // A file system without a device (tmpfs) has no name to say it by.
    let run = shown(&bench, "a");
    let one_device = |note: &DeviceNote| matches!(note, DeviceNote::OneDevice { .. });
    let noted = run.info.device.notes.iter().any(one_device);
    assert_eq!(noted, run.info.device.name.is_some(), "{:?}", run.info.device);
}

#[test]
fn an_interrupted_turn_goes_on_with_both() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let model = device(&bench, "model", 100);
    let words = ["run", "small.toml", ".", &model, "--size", "16MiB", "--seed", "5"];
    let said = bench.after_trials(&words, 12).interrupt();
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(said.err.contains("Go on with all of them:  iosonde resume"), "{}", said.err);
    let said = bench.iosonde(&["resume", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["sides"].as_array().unwrap().len(), 2, "{document}");
    let listed: Value = serde_json::from_str(&bench.iosonde(&["ls", "--json"]).out).unwrap();
    let states: Vec<&str> =
        listed.as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["done", "done"]);
}

#[test]
fn a_plan_for_several_targets_is_a_plan_for_each_with_the_sum() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let (a, b) = (device(&bench, "a", 100), device(&bench, "b", 150));
    let said = bench.iosonde(&["run", "small.toml", &a, &b, "--dry-run"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out.matches("4 points and a canary").count(), 2, "{}", said.out);
    assert!(said.out.contains("2 targets in turn: 11 s of measuring in all"), "{}", said.out);
}

#[test]
fn what_cannot_take_turns_is_refused_before_anything_is_measured() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let a = device(&bench, "a", 100);
    let refused = |words: &[&str], said: &[&str]| bench.iosonde(words).refused(said);
    refused(&["run", "small.toml", &a, &a], &["is named twice", "--repeats"]);
    refused(&["run", "small.toml", "sim:ideal", "sim:ideal"], &["is named twice"]);
    let here = bench.folder.path().display().to_string();
    refused(&["run", "small.toml", ".", &here], &["are the same place"]);
    bench.file("one", 1);
    std::fs::hard_link(bench.path("one"), bench.path("two")).unwrap();
    refused(&["run", "small.toml", "one", "two", "--read-only"], &["`one` and `two` are the same place"]);
    refused(&["run", &a, "sim:ideal", "sim:sata-ssd"], &["is a target", "iosonde run quick"]);
    refused(&["run", "small.toml", &a, "quick", "sim:ideal"], &["`quick` is a study"]);
    refused(&["run", "small.toml", &a, "nowhere"], &["no target `nowhere`", "needs quotes"]);
    refused(&["run", "small.toml", &a, "sim:nothing"], &["nothing"]);
    refused(&["run", "small.toml", &a, "sim:ideal", "--repeats", "2"], &["--repeats takes one target"]);
    refused(&["run", "--like", "last", "small.toml", &a, "sim:ideal"], &["--like"]);
    refused(&["run", "small.toml", &a, "sim:ideal", "--label", "x,y,z"], &["3 names for 2 targets"]);
    refused(&["run", "small.toml", &a, "sim:ideal", "--label", "last,x"], &["neither empty nor `last`"]);
    refused(&["run", "spec", "--sheet", "nonsense", &a, "sim:ideal"], &["no sheet named `nonsense`"]);
    refused(&["run", "spec", "--sheet", "d7-p5600", "--set", "depth=1", &a], &["has a depth of its own"]);
    refused(&["run", "small.toml", &a, "sim:ideal", "--destroy=a,b,c"], &["3 identities for 2 targets"]);
    refused(&["run", "small.toml", &a, "sim:ideal", "--time", "1s"], &["too short", "would do"]);
    assert!(!bench.path("notebook.db").exists() || bench.iosonde(&["ls", "--json"]).out.trim() == "[]");
}

/// `--json out.json` names one more target, and a word to overwrite that says no name must not reach it.
#[test]
fn among_several_targets_only_a_named_file_is_overwritten() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let (scratch, other) = (bench.file("scratch.img", 8), bench.file("other", 8));
    let before = [std::fs::read(&scratch).unwrap(), std::fs::read(&other).unwrap()];
    let refused =
        |words: &[&str]| bench.iosonde(words).refused(&["other. Nothing was touched", "--json=PATH"]);
    refused(&["run", "small.toml", "scratch.img", "--destroy", "--json", "other"]);
    refused(&["run", "small.toml", "sim:ideal", "other", "--destroy", "--dry-run"]);
    bench
        .iosonde(&["run", "small.toml", "scratch.img", "other", "--destroy=scratch.img"])
        .refused(&["other"]);
    assert_eq!(before, [std::fs::read(&scratch).unwrap(), std::fs::read(&other).unwrap()]);
    let words = ["run", "small.toml", "scratch.img", "other", "--destroy=scratch.img,other", "--rounds", "5"];
    let said = bench.iosonde(&[&words[..], &["--label", "a,b"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert_ne!(before[1], std::fs::read(&other).unwrap());
}

#[test]
fn the_limit_of_writing_and_the_confidence_are_those_that_were_asked_for() {
    let bench = Bench::new();
    let study = SMALL_STUDY.replace("\"randread\"", "\"randwrite\"").replace("\"read\", ", "");
    bench.text("writes.toml", &study);
    let (a, b) = (device(&bench, "a", 100), device(&bench, "b", 120));
    let words = ["run", "writes.toml", &a, &b, "--max-write", "1GiB", "--size", "64MiB"];
    let words: Vec<&str> =
        words.into_iter().chain(["--label", "a,b", "--confidence", "99%", "--json"]).collect();
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["pairs"][0]["confidence"].as_f64(), Some(0.99));
    let written = [shown(&bench, "a"), shown(&bench, "b")].map(|run| run.info.bytes_written);
    assert!(written.iter().all(|bytes| *bytes > 0) && written.iter().sum::<u64>() <= 1 << 30, "{written:?}");
}

#[test]
fn a_target_that_is_gone_holds_up_no_other() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let model = device(&bench, "model", 100);
    std::fs::create_dir(bench.path("gone")).unwrap();
    let words = ["run", "small.toml", "gone", &model, "--size", "16MiB", "--label", "a,b"];
    assert_eq!(bench.after_trials(&words, 12).interrupt().code, 130);
    std::fs::remove_dir_all(bench.path("gone")).unwrap();
    let said = bench.iosonde(&["resume"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("cannot go on: gone"), "{}", said.err);
    assert_eq!(shown(&bench, "b").info.state, RunState::Done);
    // Its own run waits for the target's return.
    std::fs::create_dir(bench.path("gone")).unwrap();
    let said = bench.iosonde(&["resume"]);
    assert_eq!((said.code, shown(&bench, "a").info.state), (0, RunState::Done), "{}", said.err);
}

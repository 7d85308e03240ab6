//! Whole runs on simulated devices whose truth is set.

use crate::common::{Bench, SMALL_STUDY, names_in};
use iosonde_model::{DeviceNote, FindingName, LeftOut};
use iosonde_model::{RunState, Status};
use iosonde_report::Document as Run;

#[test]
fn quick_on_an_ideal_device_ends_with_a_report_and_the_truth() {
    let bench = Bench::new();
    let said = bench.iosonde(&["run", "quick", "sim:ideal", "--seed", "7"]);
    assert_eq!(said.code, 0, "{}", said.err);
    for heading in ["VALID", "RESULTS", "ADVICE"] {
        assert!(said.out.contains(heading), "{}", said.out);
    }
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    assert!(names_in(bench.folder.path()).iter().any(|name| name.starts_with("iosonde-quick-")));

    let run = bench.iosonde(&["show", "--json"]);
    let run: Run = serde_json::from_str(&run.out).unwrap();
    assert_eq!(run.info.state, RunState::Done);
    let base = run
        .findings
        .iter()
        .find(|f| f.name == FindingName::BaseLatency && f.status == Status::Found)
        .unwrap();
    // One 4 KiB request on an idle server of 80 us, and no link: 80 us.
    assert!(base.low.unwrap() <= 80_000.0 && 80_000.0 <= base.high.unwrap(), "{}", base.sentence);
    assert!(
        run.verdicts.iter().all(|v| v.verdict <= iosonde_model::Outcome::NotChecked),
        "{:?}",
        run.verdicts
    );
}

#[test]
fn the_same_seed_gives_the_same_document_and_another_seed_another_order() {
    let document = |seed: &str| {
        let bench = Bench::new();
        bench.text("small.toml", SMALL_STUDY);
        let mut run = bench.run(&["run", "small.toml", "sim:noisy-virtual-disk", "--seed", seed]);
        // What depends on where and when it was made.
        run.info.command.clear();
        run.info.started_at.clear();
        run.trials.iter_mut().for_each(|trial| trial.started_at.clear());
        serde_json::to_string(&run).unwrap()
    };
    assert_eq!(document("5"), document("5"));
    assert_ne!(document("5"), document("6"));
}

#[test]
fn a_run_can_be_shown_reported_and_removed() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    bench.run(&["run", "small.toml", "sim:ideal", "--label", "first"]);
    let listed = bench.iosonde(&["ls"]);
    assert!(listed.out.contains("first") && listed.out.contains("small"), "{}", listed.out);
    let shown = bench.iosonde(&["show", "first"]);
    assert!(shown.out.contains("VALID"), "{}{}", shown.out, shown.err);
    for (format, begins) in [("html", "<!"), ("md", "#"), ("json", "{")] {
        let said = bench.iosonde(&["report", "first", "-f", format, "-o", "-"]);
        assert!(
            said.out.trim_start().starts_with(begins),
            "{format}: {}",
            &said.out[..said.out.len().min(200)]
        );
    }
    // Charts have the figures beside them, each point with its interval.
    assert_eq!(bench.iosonde(&["report", "first", "-f", "svg", "-o", "charts"]).code, 0);
    let beside = |name: &str| std::fs::read_to_string(bench.folder.path().join("charts").join(name)).unwrap();
    let (points, page) = (beside("points.csv"), beside("tables.md"));
    assert!(points.lines().count() > 1 && points.starts_with("point,experiment,"), "{points}");
    assert!(points.lines().next().unwrap().contains(",iops,iops_low,iops_high,"), "{points}");
    assert!(page.contains("points.csv") && beside("trials.csv").lines().count() > 1, "{page}");
    assert_eq!(bench.iosonde(&["rm", "first"]).code, 0);
    bench.iosonde(&["show", "first"]).refused(&["no runs yet"]);
}

#[test]
fn read_only_runs_the_reading_part() {
    let bench = Bench::new();
    let run = bench.run(&["run", "quick", "sim:ideal", "--read-only"]);
    assert!(run.points.iter().all(|point| !point.spec.rw.writes()));
    assert!(!run.points.is_empty());
    assert_eq!(run.info.bytes_written, 0);
    let noted = |note: &DeviceNote| matches!(note, DeviceNote::LeftOut(LeftOut::Writing { .. }));
    assert!(run.info.device.notes.iter().any(noted), "{:?}", run.info.device.notes);
}

#[test]
fn a_plan_can_be_seen_without_measuring() {
    let bench = Bench::new();
    let said = bench.iosonde(&["run", "quick", "sim:ideal", "--dry-run"]);
    assert!(
        said.out.contains("rounds") && said.out.contains("4 KiB random reads"),
        "{}{}",
        said.out,
        said.err
    );
    assert!(bench.iosonde(&["ls"]).out.is_empty());
}

#[test]
fn the_words_of_the_first_screen_can_be_explained() {
    let bench = Bench::new();
    for (word, page) in [
        ("knee", "queue_depth_knee (finding)"),
        ("QD for 95 % of max", "depth_for_95_percent (finding)"),
        ("95 % of QD 1 max from", "plateau_block_size (finding)"),
        ("4 KiB random", "max_iops (finding)"),
        ("highest 4 KiB random", "max_iops (finding)"),
        ("needed for 95 % of it", "depth_for_95_percent (finding)"),
        ("p99 latency at QD 8", "depth_for_95_percent (finding)"),
        ("commit", "commit_latency (finding)"),
        ("plateau", "plateau_block_size (finding)"),
        ("bandwidth", "device_bandwidth (finding)"),
        ("latency limit", "iops_at_latency (finding)"),
        ("concurrent", "matrix (experiment)"),
    ] {
        let said = bench.iosonde(&["explain", word]);
        // A term has its meaning first.
        let pages = said.out.split_once("(term)").and_then(|(_, more)| more.split_once("\n\n"));
        let pages =
            pages.and_then(|(_, more)| more.split_once("\n\n")).map_or(&*said.out, |(_, pages)| pages);
        assert!(said.code == 0 && pages.starts_with(page), "{word}: {}{}", said.out, said.err);
    }
    // Both findings that share a line.
    let both = bench.iosonde(&["explain", "cache"]).out;
    assert!(both.contains("cache_bytes (finding)") && both.contains("cache_latency (finding)"), "{both}");
}

#[test]
fn a_study_s_own_answer_stands_on_its_screen() {
    let bench = Bench::new();
    let units = bench.iosonde(&["run", "units", "sim:client-nvme", "--time", "30s"]);
    assert!(units.out.contains("units   parallel units: 32"), "{}{}", units.out, units.err);
    // 16 KiB stripes over 32 units: what devices/client-nvme.toml says.
    assert!(units.out.contains("stripe  stripe size: 16 KiB"), "{}", units.out);
    let page = bench.path("mix.html");
    let mix = bench.iosonde(&["run", "mix", "sim:plain-nvme", "--time", "30s", "-o", page.to_str().unwrap()]);
    for said in ["POINTS    QD 32", "4 KiB random, 70 % reads: writes  ", "IOPS", "p99", "\n  mix  "] {
        assert!(mix.out.contains(said), "{said}: {}{}", mix.out, mix.err);
    }
    assert!(mix.out.lines().all(|line| line.chars().count() <= 80), "{}", mix.out);
    // Numbers are not parted from their units.
    let page = std::fs::read_to_string(page).unwrap().replace('\u{a0}', " ");
    for said in ["What each workload got", "4 KiB random, 70 % reads: writes", "<th>p99</th>"] {
        assert!(page.contains(said), "the page lacks {said}");
    }
}

#[test]
fn every_registry_lists_itself_and_explains_each_entry() {
    let bench = Bench::new();
    for registry in ["engines", "checks", "experiments", "findings", "devices", "studies"] {
        let list = bench.iosonde(&[registry]);
        assert_eq!(list.code, 0, "{}", list.err);
        let names: Vec<&str> =
            list.out.lines().filter(|l| !l.starts_with(' ')).filter_map(|l| l.split(' ').next()).collect();
        assert!(!names.is_empty());
        // A device's page runs the device, which takes seconds: three of them, of every kind of medium.
        let names = if registry == "devices" { vec!["ideal", "usb-stick", "hdd-7200"] } else { names };
        for name in names {
            let page = bench.iosonde(&[registry, name]);
            assert!(page.code == 0 && page.out.len() > 150, "{registry} {name}: {}{}", page.out, page.err);
            if registry == "devices" {
                // The width where there is no terminal.
                let widest = page.out.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(80), "{name}: {}", page.out);
            }
            assert_eq!(bench.iosonde(&["explain", name]).code, 0, "{name}");
        }
    }
}

#[test]
fn a_device_tells_its_parameters_and_truths_to_programs_too() {
    let bench = Bench::new();
    let said = bench.iosonde(&["devices", "plain-nvme", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["name"], "plain-nvme");
    let parameters = document["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|p| p["key"] == "queue.servers" && p["value"] == "32"), "{parameters:?}");
    let truths = document["truths"].as_array().unwrap();
    for name in iosonde_model::FindingName::ALL {
        assert!(truths.iter().any(|truth| truth["finding"] == name.as_str()), "{name}");
    }
    let iops = truths.iter().find(|truth| truth["finding"] == FindingName::MaxIops.as_str()).unwrap();
    assert_eq!((&iops["known"], &iops["unit"]), (&"closed form".into(), &"IOPS".into()));
    assert!((iops["value"].as_f64().unwrap() - 533_333.333).abs() < 0.001);
    assert_eq!(iops["conditions"]["block_size_bytes"], 4096);
    // JSON is of one device.
    bench.iosonde(&["devices", "--json"]).refused(&["NAME"]);
}

/// Keys of the document that docs/json.md does not have; figures are each check's own, and options are nobody's.
fn undocumented(value: &serde_json::Value, page: &str, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                if !page.contains(&format!("| `{key}` |")) {
                    found.push(key.clone());
                }
                if !["figures", "options"].contains(&key.as_str()) {
                    undocumented(member, page, found);
                }
            }
        }
        serde_json::Value::Array(members) => {
            members.iter().for_each(|member| undocumented(member, page, found));
        }
        _ => {}
    }
}

#[test]
fn every_key_of_the_document_stands_on_its_page() {
    let bench = Bench::new();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(path).unwrap();
    bench.text("small.toml", SMALL_STUDY);
    for label in ["a", "b"] {
        bench.run(&["run", "small.toml", "sim:optane", "--seed", "1", "--label", label]);
    }
    let log = "rw=write bs=4k sync=fdatasync:1";
    let words: [&[&str]; 4] = [
        &[
            "point",
            "sim:optane",
            "--rw",
            "randread",
            "--time",
            "1s",
            "--rate",
            "2000",
            "--and",
            log,
            "--json",
        ],
        &["show", "a", "--json"],
        &["compare", "a", "b", "--json"],
        &["spec", "b", "d7-p5600", "--json"],
    ];
    for words in words {
        let document: serde_json::Value = serde_json::from_str(&bench.iosonde(words).out).unwrap();
        let mut found = Vec::new();
        undocumented(&document, &page, &mut found);
        assert!(found.is_empty(), "{words:?}: {found:?}");
    }
}

/// Blocks of 4 KiB, far more than the depth, each written once unless more requests are given.
const VERIFIED: [&str; 12] = [
    "point",
    "sim:faulty.toml",
    "--rw",
    "write",
    "--bs",
    "4k",
    "--depth",
    "16",
    "--size",
    "80MiB",
    "--verify",
    "--warmup=0s",
];

fn verified(faults: &str, ios: &str) -> (iosonde_model::Verification, Option<iosonde_model::Injected>) {
    let bench = Bench::new();
    let ideal = iosonde_sim::builtin("ideal").unwrap();
    bench.text("faulty.toml", &format!("{ideal}[faults]\n{faults}"));
    let words: Vec<&str> = VERIFIED.into_iter().chain(["--ios", ios]).collect();
    let trial = bench.run(&words).trials.remove(0);
    (trial.verify.unwrap(), trial.witnesses.injected)
}

#[test]
fn verification_finds_every_fault_that_a_device_made_and_names_it() {
    // 20,480 blocks, each written once, of which 1 in 10 goes wrong.
    let (found, injected) = verified("lost = \"3%\"\ntorn = \"4%\"\nmisplaced = \"3%\"\n", "20480");
    let injected = injected.unwrap();
    assert!(injected.lost + injected.torn + injected.misplaced > 1_500, "{injected:?}");
    assert!(
        [injected.lost, injected.torn, injected.misplaced].iter().all(|count| *count > 400),
        "{injected:?}"
    );
    // What went elsewhere is missing at its own place.
    assert_eq!(found.lost, injected.lost + injected.misplaced, "{found:?} {injected:?}");
    assert_eq!((found.torn, found.misplaced), (injected.torn, injected.misplaced), "{found:?} {injected:?}");
    assert_eq!((found.checked, found.stale, found.unreadable), (20_480, 0, 0));
}

#[test]
fn verification_finds_every_old_version_that_a_device_gave() {
    // Each block written twice: every old version is one of this trial's.
    let (found, injected) = verified("stale = \"5%\"\n", "40960");
    let injected = injected.unwrap();
    assert!(injected.stale > 900, "{injected:?}");
    assert_eq!((found.stale, found.bad(), found.checked), (injected.stale, injected.stale, 20_480));
    // A write that is lost the second time leaves the first: stale, not lost.
    let (found, injected) = verified("lost = \"5%\"\n", "40960");
    let (both, one) = (found.lost, found.stale);
    // 2 x 5 % are lost: of the second half all are found, of the first only those lost twice.
    assert!(both > 20 && one > 900 && both + one < injected.unwrap().lost, "{found:?} {injected:?}");
}

#[test]
fn a_device_without_faults_raises_no_alarm() {
    let (found, injected) = verified("", "40960");
    assert_eq!((found.checked, found.bad(), injected), (20_480, 0, None));
}

#[test]
fn a_run_interrupted_at_any_trial_and_resumed_equals_the_uninterrupted_one() {
    let whole = Bench::new();
    whole.text("small.toml", SMALL_STUDY);
    let words = ["run", "small.toml", "sim:noisy-virtual-disk", "--seed", "5"];
    let run = whole.run(&words);
    let id = run.info.id.clone();
    let trials = run.trials.len();
    assert!(trials > 20, "{trials}");
    let document = |bench: &Bench| {
        let mut run = bench.run(&["show", &id]);
        run.info.command.clear();
        // The calendar is this machine's, and a trial that is measured again has its own moment.
        run.info.started_at.clear();
        run.trials.iter_mut().for_each(|trial| trial.started_at.clear());
        serde_json::to_string_pretty(&run).unwrap()
    };
    let expected = document(&whole);
    for kept in [0, 1, trials / 2, trials - 1] {
        let bench = Bench::new();
        // What the first trials left behind when the run was interrupted.
        let mut book = iosonde_store::Notebook::open(&bench.path("notebook.db")).unwrap();
        let info = iosonde_model::RunInfo { state: RunState::Interrupted, ..run.info.clone() };
        drop(book.begin(&info).unwrap());
        run.trials[..kept].iter().for_each(|trial| book.append(&id, trial).unwrap());
        drop(book);
        assert_eq!(bench.iosonde(&["resume", "--quiet"]).code, 0);
        assert!(document(&bench) == expected, "interrupted after {kept} of {trials} trials");
    }
}

#[test]
fn parameters_states_limits_and_other_runs_shape_a_run() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let first = bench.run(&[
        "run",
        "small.toml",
        "sim:plain-nvme",
        "--size",
        "64MiB",
        "--seed",
        "5",
        "--label",
        "first",
    ]);
    let like = bench.run(&["run", "--like", "first", "sim:sata-ssd"]);
    assert_eq!((like.info.seed, like.points.len()), (5, first.points.len()));
    assert_eq!(like.info.device.working_set_bytes, 64 << 20);
    bench.iosonde(&["run", "--like", "first", "quick", "sim:ideal"]).refused(&["give the target only"]);

    let steady = ["run", "small.toml", "sim:plain-nvme", "--size", "16MiB", "--state", "steady"];
    let run = bench.run(&steady);
    let prepared = run.trials.iter().filter(|trial| trial.phase == iosonde_model::Phase::Prepare).count();
    assert!(prepared >= 10, "{prepared}");
    assert!(
        run.info
            .device
            .notes
            .iter()
            .any(|note| matches!(note, DeviceNote::StateReached { state, .. } if state == "steady")
                || matches!(note, DeviceNote::NotSteady { .. })),
        "{:?}",
        run.info.device.notes
    );

    let limited = bench.run(&["run", "quick", "sim:plain-nvme", "--max-write", "512MiB"]);
    assert!(limited.info.bytes_written <= 512 << 20, "{}", limited.info.bytes_written);
    assert!(limited.info.device.notes.contains(&DeviceNote::WriteLimitReached { max_bytes: 512 << 20 }));
    // What may be written is shared: no point is left without an interval because others wrote all of it.
    let starved = |point: &&iosonde_model::Point| point.why_no_interval.is_some();
    let starved: Vec<String> =
        limited.points.iter().filter(starved).map(|point| point.spec.describe()).collect();
    assert!(starved.is_empty(), "{starved:?}");
    let limited_to = |more: &[&str]| bench.iosonde(&[&["run", "quick", "sim:ideal"], more].concat());
    limited_to(&["--state", "steady", "--max-write", "1GiB"]).refused(&[
        "--max-write 1 GiB is less than this run writes at minimum",
        "8.00 GiB for --state steady",
    ]);
    limited_to(&["--max-write", "1MiB"]).refused(&["5 trials of each point that writes"]);
    limited_to(&["--state", "steady", "--read-only"]).refused(&["--state", "--read-only"]);
    let part = bench.run(&["run", "quick", "sim:ideal", "--span", "64MiB", "--time", "25s"]);
    assert!(part.points.iter().all(|point| point.spec.span_bytes == 64 << 20));
    bench.iosonde(&["run", "quick", "sim:ideal", "--set", "dept=3"]).refused(&["did you mean `depth`?"]);
}

#[test]
fn a_finished_run_gets_more_rounds_and_keeps_its_trials() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let first =
        bench.run(&["run", "small.toml", "sim:noisy-virtual-disk", "--rounds", "6", "--label", "first"]);
    let more = bench.run(&["run", "--add=first", "--rounds", "6"]);
    assert_eq!((first.info.rounds, more.info.rounds), (6, 12));
    assert!(more.trials.len() > first.trials.len() && more.trials[..first.trials.len()] == first.trials[..]);
    let again = bench.run(&["run", "--add=first", "--rounds", "2"]);
    assert_eq!((again.info.id.as_str(), again.info.rounds), (first.info.id.as_str(), 14));
    bench.iosonde(&["run", "--add=first", "./"]).refused(&["--add"]);
}

/// A state is announced, brought about in time of its own, recorded, and said where it was not reached.
#[test]
fn storage_is_brought_to_a_state_first() {
    let bench = Bench::new();
    let run = |device: &str, state: &str, size: &str| {
        let words =
            ["run", "latency", device, "--state", state, "--size", size, "--time", "6s", "--seed", "3"];
        let said = bench.iosonde(&words);
        assert_eq!(said.code, 0, "{state}: {}", said.err);
        let document = bench.iosonde(&["show", "--json"]).out;
        (said, serde_json::from_str::<Run>(&document).unwrap())
    };
    for (state, least_mib, most_mib, kinds) in
        [("fresh", 64, 64, 2), ("filled:50%", 32, 32, 1), ("steady", 128, 448, 11)]
    {
        let (said, run) = run("sim:sata-ssd", state, "64MiB");
        let range = if kinds < 11 { String::new() } else { format!("{least_mib} MiB to ") };
        let announced = format!("state         {state}: writes {range}{most_mib} MiB, in addition to --time");
        assert!(said.err.contains(&announced), "{}", said.err);
        let brought: Vec<_> = run.trials.iter().filter(|trial| trial.experiment == "state").collect();
        assert!(brought.len() >= kinds && brought.iter().all(|trial| trial.round == 0), "{state}");
        let written: u64 = brought.iter().map(|trial| trial.witnesses.issued_write_bytes).sum();
        assert!(written >= (least_mib << 20) && written <= (most_mib << 20) * 11 / 10, "{state}: {written}");
        let noted = run.info.device.notes.iter().find_map(|note| match note {
            DeviceNote::StateReached { state: reached, rounds, .. } if reached == state => Some(*rounds),
            _ => None,
        });
        let rounds = noted.expect("the state is recorded");
        assert_eq!(rounds.is_some(), state == "steady");
        if let Some(reached) = rounds {
            // The last trial of stirring is the last round of the window.
            assert_eq!(reached.rounds as usize, brought.len() - 1, "all but the filling");
            assert!(reached.passes >= 1.0 && reached.low > -0.01 && reached.high < 0.01, "{reached:?}");
            assert!((reached.iops / brought.last().unwrap().iops() - 1.0).abs() < 0.05, "{reached:?}");
        }
    }
    // Stirring that takes longer than the five seconds leaves all of them to measuring.
    let (_, run) = run("sim:hdd-7200", "steady", "32MiB");
    let (state_s, rest_s): (f64, f64) = run.trials.iter().fold((0.0, 0.0), |(state_s, rest_s), trial| {
        let own = trial.experiment == "state";
        if own { (state_s + trial.elapsed_s, rest_s) } else { (state_s, rest_s + trial.elapsed_s) }
    });
    assert!(state_s > 5.0 && rest_s > 3.0, "{state_s} {rest_s}");
    assert_eq!(run.info.device.state.as_deref(), Some("steady within 32 MiB"), "of 4 TB");
}

#[test]
fn two_buffers_one_behind_the_other_are_told_apart() {
    let bench = Bench::new();
    bench.text(
        "two.toml",
        r#"
name = "two"
summary = "memory, and cells that take writes quickly"
capacity = "64GiB"
[host]
request_cost = "2us"
[link]
bandwidth = "800MB/s"
latency = "5us"
[flash]
units = 16
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "2400us"
erase = "3ms"
pages_per_block = 256
placement = "static"
write_buffer = { size = "200MiB", latency = "12us", flush = "1ms" }
slc = { size = "1GiB", program = "600us", fold = "idle 1s" }
[noise]
latency_cv = 0.02
rate_cv_100ms = 0.02
lag1_100ms = 0.6
"#,
    );
    bench.text(
        "long.toml",
        "name = \"long\"\nquestion = \"?\"\ntime = \"8m\"\nsize = \"32GiB\"\n[[experiment]]\n\
         kind = \"sustained-write\"\ntrial = \"20s\"\ngap = \"6s\"\nrest = 0.2\n",
    );
    let run = bench.run(&["run", "long.toml", "sim:two.toml", "--seed", "5"]);
    let mib = f64::from(1 << 20);
    let truths = [
        (FindingName::WriteBufferBytes, Some(1), 200.0 * mib),
        // All that the cells take until they are full: they empty only at rest.
        (FindingName::WriteBufferBytes, Some(2), 1024.0 * mib),
        (FindingName::BurstRate, Some(1), 8e8),
        // 16 units x 16 KiB / 600 us, and / (2.4 ms and a 256th of an erase).
        (FindingName::BurstRate, Some(2), 436.9e6),
        (FindingName::SustainedRate, None, 108.7e6),
    ];
    for (name, stage, truth) in truths {
        let of = |f: &&iosonde_report::FindingLine| f.name == name && f.conditions.stage == stage;
        let finding = run.findings.iter().find(of).unwrap_or_else(|| panic!("{name} {stage:?}: {run:#?}"));
        assert_eq!(finding.status, Status::Found, "{}", finding.sentence);
        let (low, high) = (finding.low.unwrap(), finding.high.unwrap());
        assert!(low <= truth && truth <= high, "{name} {stage:?}: {truth} is not in [{low}, {high}]");
        assert!((high - low) / truth < 0.1, "{name} {stage:?}: [{low}, {high}]");
    }
    let drain = run.findings.iter().find(|finding| finding.name == FindingName::BufferDrainRate).unwrap();
    assert!(drain.why.as_ref().unwrap().contains("only when idle"), "{drain:?}");
}

/// Buffered reads are invalid as statements about the device, and valid for the page cache.
#[test]
fn the_page_cache_is_sized_where_reads_go_through_it() {
    let bench = Bench::new();
    bench.text(
        "device.toml",
        "name = \"paged\"\nsummary = \"a kernel with 64 MiB of page cache over a queue\"\ncapacity = \"8GiB\"\n\
         [host]\nrequest_cost = \"2us\"\nmemory = \"64MiB\"\npage_cache = true\ncopy_rate = \"10GB/s\"\n[link]\n\
         bandwidth = \"1GB/s\"\nlatency = \"10us\"\n[queue]\nservers = 4\nservice = { fixed = \"100us\" }\n[noise]\n\
         latency_cv = 0.02\n",
    );
    bench.text(
        "study.toml",
        "name = \"spans\"\nquestion = \"How much does it hold?\"\ntime = \"12s\"\n[[experiment]]\nkind = \
         \"working-set\"\nblock_size = \"4k\"\nspan = \"16M..256M*2\"\n",
    );
    let run =
        bench.run(&["run", "study.toml", "sim:device.toml", "--buffered", "--size", "1GiB", "--seed", "3"]);
    let found = |name: FindingName| run.findings.iter().find(|finding| finding.name == name).unwrap();
    let held = found(FindingName::CacheBytes);
    assert_eq!(held.status, Status::Found, "{}", held.sentence);
    assert!(held.sentence.starts_with("The page cache holds 64.0 MiB"), "{}", held.sentence);
    let truth = f64::from(64 << 20);
    assert!(held.low.unwrap() <= truth && truth <= held.high.unwrap(), "{}", held.sentence);
    // 8 outstanding requests wait for each other: 8 times 2 us of the program and 4,096 B at 10 GB/s.
    let time = found(FindingName::CacheLatency).value.unwrap();
    assert!((time / (8.0 * 2409.6) - 1.0).abs() < 0.01, "{time}");
    // And through direct reads there is none.
    let run = bench.run(&["run", "study.toml", "sim:device.toml", "--size", "1GiB", "--seed", "3"]);
    let held = run.findings.iter().find(|finding| finding.name == FindingName::CacheBytes).unwrap();
    assert_eq!(held.status, Status::Absent, "{}", held.sentence);
}

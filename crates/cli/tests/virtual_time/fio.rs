//! `iosonde fio` on simulated devices: the page's idioms, job files of our own, and refusals.

use serde_json::Value;

use crate::common::Bench;

const PAGE: &str = include_str!("../../../../docs/coming-from-fio.md");

/// Words of a line without the engine, which a simulated device has itself.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut skip = false;
    for word in line.split_whitespace() {
        match word {
            _ if skip => skip = false,
            "--engine" | "--time" | "--size" => skip = true,
            word => words.push(word.to_owned()),
        }
    }
    words
}

/// A simulated device with a page cache, since some lines are buffered.
const DEVICE: &str = "sim:mac-nocache";

#[test]
fn each_idiom_of_the_page_runs_in_both_spellings() {
    let bench = Bench::new();
    let lines: Vec<&str> = PAGE.lines().collect();
    let (mut of_fio, mut of_point) = (0, 0);
    for line in lines {
        if line.starts_with("fio --") {
            let line =
                line.replace("--directory=/mnt/data ", "").replace("--filename=/mnt/data/journal ", "");
            let mut all: Vec<&str> =
                vec!["fio", "-q", "--target", DEVICE, "--time", "100ms", "--size", "64M", "--"];
            all.extend(line.split_whitespace());
            let said = bench.iosonde(&all);
            assert_eq!(said.code, 0, "{line}: {}", said.err);
            of_fio += 1;
        }
        if let Some(rest) = line.strip_prefix("point --") {
            let typed = words(&format!("--{rest}"));
            let mut all: Vec<&str> = vec!["point", DEVICE, "-q", "--time", "100ms", "--size", "64M"];
            all.extend(typed.iter().map(String::as_str));
            let said = bench.iosonde(&all);
            assert_eq!(said.code, 0, "{line}: {}", said.err);
            of_point += 1;
        }
    }
    assert!(of_fio >= 14 && of_point == of_fio, "{of_fio} lines of fio, {of_point} of ours");
}

/// Two groups: two jobs at once, and clones that write and flush.
const JOBS: &str = "[global]\nbs=4k\nioengine=libaio\nsize=64m\nruntime=1\ntime_based\n[reader]\nrw=randread\n\
                    iodepth=2\n[log]\nrw=write\nfdatasync=4\n[clones]\nstonewall\nrw=randrw\nrwmixread=75\n\
                    numjobs=2\ndescription=a note\n";

#[test]
fn groups_are_trials_and_jobs_are_streams() {
    let bench = Bench::new();
    let file = bench.text("jobs.fio", JOBS);
    let said = bench.iosonde(&["fio", "-q", "--target", "sim:ideal", "--json", file.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let trials = document["trials"].as_array().unwrap();
    let names: Vec<&str> = trials.iter().filter_map(|trial| trial["experiment"].as_str()).collect();
    assert_eq!(names, ["reader + log", "clones"]);
    assert_eq!(trials[0]["streams"].as_array().map(Vec::len), Some(2));
    assert!(trials[0]["streams"][1]["flush"]["ios"].as_u64().unwrap() > 0);
    // 75 % of the requests are reads, to the request.
    let side = |op: &str| trials[1][op]["ios"].as_f64().unwrap();
    assert!((side("read") / (side("read") + side("write")) - 0.75).abs() < 1e-3);
    // A second without warm-up, and without a request too few: fio counts from the first.
    assert!((trials[1]["measured_s"].as_f64().unwrap_or(1.0) - 1.0).abs() < 0.01);
    assert_eq!(document["run"]["fio"]["groups"][1][0]["jobs"], 2);
    let shown = bench.iosonde(&["show", "last"]);
    for name in ["reader read", "log write", "log flush", "clones read", "clones write", "VALID"] {
        assert!(shown.out.contains(name), "{name}: {}", shown.out);
    }
}

#[test]
fn a_job_ends_after_its_size() {
    let bench = Bench::new();
    let line = [
        "fio",
        "-q",
        "--target",
        "sim:ideal",
        "--json",
        "--",
        "fio",
        "--name=a",
        "--rw=randwrite",
        "--size=4m",
    ];
    let said = bench.iosonde(&line);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(document["trials"][0]["write"]["ios"], 1024);
    assert_eq!(document["trials"][0]["spec"]["distribution"], "once");
}

/// Jobs of unlike length, of which each was measured for its own time: a long log beside a short scan, jobs that begin
/// later or end by their size.
#[test]
fn jobs_of_unlike_length_are_valid_and_their_sums_hold() {
    let bench = Bench::new();
    let read = |depth| format!("rw=randread\niodepth={depth}\nsize=64m\n");
    let files = [
        format!("[a]\n{}runtime=1\n[b]\n{}runtime=4\n", read(4), read(4)),
        format!("[a]\n{}runtime=3\n[b]\n{}runtime=3\nstartdelay=2\n", read(8), read(8)),
        format!("[a]\n{}runtime=1\nstartdelay=2\n[b]\n{}runtime=1\nstartdelay=3\n", read(8), read(8)),
        format!("[a]\n{}runtime=2\n[log]\nrw=write\nioengine=psync\nfsync=8\nsize=64m\nruntime=8\n", read(4)),
        "[a]\nrw=randwrite\niodepth=16\nsize=16m\ntime_based=0\n[b]\nrw=randread\nsize=64m\nruntime=3\n"
            .to_owned(),
    ];
    for (text, device) in files.iter().flat_map(|text| ["sim:plain-nvme", "sim:ideal"].map(|on| (text, on))) {
        let global = "[global]\nbs=4k\ndirect=1\nioengine=libaio\ntime_based\n";
        bench.text("a.fio", &format!("{global}{text}"));
        let said = bench.iosonde(&["fio", "a.fio", "--target", device, "--seed", "1", "--json", "--strict"]);
        assert_eq!(said.code, 0, "{text} on {device}: {} {}", said.out, said.err);
        let document: Value = serde_json::from_str(&said.out).unwrap();
        let trial = &document["trials"][0];
        let number = |of: &Value| of.as_f64().unwrap();
        let longest = trial["streams"].as_array().unwrap().iter().map(|own| number(&own["measured_s"]));
        let longest_s = longest.fold(0.0, f64::max);
        let whole_s = number(&trial["measured_s"]);
        assert!(
            whole_s >= 0.99 * longest_s && whole_s < longest_s + 2.1,
            "{text}: {whole_s} of {longest_s} s"
        );
        for op in ["read", "write"].into_iter().filter(|op| !trial[op].is_null()) {
            let (ios, iops) = (number(&trial[op]["ios"]), number(&trial[op]["iops"]));
            assert!((iops * whole_s / ios - 1.0).abs() < 1e-6, "{text}: {ios} in {whole_s} s are no {iops}");
        }
    }
    // The last file's first, with a log: a flush after each eighth write, whatever the others do.
    let log = "[scan]\nrw=read\nbs=1m\nruntime=1\n[log]\nrw=write\nfsync=8\nruntime=4\n";
    bench.text("a.fio", &format!("[global]\nbs=4k\nioengine=psync\ndirect=1\ntime_based\nsize=64m\n{log}"));
    let said = bench.iosonde(&["fio", "a.fio", "--target", "sim:plain-nvme", "--seed", "1"]);
    let rate = |row: &str| -> f64 {
        let line = said.out.lines().find(|line| line.trim_start().starts_with(row)).expect(row);
        let words: Vec<&str> = line.trim_start()[row.len()..].split_whitespace().collect();
        words[0].parse::<f64>().unwrap() * if words[1] == "k" { 1000.0 } else { 1.0 }
    };
    let (writes, flushes) = (rate("log write"), rate("log flush"));
    assert!((writes / flushes / 8.0 - 1.0).abs() < 0.02, "{writes} writes and {flushes} flushes a second");
}

/// Four servers of 80 µs: the last of 8 requests at a time takes 160 µs, that of 9 takes 240 µs.
#[test]
fn a_latency_target_finds_the_deepest_queue_that_keeps_it() {
    let bench = Bench::new();
    let run = |target: &str, more: &[&str]| {
        let target = format!("--latency_target={target}");
        let job = ["--name=a", "--rw=randread", "--size=64m", "--ioengine=libaio", "--iodepth=64"];
        let window = ["--latency_window=20ms", "--latency_percentile=99.9", &target];
        bench.iosonde(&[&["fio", "--target", "sim:ideal", "--json", "--"], &job[..], &window, more].concat())
    };
    for (target, depth) in [("210us", 8), ("90us", 4), ("2ms", 64)] {
        let said = run(target, &[]);
        assert_eq!(said.code, 0, "{target}: {}", said.err);
        let document: Value = serde_json::from_str(&said.out).unwrap();
        let trials = document["trials"].as_array().unwrap();
        let measured: Vec<&Value> = trials.iter().filter(|trial| trial["phase"] == "measure").collect();
        assert_eq!(measured.len(), 1);
        assert_eq!(measured[0]["spec"]["queue_depth"], depth, "{target}: {}", said.err);
        assert!(said.err.contains("search        QD 2: p99.9 80"), "{}", said.err);
    }
    // fio's own form has the depth, the target in nanoseconds and the window in microseconds.
    let told = bench.iosonde(&["export", "last", "-f", "fio-json", "-o", "-"]);
    let document: Value = serde_json::from_str(&told.out).unwrap();
    let job = &document["jobs"][0];
    assert_eq!(
        ["depth", "target", "percentile", "window"].map(|name| job[format!("latency_{name}")].as_f64()),
        [64.0, 2e6, 99.9, 20_000.0].map(Some),
        "{}",
        told.err
    );
    // Not even one request at a time keeps it: the figures are there, and the run has failed.
    let missed = run("70us", &[]);
    assert_eq!(missed.code, 1);
    assert!(missed.out.contains("\"queue_depth\": 1") || missed.out.contains("\"queue_depth\":1"));
    assert!(
        missed.err.contains("latency_target=70.0 µs was not kept in the window at QD 1: p99.9 took 80"),
        "{}",
        missed.err
    );
    // The rest of the runtime, or a search that it ends.
    let measured_s = |said: &crate::common::Said| {
        let document: Value = serde_json::from_str(&said.out).unwrap();
        document["trials"].as_array().unwrap().last().unwrap()["measured_s"].as_f64().unwrap()
    };
    let on = run("210us", &["--runtime=1", "--time_based", "--latency_run=1"]);
    assert!((measured_s(&on) - 0.84).abs() < 0.05, "{} {}", measured_s(&on), on.err);
    let cut = run("210us", &["--runtime=80ms", "--time_based"]);
    assert!(cut.code == 0 && cut.err.contains("a: the runtime ends the search"), "{}", cut.err);
}

#[test]
fn what_is_not_supported_is_refused_by_name_and_place() {
    let bench = Bench::new();
    for (text, place, told) in [
        (
            "[a]\nsize=1m\nlatency_target=5ms\nlatency_window=1s\n[b]\nsize=1m\n",
            ":3:1: ",
            "latency_target goes with one job at a time; put `stonewall`",
        ),
        ("[a]\nsize=1m\nioengine=rados\npool=x\n", ":4:1: ", "pool is not supported"),
        ("[a]\nrw=read\n", ":1:1: ", "needs a size"),
    ] {
        let file = bench.text("bad.fio", text);
        let folder = bench.folder.path().to_str().unwrap();
        let said = bench.iosonde(&["fio", "--target", folder, file.to_str().unwrap()]);
        let place = format!("bad.fio{place}");
        assert_eq!(said.code, 2, "{text}: {}", said.err);
        assert!(said.err.contains(&place) && said.err.contains(told), "{text}: {}", said.err);
    }
}

#[test]
fn a_run_of_fios_jobs_is_written_in_fios_form() {
    let bench = Bench::new();
    let file = bench.text("jobs.fio", JOBS);
    let out = bench.path("out.json");
    let words = ["fio", "-q", "--target", "sim:ideal", "--output-format", "json", "--output"];
    let said = bench.iosonde(&[&words[..], &[out.to_str().unwrap(), file.to_str().unwrap()]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    let told: Vec<_> =
        jobs.iter().map(|job| (job["jobname"].as_str().unwrap(), job["groupid"].as_u64().unwrap())).collect();
    assert_eq!(told, [("reader", 0), ("log", 0), ("clones", 1)]);
    assert_eq!(document["global options"]["bs"], "4k");
    assert_eq!(jobs[2]["job options"]["numjobs"], "2");
    assert_eq!(jobs[0]["read"]["lat_ns"]["percentile"].as_object().map(serde_json::Map::len), Some(17));
    assert_eq!(
        jobs[0]["read"]["bw"].as_u64().unwrap(),
        jobs[0]["read"]["bw_bytes"].as_u64().unwrap().div_ceil(1024).max(1)
    );
    // The reader of our own reads it as the same results.
    let judged = bench.iosonde(&["judge", "--json", out.to_str().unwrap()]);
    let judged: Value = serde_json::from_str(&judged.out).unwrap();
    let iops = |trial: &Value, op: &str| trial[op]["iops"].as_f64().unwrap();
    let clones = judged["trials"].as_array().unwrap().last().unwrap();
    assert_eq!(clones["spec"]["jobs"], 2);
    assert!((iops(clones, "read") / jobs[2]["read"]["iops"].as_f64().unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn what_is_asked_of_the_results_is_done_or_refused() {
    let bench = Bench::new();
    let file = bench.text("jobs.fio", JOBS);
    let fio = |words: &[&str]| {
        let all = [&["fio", "-q", "--target", "sim:ideal"], words, &[file.to_str().unwrap()]].concat();
        bench.iosonde(&all)
    };
    // One of two names is no section.
    fio(&["--section", "reader", "--section", "clone"]).refused(&[
        "--section clone",
        "no section",
        "reader, log, clones",
    ]);
    fio(&["--json", "--output-format", "json"]).refused(&["two documents"]);
    fio(&["--read-only", "--dry-run"]).refused(&["--read-only writes nothing"]);
    bench.iosonde(&["fio"]).refused(&["iosonde fio JOBFILE", "-- fio --name=x"]);
    let line = ["--", "fio", "--name=a", "--size=1m", "--output=b.txt"];
    bench
        .iosonde(&[&["fio", "--target", "sim:ideal", "--output", "a.txt"], &line[..]].concat())
        .refused(&["--output was given twice"]);
    // fio's form has no verdict, so stderr has it; the table for people goes where --output says, too.
    let path = bench.path("said.txt");
    let said = fio(&["--output", path.to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    assert!(std::fs::read_to_string(path).unwrap().contains("fio's jobs on sim:ideal"));
    let said = bench.iosonde(&[
        "fio",
        "--target",
        "sim:ideal",
        "--output-format",
        "json",
        "--seed",
        "1",
        file.to_str().unwrap(),
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.lines().any(|line| line.starts_with("valid         yes")), "{}", said.err);
}

#[test]
fn a_plan_refuses_what_the_run_would_and_keeps_nothing() {
    let bench = Bench::new();
    let held = bench.text("held", &"x".repeat(1 << 20));
    let named = format!("--filename={}", held.display());
    let dry =
        bench.iosonde(&["fio", "--dry-run", "--", "fio", "--name=a", "--rw=write", "--size=1m", &named]);
    assert_eq!(dry.code, 2, "{}", dry.err);
    assert!(dry.out.contains("a: 4 KiB sequential writes") && dry.out.contains("; 1 MiB"), "{}", dry.out);
    assert!(dry.err.contains("would overwrite it") && dry.err.contains("--destroy -- fio .."), "{}", dry.err);
    assert!(bench.iosonde(&["ls"]).err.contains("there is no notebook"));
}

/// Runs one job on a simulated device of 4 servers that take 80 us, and returns its document.
fn one_job(bench: &Bench, options: &[&str]) -> Value {
    let words = ["fio", "-q", "--target", "sim:ideal", "--json", "--", "fio", "--name=a"];
    let said = bench.iosonde(&[&words[..], options].concat());
    assert_eq!(said.code, 0, "{options:?}: {}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

#[test]
fn what_a_job_does_between_its_requests_is_measured_and_recorded() {
    let bench = Bench::new();
    let job = ["--rw=randread", "--size=64m", "--runtime=2", "--time_based", "--ioengine=libaio"];
    let trial = |more: &[&str]| one_job(&bench, &[&job[..], more].concat())["trials"][0].clone();
    let iops = |trial: &Value| trial["read"]["iops"].as_f64().unwrap();
    // One request of 80 us and a pause of 920 us; the pause is no latency.
    let thinks = trial(&["--thinktime=920"]);
    assert!((iops(&thinks) - 1000.0).abs() < 1.0, "{}", iops(&thinks));
    assert!((thinks["read"]["latency_ns"]["mean"].as_f64().unwrap() / 80e3 - 1.0).abs() < 0.01);
    assert_eq!(thinks["spec"]["think"]["pause_ns"], 920_000);
    // 4 at once, then 920 us.
    let blocks = trial(&["--iodepth=4", "--thinktime=920", "--thinktime_blocks=4"]);
    assert!((iops(&blocks) - 4000.0).abs() < 4.0, "{}", iops(&blocks));
    let late = trial(&["--startdelay=3"]);
    assert!((late["elapsed_s"].as_f64().unwrap() - 5.0).abs() < 0.01 && (iops(&late) - 12_500.0).abs() < 1.0);
    // 8 are sent when none is left: 6 outstanding in the mean.
    let batches = trial(&["--iodepth=8", "--iodepth_batch_complete_min=8"]);
    assert!((batches["in_flight_mean"].as_f64().unwrap() - 6.0).abs() < 0.05, "{batches}");
    let mixed = trial(&["--percentage_random=25"]);
    assert_eq!(mixed["spec"]["randomness"], "25%");
    assert_eq!(trial(&["--rw=randread:8"])["spec"]["randomness"], "every:8");
}

/// A device with a steady rate ends the job as soon as the window is full.
#[test]
fn a_job_ends_once_its_throughput_is_steady() {
    let bench = Bench::new();
    let job = ["--rw=randread", "--size=64m", "--runtime=60", "--time_based", "--numjobs=2"];
    let words = ["fio", "--target", "sim:ideal", "--json", "--", "fio", "--name=a"];
    let run = |more: &[&str]| {
        let said = bench.iosonde(&[&words[..], &job, more].concat());
        assert_eq!(said.code, 0, "{more:?}: {}", said.err);
        let document: Value = serde_json::from_str(&said.out).unwrap();
        (document["trials"][0].clone(), said.err)
    };
    for ss in ["iops:1%", "bw_slope:0.1%"] {
        let (trial, err) = run(&[&format!("--ss={ss}"), "--ss_dur=3", "--ss_ramp=2"]);
        let elapsed_s = trial["elapsed_s"].as_f64().unwrap();
        assert!((elapsed_s - 5.0).abs() < 0.01, "{ss}: {elapsed_s}");
        assert!(err.contains("a: steady after 5 s: "), "{err}");
        // 4 servers of 80 µs, two jobs of one request each: 25,000 a second.
        let last = &trial["last_seconds"][0];
        let seconds: Vec<f64> =
            last["iops"].as_array().unwrap().iter().map(|iops| iops.as_f64().unwrap()).collect();
        assert!(
            seconds.len() == 3 && seconds.iter().all(|iops| (iops - 25_000.0).abs() < 30.0),
            "{seconds:?}"
        );
    }
    // fio's own form: the criterion, and what came of it.
    let told = bench.iosonde(&["export", "last", "-f", "fio-json", "-o", "-"]);
    let document: Value = serde_json::from_str(&told.out).unwrap();
    let steady = &document["jobs"][0]["steadystate"];
    assert_eq!(
        (steady["ss"].as_str(), steady["duration"].as_u64(), steady["attained"].as_u64()),
        (Some("bw_slope:0.100000%"), Some(3), Some(1)),
        "{steady}"
    );
    assert!(steady["data"]["bw_mean"].as_u64().unwrap().abs_diff(102_400_000) < 200_000, "{steady}");
    let (trial, err) = run(&["--ss=iops:0", "--ss_dur=3", "--runtime=6"]);
    assert!(
        (trial["elapsed_s"].as_f64().unwrap() - 6.0).abs() < 0.01 && err.contains("a: not steady after 6 s"),
        "{err}"
    );
    let (_, err) = run(&["--ss=iops:10%", "--ss_dur=30", "--runtime=6"]);
    assert!(err.contains("a: not steady: the job ended before iops had 30 s to look at"), "{err}");
}

#[test]
fn a_job_that_ends_takes_others_with_it() {
    let bench = Bench::new();
    let run = |what: &str| {
        let text = format!(
            "[global]\nsize=64m\nrw=randread\n[short]\nexitall\nexit_what={what}\nnumber_ios=12500\n\
             [beside]\nruntime=20\ntime_based\n[other]\nnew_group\nruntime=3\ntime_based\n\
             [behind]\nstonewall\nruntime=1\ntime_based\n"
        );
        let file = bench.text("exit.fio", &text);
        let said = bench.iosonde(&["fio", "--target", "sim:ideal", "--json", file.to_str().unwrap()]);
        assert_eq!(said.code, 0, "{}", said.err);
        let document: Value = serde_json::from_str(&said.out).unwrap();
        let trials = document["trials"].as_array().unwrap();
        let measured_s = |stream: usize| trials[0]["streams"][stream]["measured_s"].as_f64().unwrap();
        // A request takes 80 µs: 12,500 of them a second.
        assert!((measured_s(0) - 1.0).abs() < 0.01, "{what}: {}", measured_s(0));
        ([1, 2].map(|stream| measured_s(stream).round()), trials.len(), said.err)
    };
    assert!(matches!(run("group"), ([1.0, 3.0], 2, _)), "{:?}", run("group"));
    assert!(matches!(run("stonewall"), ([1.0, 1.0], 2, _)), "{:?}", run("stonewall"));
    let (ended_s, trials, err) = run("all");
    assert_eq!((ended_s, trials), ([1.0, 1.0], 1));
    assert!(err.contains("short: with exit_what=all its end is that of all jobs"), "{err}");
}

#[test]
fn a_throughput_below_the_least_fails_the_run() {
    let bench = Bench::new();
    let words =
        ["fio", "-q", "--target", "sim:ideal", "--", "fio", "--name=a", "--rw=randread", "--size=64m"];
    let run = |least: &str| bench.iosonde(&[&words[..], &["--runtime=3", "--time_based", least]].concat());
    for kept in ["--rate_iops_min=12000", "--rate_min=48m", "--rate_iops_min=,90000"] {
        let said = run(kept);
        assert_eq!(said.code, 0, "{kept}: {}", said.err);
    }
    // Of jobs that are reported together, only one has a least rate: the other's is not added to it.
    let text = "[global]\nsize=64m\nrw=randread\nruntime=2\ntime_based\ngroup_reporting\n[a]\nrate_iops_min=12000\n\
                [b]\nrate_iops=1000\n";
    let file = bench.text("least.fio", text);
    let said = bench.iosonde(&["fio", "-q", "--target", "sim:ideal", file.to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}", said.err);
    let missed = run("--rate_iops_min=13000");
    assert_eq!(missed.code, 1, "{}", missed.err);
    assert!(
        missed.err.contains("rate_iops_min was not kept: a reached 12.5 k IOPS of reads"),
        "{}",
        missed.err
    );
    assert!(missed.out.contains("a read"), "the figures are shown all the same: {}", missed.out);
}

#[test]
fn a_job_may_read_backwards() {
    let bench = Bench::new();
    let trial = one_job(&bench, &["--rw=read:-8k", "--bs=4k", "--size=1m"])["trials"][0].clone();
    assert_eq!(
        (trial["spec"]["backwards"].as_bool(), trial["read"]["ios"].as_u64()),
        (Some(true), Some(256))
    );
    let words =
        ["fio", "--target", "sim:ideal", "--dry-run", "--", "fio", "--name=a", "--rw=read:-8k", "--size=1m"];
    let plan = bench.iosonde(&words);
    assert!(plan.out.contains("sequential reads backwards, QD 1"), "{}", plan.out);
}

#[test]
fn a_request_slower_than_allowed_fails_the_run() {
    let bench = Bench::new();
    let words = ["fio", "-q", "--target", "sim:ideal", "--", "fio", "--name=a", "--rw=read", "--size=1m"];
    let run = |most: &str| bench.iosonde(&[&words[..], &[most]].concat());
    let kept = run("--max_latency=100us");
    assert_eq!(kept.code, 0, "{}", kept.err);
    let exceeded = run("--max_latency=70us");
    assert_eq!(exceeded.code, 1, "{}", exceeded.err);
    assert!(
        exceeded.err.contains("max_latency=70.0 µs is exceeded: the slowest request of a took 80"),
        "{}",
        exceeded.err
    );
    assert!(exceeded.out.contains("a read"), "the figures are shown all the same: {}", exceeded.out);
    // Scripts that read fio's JSON alone find fio's error there.
    let error = |most: &str| {
        let document = bench.iosonde(&[&words[..], &[most, "--output-format=json"]].concat()).out;
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        document["jobs"][0]["error"].as_i64()
    };
    assert_eq!((error("--max_latency=100us"), error("--max_latency=70us")), (Some(0), Some(110)));
}

#[test]
fn logs_are_written_as_fio_writes_them_and_over_nothing() {
    let bench = Bench::new();
    let base = bench.path("x");
    let base = base.to_str().unwrap();
    let text = format!(
        "[global]\nsize=64m\nruntime=1\ntime_based\nwrite_bw_log={base}\nwrite_lat_log={base}\nlog_avg_msec=250\n[a]\n\
         numjobs=2\nrw=randread\n[b]\nrw=randrw\n"
    );
    let file = bench.text("logs.fio", &text);
    let words = ["fio", "-q", "--target", "sim:ideal", file.to_str().unwrap()];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    let log = |end: &str| std::fs::read_to_string(format!("{base}_{end}.log")).unwrap();
    // The number is that of the first clone. Three jobs on four servers wait for nobody: 50,000 KiB/s each.
    let reads: Vec<Vec<u64>> = log("bw.1").lines().map(numbers).collect();
    assert_eq!(reads.len(), 4, "{reads:?}");
    assert!(reads.iter().all(|line| line[1].abs_diff(100_000) < 500 && line[2] == 0), "{reads:?}");
    assert!(reads.last().unwrap()[0].abs_diff(1000) < 5, "{reads:?}");
    let mixed: Vec<Vec<u64>> = log("lat.3").lines().map(numbers).collect();
    assert!(mixed.iter().any(|line| line[2] == 1) && mixed.iter().all(|line| line[1].abs_diff(80_000) < 800));
    assert_eq!(log("lat.3"), log("clat.3"));
    // A file that is somebody else's stays.
    std::fs::write(format!("{base}_bw.1.log"), "mine").unwrap();
    let refused = bench.iosonde(&words);
    assert_eq!((refused.code, log("bw.1").as_str()), (2, "mine"), "{}", refused.err);
}

fn numbers(line: &str) -> Vec<u64> {
    line.split(", ").map(|word| word.parse().unwrap()).collect()
}

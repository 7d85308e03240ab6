//! Programs that read fio's JSON read ours, and `iosonde fio` on real storage. Programs that are not installed are
//! skipped, visibly.
#![allow(missing_docs, clippy::print_stderr)]

mod common;

use std::{path::Path, process::Command};

use common::Bench;
use serde_json::Value;

/// Keys that a program reads of a document, each with its type: `i` a whole number, `n` a number, `s` a text, `o` an
/// object. `OP` stands for read and write.
type Keys = &'static [(&'static str, char)];

/// A program, the file of its source that reads the keys (as of November 2026), and the keys.
const READERS: &[(&str, &str, Keys)] = &[
    (
        "cbt",
        "post_processing/formatter/test_run_result.py",
        &[
            ("global options.iodepth", 's'),
            ("global options.bs", 's'),
            ("global options.rw", 's'),
            ("jobs.0.OP.io_bytes", 'i'),
            ("jobs.0.OP.bw_bytes", 'i'),
            ("jobs.0.OP.iops", 'n'),
            ("jobs.0.OP.total_ios", 'i'),
            ("jobs.0.OP.clat_ns.mean", 'n'),
            ("jobs.0.OP.clat_ns.stddev", 'n'),
        ],
    ),
    (
        "cbt",
        "tools/fio-parse-jsons/fio-parse-jsons.py",
        &[
            ("timestamp", 'i'),
            ("global options.iodepth", 's'),
            ("global options.rw", 's'),
            ("jobs.0.job options", 'o'),
            ("jobs.0.sys_cpu", 'n'),
            ("jobs.0.usr_cpu", 'n'),
        ],
    ),
    (
        "cbt",
        "tools/fio_objectstore_tools/summarize.py",
        &[
            ("jobs.0.OP.iops_min", 'i'),
            ("jobs.0.OP.iops_max", 'i'),
            ("jobs.0.OP.clat_ns.percentile.50@000000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.99@900000", 'i'),
            ("jobs.0.OP.slat_ns.mean", 'n'),
        ],
    ),
    (
        // It asks fio for percentiles 25 and 75 with percentile_list; they are no part of fio's 17.
        "PerfKitBenchmarker",
        "perfkitbenchmarker/linux_packages/fio.py",
        &[
            ("jobs.0.jobname", 's'),
            ("jobs.0.OP.io_bytes", 'i'),
            ("jobs.0.OP.iops", 'n'),
            ("jobs.0.OP.clat_ns.mean", 'n'),
            ("jobs.0.OP.clat_ns.stddev", 'n'),
            ("jobs.0.trim.io_bytes", 'i'),
            ("jobs.0.OP.bw", 'i'),
            ("jobs.0.OP.bw_min", 'i'),
            ("jobs.0.OP.bw_max", 'i'),
            ("jobs.0.OP.bw_dev", 'n'),
            ("jobs.0.OP.bw_agg", 'n'),
            ("jobs.0.OP.bw_mean", 'n'),
            ("jobs.0.OP.clat_ns.min", 'i'),
            ("jobs.0.OP.clat_ns.max", 'i'),
            ("jobs.0.OP.clat_ns.percentile.1@000000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.25@000000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.75@000000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.95@000000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.99@500000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.99@950000", 'i'),
            ("jobs.0.OP.clat_ns.percentile.99@990000", 'i'),
        ],
    ),
    (
        "kbench",
        "fio/func.sh",
        &[("jobs.0.OP.bw_mean", 'n'), ("jobs.0.OP.iops_mean", 'n'), ("jobs.0.OP.lat_ns.mean", 'n')],
    ),
    (
        "kbench",
        "metric-exporter/types/types.go",
        &[
            ("jobs.0.OP.bw_mean", 'n'),
            ("jobs.0.OP.iops_mean", 'n'),
            ("jobs.0.OP.lat_ns.mean", 'n'),
            ("jobs.0.OP.total_ios", 'i'),
        ],
    ),
    (
        "kubestr",
        "pkg/fio/fio_types.go",
        &[
            ("fio version", 's'),
            ("timestamp_ms", 'i'),
            ("time", 's'),
            ("jobs.0.groupid", 'i'),
            ("jobs.0.error", 'i'),
            ("jobs.0.eta", 'i'),
            ("jobs.0.elapsed", 'i'),
            ("jobs.0.job options.rw", 's'),
            ("jobs.0.job_runtime", 'i'),
            ("jobs.0.OP.io_kbytes", 'i'),
            ("jobs.0.OP.runtime", 'i'),
            ("jobs.0.OP.short_ios", 'i'),
            ("jobs.0.OP.drop_ios", 'i'),
            ("jobs.0.OP.slat_ns.N", 'i'),
            ("jobs.0.OP.lat_ns.min", 'i'),
            ("jobs.0.OP.bw_samples", 'i'),
            ("jobs.0.OP.iops_min", 'i'),
            ("jobs.0.OP.iops_max", 'i'),
            ("jobs.0.OP.iops_mean", 'n'),
            ("jobs.0.OP.iops_stddev", 'n'),
            ("jobs.0.OP.iops_samples", 'i'),
            ("jobs.0.latency_ns.1000", 'n'),
            ("jobs.0.latency_us.250", 'n'),
            ("jobs.0.latency_ms.>=2000", 'n'),
        ],
    ),
    (
        "troubleshoot",
        "pkg/collect/host_filesystem_performance.go",
        &[
            ("jobs.0.jobname", 's'),
            ("jobs.0.sync.lat_ns.percentile.1@000000", 'i'),
            ("jobs.0.sync.lat_ns.percentile.95@000000", 'i'),
            ("jobs.0.sync.lat_ns.percentile.99@950000", 'i'),
            ("jobs.0.sync.total_ios", 'i'),
            ("jobs.0.sync.lat_ns.min", 'i'),
            ("jobs.0.sync.lat_ns.max", 'i'),
            ("jobs.0.sync.lat_ns.mean", 'n'),
            ("jobs.0.sync.lat_ns.percentile.50@000000", 'i'),
            ("jobs.0.sync.lat_ns.percentile.99@000000", 'i'),
            ("jobs.0.sync.lat_ns.percentile.99@990000", 'i'),
        ],
    ),
    (
        "fio-plot",
        "fio_plot/fiolib/jsonparsing.py",
        &[
            ("jobs.0.job options.iodepth", 's'),
            ("jobs.0.job options.numjobs", 's'),
            ("jobs.0.job options.bs", 's'),
            ("jobs.0.job options.rw", 's'),
            ("jobs.0.OP.bw", 'i'),
            ("jobs.0.OP.iops_stddev", 'n'),
            ("jobs.0.OP.lat_ns.mean", 'n'),
            ("jobs.0.OP.lat_ns.stddev", 'n'),
            ("jobs.0.latency_ns", 'o'),
            ("jobs.0.latency_us", 'o'),
            ("jobs.0.latency_ms", 'o'),
        ],
    ),
];

/// A mix that flushes, on real storage, in fio's form with histograms.
fn document(bench: &Bench, name: &str) -> std::path::PathBuf {
    let out = bench.path(name);
    let target = bench.folder.path().to_str().unwrap();
    let words =
        ["fio", "-q", "--target", target, "--output-format", "json+", "--output", out.to_str().unwrap()];
    // What stands before the name is a global option, as in cbt's command lines.
    let line = "fio --rw=randrw --bs=4k --iodepth=1 --name=randread-1-1 --rw=randrw --bs=4k --iodepth=1 --numjobs=1 \
                --ioengine=psync --size=8m --fdatasync=8 --runtime=1 --time_based \
                --percentile_list=1:5:10:20:25:30:40:50:60:70:75:80:90:95:99:99.5:99.9:99.95:99.99";
    let all: Vec<&str> = words.into_iter().chain(["--"]).chain(line.split_whitespace()).collect();
    let said = bench.iosonde(&all);
    assert_eq!(said.code, 0, "{}", said.err);
    out
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A value by its path; `@` in a key is a point.
fn value<'a>(document: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(document, |value, key| match key.parse::<usize>() {
        Ok(at) if value.is_array() => value.get(at),
        _ => value.get(key.replace('@', ".")),
    })
}

#[test]
fn the_keys_that_programs_read_are_there_with_their_types() {
    let document = read(&document(&Bench::new(), "out.json"));
    for (program, file, keys) in READERS {
        for (path, kind) in *keys {
            for path in ["read", "write"].map(|op| path.replace("OP", op)) {
                let found =
                    value(&document, &path).unwrap_or_else(|| panic!("{program} ({file}) misses {path}"));
                let fits = match kind {
                    'i' => found.is_u64() || found.is_i64(),
                    'n' => found.is_f64(),
                    's' => found.is_string(),
                    _ => found.is_object(),
                };
                assert!(fits, "{program}: {path} is {found}");
            }
        }
    }
    // An idle direction has every key of one that moved something, but for the percentiles of no requests.
    let keys = |op: &str| document["jobs"][0][op].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys("trim"), keys("read"));
}

/// Runs a program; nothing where it is not installed.
fn run(program: &str, words: &[&str], folder: &Path) -> Option<String> {
    match Command::new(program).args(words).current_dir(folder).output() {
        Err(_) => {
            eprintln!("skipped: {program} is not installed");
            None
        }
        Ok(output) => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).into_owned();
            assert!(output.status.success(), "{program}: {said}");
            Some(said)
        }
    }
}

#[test]
fn fios_own_tool_reads_the_histograms() {
    let bench = Bench::new();
    let out = document(&bench, "out.json");
    let folder = bench.folder.path();
    let Some(_) = run("fio_jsonplus_clat2csv", &["out.json", "out.csv"], folder) else { return };
    let table = std::fs::read_to_string(folder.join("out_job0.csv")).unwrap();
    let rows = table.lines().skip(1).filter(|row| !row.trim().is_empty()).count();
    let bins = read(&out)["jobs"][0]["read"]["clat_ns"]["bins"].as_object().map_or(0, serde_json::Map::len);
    assert!(rows >= bins && bins > 0, "{rows} rows of {bins} bins");
}

#[test]
fn fio_plot_draws_the_results() {
    let bench = Bench::new();
    document(&bench, "randread-1-1.json");
    let folder = bench.folder.path();
    if !installed("fio-plot", folder) {
        return;
    }
    let words = [
        "-i", ".", "-T", "title", "-H", "-r", "randrw", "-f", "read", "-d", "1", "-n", "1", "-o", "plot.png",
    ];
    let Some(said) = run(folder.join("venv/bin/fio-plot").to_str().unwrap(), &words, folder) else { return };
    let pictures = std::fs::read_dir(folder).unwrap().filter_map(Result::ok);
    let drawn = pictures.filter(|entry| entry.path().extension().is_some_and(|end| end == "png")).count();
    assert!(drawn > 0, "{said}");
}

/// Debian's `fiologparser` reads four columns, and fio itself has written five since version 3.8; the fifth goes first.
#[test]
fn fios_log_parser_reads_our_logs() {
    let bench = Bench::new();
    let folder = bench.folder.path();
    let packed = "/usr/share/doc/fio/fiologparser.py.gz";
    if !Path::new(packed).exists() {
        eprintln!("skipped: {packed} is not installed (Debian's package fio)");
        return;
    }
    let base = bench.path("log");
    let logs = format!("--write_iops_log={}", base.display());
    let line = ["fio", "-q", "--target", "sim:ideal", "--", "fio", "--name=a", "--rw=randread", "--size=64m"];
    let more = ["--runtime=2", "--time_based", "--log_avg_msec=500", &logs];
    let said = bench.iosonde(&[&line[..], &more].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let text = std::fs::read_to_string(bench.path("log_iops.1.log")).unwrap();
    let four: String = text.lines().map(|line| format!("{}\n", line.rsplit_once(", ").unwrap().0)).collect();
    std::fs::write(bench.path("four.log"), four).unwrap();
    let code = format!("gzip -dc {packed} > parser.py && python3 parser.py -a -i 500 four.log");
    let Some(said) = run("sh", &["-c", &code], folder) else { return };
    let averages: Vec<f64> =
        said.lines().filter_map(|line| line.split_once(", ")?.1.trim().parse().ok()).collect();
    // 4 servers of 80 us, one request at a time.
    assert!(averages.len() >= 4 && averages.iter().all(|iops| (iops - 12_500.0).abs() < 50.0), "{said}");
}

#[test]
fn an_existing_file_is_read_and_not_overwritten_without_the_word() {
    let bench = Bench::new();
    let path = bench.file("data", 8);
    let before = std::fs::read(&path).unwrap();
    let file = format!("--filename={}", path.display());
    let line = |rw: &'static str| vec!["--", "fio", "--name=a", "--bs=4k", "--number_ios=64", rw];
    let on = |words: &[&str], rw: &'static str| {
        bench.iosonde(&[&["fio", "-q"], words, &line(rw)[..], &[file.as_str()]].concat())
    };
    let refused = on(&[], "--rw=randwrite");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("--filename=") && refused.err.contains("--destroy"), "{}", refused.err);
    let read = on(&[], "--rw=randread");
    assert_eq!(read.code, 0, "{}", read.err);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let written = on(&["--destroy"], "--rw=randwrite");
    assert_eq!(written.code, 0, "{}", written.err);
    assert_ne!(std::fs::read(&path).unwrap(), before);
    // What did not exist is made, and removed at the end.
    let names = common::names_in(bench.folder.path());
    let made = bench.iosonde(&[
        "fio",
        "-q",
        "--target",
        bench.folder.path().to_str().unwrap(),
        "--",
        "fio",
        "--name=b",
        "--rw=write",
        "--size=4m",
    ]);
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(common::names_in(bench.folder.path()), names);
}

/// Installs a package from PyPI into an environment of its own, `venv`; says so where that cannot be done.
fn installed(package: &str, folder: &Path) -> bool {
    let made = Command::new("python3").args(["-m", "venv", "venv"]).current_dir(folder).output();
    let pip = |made: std::process::Output| {
        made.status.success().then(|| {
            let words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", package];
            Command::new(folder.join("venv/bin/python")).args(words).current_dir(folder).output()
        })
    };
    let installed =
        made.ok().and_then(pip).and_then(Result::ok).is_some_and(|output| output.status.success());
    if !installed {
        eprintln!("skipped: {package} cannot be installed: no venv here, or PyPI is not reachable");
    }
    installed
}

/// Runs Python code with a package from PyPI; nothing where that is not reachable.
fn python(package: &str, code: &str, folder: &Path) -> Option<String> {
    if !installed(package, folder) {
        return None;
    }
    let output =
        Command::new(folder.join("venv/bin/python")).args(["-c", code]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    Some(said)
}

/// Prometheus' own client reads every family, sample and unit of our text.
#[test]
fn prometheus_reads_our_openmetrics() {
    let bench = Bench::new();
    let run = bench.run(&["run", "queue-depth", "sim:ideal", "--time", "10s"]);
    let said = bench.iosonde(&["export", "last", "-f", "openmetrics", "-o", "out.prom"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let code = "from prometheus_client.openmetrics.parser import text_string_to_metric_families as read\n\
                families = list(read(open('out.prom').read()))\n\
                bounds = sorted({s.labels.get('bound', '') for f in families for s in f.samples})\n\
                valid = sum(s.value for f in families if f.name == 'iosonde_point_valid' for s in f.samples)\n\
                print(len(families), sum(len(f.samples) for f in families), ','.join(bounds), int(valid))";
    let Some(said) = python("prometheus_client", code, bench.folder.path()) else { return };
    let text = std::fs::read_to_string(bench.path("out.prom")).unwrap();
    let count = |begins: &str| text.lines().filter(|line| line.starts_with(begins)).count();
    let samples = text.lines().count() - count("#");
    let expected = format!("{} {samples} ,high,low,value {}", count("# TYPE "), run.points.len());
    assert_eq!(said.trim(), expected);
}

/// Upper and lower bounds that hold however busy the machine is.
#[test]
fn pauses_and_a_later_start_take_their_time_on_real_storage() {
    let bench = Bench::new();
    let target = bench.folder.path().to_str().unwrap();
    let line = "fio --name=a --rw=randread --size=4m --number_ios=20 --thinktime=10ms --startdelay=1s";
    let words = ["fio", "-q", "--target", target, "--json", "--"];
    let all: Vec<&str> = words.into_iter().chain(line.split_whitespace()).collect();
    let said = bench.iosonde(&all);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let trials = document["trials"].as_array().unwrap();
    let trial = trials.iter().find(|trial| trial["phase"] == "measure").unwrap();
    assert_eq!(trial["read"]["ios"], 20);
    // 19 pauses lie between 20 requests.
    let measured_s = trial["measured_s"].as_f64().unwrap();
    assert!(measured_s >= 0.19, "{measured_s}");
    let elapsed_s = trial["elapsed_s"].as_f64().unwrap();
    assert!(elapsed_s >= measured_s + 0.99, "{elapsed_s}");
    let mean_ns = trial["read"]["latency_ns"]["mean"].as_f64().unwrap();
    assert!(mean_ns * 20.0 <= (measured_s - 0.19) * 1e9 + 1e6, "a pause is no latency: {mean_ns}");
}

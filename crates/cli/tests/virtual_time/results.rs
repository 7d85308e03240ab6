//! Other tools' results: what `judge` and `import` say of them, and of files that are none.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::common::Bench;
use iosonde_model::{CheckName, Outcome};
use iosonde_report::Document as Run;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/tests/data").join(name)
}

/// The published table of fio-matrix, as its author would have pasted it.
fn matrix() -> String {
    data("fio-matrix.csv").to_str().unwrap().to_owned()
}

fn judged(bench: &Bench, files: &[&str]) -> Run {
    bench.run(&[&["judge"], files].concat())
}

/// M3: "latency at depth 64, 256, 1024" with mean depths of 37, 134 and 515.
#[test]
fn the_six_4_kib_rows_are_void_as_depth_figures_and_the_others_are_not() {
    let bench = Bench::new();
    let run = judged(&bench, &[&matrix()]);
    let in_flight: Vec<_> = run
        .trials
        .iter()
        .map(|trial| {
            let own =
                |v: &&iosonde_report::VerdictLine| v.trial == Some(trial.id) && v.verdict == Outcome::Invalid;
            let voids: Vec<_> = run.verdicts.iter().filter(own).collect();
            assert!(voids.iter().all(|void| void.check == CheckName::LittlesLaw), "{voids:?}");
            (
                trial.experiment.as_str(),
                voids.first().map(|void| (void.figures["in_flight"] * 10.0).round() / 10.0),
            )
        })
        .collect();
    let expected = [
        ("test 1", Some(36.7)),
        ("test 2", None),
        ("test 3", None),
        ("test 4", Some(46.9)),
        ("test 5", Some(35.0)),
        ("test 6", Some(13.7)),
        ("test 7", Some(134.0)),
        ("test 8", Some(514.9)),
    ];
    assert_eq!(in_flight, expected);
    // No queue is fitted to anything here.
    assert!(run.findings.iter().all(|finding| finding.value.is_none()));
}

#[test]
fn a_published_table_is_judged_on_one_screen() {
    let bench = Bench::new();
    std::fs::copy(matrix(), bench.path("laptop.csv")).unwrap();
    let mut command = bench.command(&["judge", "laptop.csv"]);
    let output = command.env("COLUMNS", "100").output().unwrap();
    assert!(output.status.success());
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
    let strict = bench.iosonde(&["judge", "laptop.csv", "--strict"]);
    assert_eq!(strict.code, 3, "{}", strict.err);
}

#[test]
fn fios_json_is_judged_from_files_folders_and_standard_input() {
    let bench = Bench::new();
    let folder = bench.path("results/deep");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["fio-3.33-mixed.json", "fio-3.33-jobs.json", "fio-3.33-group.json", "fio-3.33-warnings.txt"]
    {
        std::fs::copy(data(name), folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("notes.txt"), "not a result").unwrap();
    std::fs::write(folder.join("fio.log"), "whatever").unwrap();
    let run = judged(&bench, &["results"]);
    // 1 + 3 + 2 + 1 results; the log is left alone and the notes are left aside.
    assert_eq!(run.trials.len(), 7);
    assert!(run.trials.iter().all(|trial| trial.experiment.replace('\\', "/").starts_with("results/deep/")));
    let said = bench.iosonde(&["judge", "results"]);
    let err = said.err.replace('\\', "/");
    assert!(err.contains("left aside: results/deep/notes.txt is no result"), "{err}");
    // A CI that reads the XML alone sees that a file was left aside.
    let xml = bench.iosonde(&["judge", "results", "--junit"]).out.replace('\\', "/");
    assert!(xml.contains("errors=\"1\"") && xml.contains("name=\"results/deep/notes.txt\""), "{xml}");
    let mut command = bench.command(&["judge", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&std::fs::read(data("fio-3.33-mixed.json")).unwrap()).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.starts_with("1 result from fio 3.33 (io_uring): 1 without a fault"), "{out}");
    // 17,444 × 170.8 us + 17,432 × 286.1 us = 7.97.
    assert!(out.contains("queue depth 8.0 of 8"), "{out}");
}

/// QD 16 requested of an engine with QD 1.
#[test]
fn a_depth_that_a_blocking_engine_cannot_have_is_void() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(data("fio-3.33-group.json")).unwrap();
    bench
        .text("deep.json", &text.replace("\"numjobs\" : \"2\"", "\"numjobs\" : \"2\", \"iodepth\" : \"16\""));
    let said = bench.iosonde(&["judge", "deep.json"]);
    assert!(said.out.contains("invalid (queue depth)"), "{}", said.out);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let sentence = "psync sends one request at a time: queue depth 2, not 32";
    assert!(words.join(" ").contains(sentence), "{}", said.out);
}

/// M1, M6: the page cache reported as a device, as in many a thread of fio's own tracker.
#[test]
fn buffered_results_get_a_warning() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(data("fio-3.33-warnings.txt")).unwrap();
    bench.text("buffered.txt", &text);
    let said = bench.iosonde(&["judge", "buffered.txt"]);
    assert!(said.out.starts_with("1 result from fio 3.33 (psync): 1 with a warning"), "{}", said.out);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    let words = words.join(" ");
    let of_a_small_file =
        "warning (device) buffered I/O to 16 MiB, which fits in the memory of nearly any machine";
    assert!(words.contains(of_a_small_file), "{}", said.out);
    let large = text.replace("\"size\" : \"16m\"", "\"size\" : \"400g\"");
    assert_ne!(large, text);
    bench.text("large.txt", &large);
    let said = bench.iosonde(&["judge", "large.txt"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("buffered I/O: memory may have served it"), "{said}");
}

#[test]
fn an_imported_result_is_a_run_like_any_other() {
    let bench = Bench::new();
    let said = bench.iosonde(&["import", &matrix(), "--label", "laptop"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.contains("8 results from") && said.out.contains("6 invalid, 2 without a fault"),
        "{}",
        said.out
    );
    let shown = bench.iosonde(&["show", "laptop"]);
    assert!(shown.out.contains("queue depth 515, not 1024"), "{}", shown.out);
    let run = bench.run(&["show", "laptop"]);
    assert_eq!((run.info.study.as_str(), run.info.device.kind.as_str()), ("import", "imported"));
    let report = bench.iosonde(&["report", "laptop", "-f", "md,html"]);
    assert_eq!(report.code, 0, "{}", report.err);
    assert_eq!(bench.iosonde(&["resume"]).code, 2);
    assert!(bench.iosonde(&["ls"]).out.contains("laptop"));
}

#[test]
fn a_run_of_another_notebook_is_kept_as_it_is_and_once() {
    let bench = Bench::new();
    let words = ["run", "queue-depth", "sim:ideal", "--time", "10s", "--label", "there", "-q"];
    assert_eq!(bench.iosonde(&words).code, 0);
    let there = bench.run(&["show", "last"]);
    for (format, name) in [("run", "there.iosonde"), ("json", "there.json")] {
        bench.iosonde(&["export", "last", "-f", format, "-o", name]);
        let store = format!("{format}.db");
        let import = ["import", name, "--note", "another machine", "--store", &store];
        let said = bench.iosonde(&import);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("queue-depth of sim:ideal"), "{}", said.out);
        let here = bench.run(&["show", "there", "--store", &store]);
        assert_eq!((&here.trials, &here.points), (&there.trials, &there.points));
        assert_eq!(here.info.note.as_deref(), Some("another machine"));
        bench.iosonde(&import).refused(&["is in the notebook already", "iosonde show"]);
    }
}

#[test]
fn what_is_no_result_is_said_with_its_name() {
    let bench = Bench::new();
    bench.text("empty.json", "");
    bench.text("prose.txt", "it was fast");
    let whole = std::fs::read_to_string(data("fio-3.33-mixed.json")).unwrap();
    bench.text("half.json", &whole[..whole.len() / 2]);
    bench.text("bad.csv", "block_size,read_iops\n4k,fast\n");
    std::fs::write(bench.path("bytes.json"), [0xff, 0xfe, 0, 1, 2]).unwrap();
    std::fs::create_dir(bench.path("nothing")).unwrap();
    bench.iosonde(&["judge", "absent.json"]).refused(&[
        "absent.json cannot be read: ",
        if cfg!(windows) { "" } else { "no such file or directory\n" },
    ]);
    bench.iosonde(&["judge", "empty.json"]).refused(&["empty.json is empty"]);
    bench.iosonde(&["judge", "prose.txt"]).refused(&[
        "prose.txt is no result that can be judged",
        "results of fio",
        "block_size",
    ]);
    bench.iosonde(&["judge", "bytes.json"]).refused(&["bytes.json is no result"]);
    bench.text("job.fio", "# mine\n[global]\nioengine=libaio\n[a]\nrw=randread\n");
    let run_it = "to run and judge it:  iosonde fio job.fio";
    bench.iosonde(&["judge", "job.fio"]).refused(&["job.fio is a fio job file and no result", run_it]);
    bench.iosonde(&["judge", "nothing"]).refused(&["nothing holds no file that ends in .json"]);
    if !cfg!(windows) {
        bench.iosonde(&["judge", "/dev/zero"]).refused(&["/dev/zero is no file"]);
    }
    bench.iosonde(&["judge"]).refused(&["<FILE>"]);
    bench.iosonde(&["judge", "half.json"]).refused(&["half.json", "ends early"]);
    // What stands in the wrong place is named with the command for it.
    bench.text("own.json", "{\n  \"iosonde\": \"0.1.0\",\n  \"schema\": 2\n}\n");
    bench.iosonde(&["judge", "own.json"]).refused(&["is a run of iosonde", "iosonde show own.json"]);
    bench.text("mixed.json", &whole);
    bench.iosonde(&["fio", "mixed.json"]).refused(&["holds results and no jobs", "iosonde judge mixed.json"]);
    // Nothing of a bad import is kept.
    assert!(bench.iosonde(&["ls"]).err.contains("there is no notebook"));
}

#[test]
fn damage_is_one_sentence_with_its_place() {
    let bench = Bench::new();
    let whole = std::fs::read_to_string(data("fio-3.33-mixed.json")).unwrap();
    bench.text("half.json", &whole[..whole.len() / 2]);
    bench.text("terse.txt", "3;fio-3.33;x;0;0;1055360");
    bench.text("bad.csv", "block_size,read_iops\n4k,fast\n");
    let xml = "<Results>\n <TimeSpan>\n  <TestTimeSeconds>ten</TestTimeSeconds>\n </TimeSpan>\n</Results>";
    bench.text(
        "bad.xml",
        &xml.replace("<TimeSpan>", "<Profile><TimeSpans><TimeSpan/></TimeSpans></Profile><TimeSpan>"),
    );
    bench.text(
        "bomb.xml",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE r [<!ENTITY a \"aa\">]>\n<Results>&a;</Results>",
    );
    bench.text("zero.txt", "fio\u{0}");
    bench.text("cut.txt", "a: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1\nfio-3.33\n");
    bench.text("dd.txt", "1+0 records in\n1+0 records out\n1024 bytes (1.0 kB) copied, 0.1 s, 10 kB/s\n");
    bench.text("twice.json", &whole.replacen("\"error\" : 0", "\"error\" : 0, \"error\" : 5", 1));
    let (first, rest) = whole.as_bytes().split_at(2);
    std::fs::write(bench.path("bytes.json"), [first, b"\xff\xfa", rest].concat()).unwrap();
    // fio prints warnings before its document: places count from the file's beginning.
    bench.text("warned.json", &format!("fio: a warning\nnote: another\n{}", &whole[..whole.len() / 2]));
    for (file, words) in [
        ("half.json:", "the JSON ends early"),
        ("warned.json:", "the JSON ends early"),
        ("bytes.json:2:1: ", "bytes that are not UTF-8"),
        ("twice.json:", "`error` stands twice"),
        ("bad.csv:2:4: ", "`fast` in column `read_iops` is no number"),
        ("terse.txt:1:25: ", "the terse line ends after 6 fields"),
        ("bad.xml:3:3: ", "`ten` in <TestTimeSeconds> is no number"),
        ("bomb.xml:2:1: ", "a DOCTYPE"),
        ("zero.txt:1:4: ", "a zero byte"),
        ("cut.txt:2:1: ", "ends before fio's results"),
        ("dd.txt:3:1: ", "put its command line above"),
    ] {
        let name = file.split(':').next().unwrap();
        let said = bench.iosonde(&["judge", name]);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
        assert!(said.err.contains(file) && said.err.contains(words), "{}", said.err);
    }
    // A file that no memory should be asked to hold.
    std::fs::File::create(bench.path("huge.json")).unwrap().set_len(2 << 30).unwrap();
    bench.iosonde(&["judge", "huge.json"]).refused(&["huge.json is larger than 256 MiB"]);
    let utf16: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(bench.path("windows.json"), [&[0xff, 0xfe], &utf16[..]].concat()).unwrap();
    assert!(bench.iosonde(&["judge", "windows.json"]).out.starts_with("1 result from fio 3.33"));
    bench.text("warning.json", &format!("fio: a warning\nnote: another\n{whole}"));
    assert!(bench.iosonde(&["judge", "warning.json"]).out.starts_with("1 result from fio 3.33"));
    bench.text("bars.csv", "block_size|read_iops\n4k|1000\n");
    assert!(bench.iosonde(&["judge", "bars.csv"]).out.starts_with("1 result"));
    bench.text("bom.json", &format!("\u{feff}{whole}"));
    assert!(bench.iosonde(&["judge", "bom.json"]).out.starts_with("1 result from fio 3.33"));
}

#[test]
fn an_exported_run_opens_on_another_machine() {
    let bench = Bench::new();
    let run = bench.run(&["point", "sim:ideal", "--time", "100ms", "--depth", "4"]);
    let said = bench.iosonde(&["export", "last", "-f", "run,json,csv"]);
    assert_eq!(said.code, 0, "{}", said.err);
    // A bench of its own has a notebook of its own, which holds nothing.
    let elsewhere = Bench::new();
    let name = format!("iosonde-point-{}", run.info.id);
    for ending in ["iosonde", "json"] {
        let file = format!("{name}.{ending}");
        std::fs::copy(bench.path(&file), elsewhere.path(&file)).unwrap();
        assert_eq!(elsewhere.run(&["show", &file]), run, "{ending}");
        // Windows keeps no mark at a file that says whose result it is.
        let force: &[&str] = if cfg!(windows) { &["--force"] } else { &[] };
        assert_eq!(elsewhere.iosonde(&[&["report", &file, "-f", "md"], force].concat()).code, 0);
    }
    let table = std::fs::read_to_string(bench.path(&format!("{name}.csv"))).unwrap();
    assert_eq!(table.lines().count(), 2, "{table}");
    elsewhere.text("fio.json", &std::fs::read_to_string(data("fio-3.33-mixed.json")).unwrap());
    elsewhere.iosonde(&["show", "fio.json"]).refused(&["fio.json holds no run", "iosonde judge"]);
    elsewhere.iosonde(&["export", "-f", "xlsx"]).refused(&["no export format named `xlsx`"]);
}

/// The real fio, where it is installed: whatever this version writes can be read.
#[test]
fn what_the_installed_fio_writes_can_be_judged() {
    let bench = Bench::new();
    let words = "--name=a --filename=f --size=4m --rw=randrw --bs=4k --runtime=1 --time_based --output-format=json \
                 --output=out.json";
    let run = Command::new("fio").args(words.split_whitespace()).current_dir(bench.folder.path()).output();
    if !run.is_ok_and(|output| output.status.success()) {
        return eprintln!("skipped: no fio here");
    }
    let said = bench.iosonde(&["judge", "out.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("1 result from fio 3."), "{}", said.out);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches("buffered I/O").count(), 1, "{}", said.out);
}

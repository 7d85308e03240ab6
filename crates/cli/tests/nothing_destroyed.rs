//! Ways to lose data: results over files, notebooks over files, targets that somebody needs. Each is refused as bad
//! usage, and not a byte of any file in the folder is another afterwards.

#![allow(missing_docs)]

mod common;

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::{FileTypeExt, MetadataExt, symlink},
    path::{Path, PathBuf},
};

use common::Bench;

/// What every file in the folder is, links and special files by their kind alone.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        let found = fs::symlink_metadata(&path).unwrap();
        let bytes = if found.is_file() { fs::read(&path).unwrap() } else { vec![] };
        (path, bytes)
    };
    // Beside an open notebook SQLite keeps an index of its log, which holds no data, and an empty log.
    let holds_data = |path: &PathBuf| {
        let is_log = path.ends_with("notebook.db-wal") || path.ends_with("notebook.db-shm");
        !is_log
            || (path.ends_with("notebook.db-wal") && fs::metadata(path).is_ok_and(|found| found.len() > 0))
    };
    paths.filter(holds_data).map(read).collect()
}

/// A folder with things that somebody needs, and with two runs in a notebook.
fn furnished() -> Bench {
    let bench = Bench::new();
    bench.text("small.toml", common::SMALL_STUDY);
    for _ in 0..2 {
        let run = ["point", "sim:ideal", "--time", "50ms", "--size", "1M"];
        let said = bench.iosonde(&run);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let said = bench.iosonde(&["export", "last", "-f", "run", "-o", "run.iosonde"]);
    assert_eq!(said.code, 0, "{}", said.err);
    bench.text("thesis.md", "# A year of work\n");
    bench.text("job.sh", "#!/bin/sh\nexit 0\n");
    let binary =
        |name: &str, bytes: &[u8]| fs::write(bench.path(name), [bytes, &[b'.'; 100]].concat()).unwrap();
    binary("program", b"\x7fELF");
    binary("other.db", b"SQLite format 3\0");
    binary("other.db-wal", b"\x37\x7f\x06\x82");
    binary("other.db-journal", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7");
    fs::copy(bench.path("notebook.db"), bench.path("archive.db")).unwrap();
    fs::hard_link(bench.path("archive.db"), bench.path("hard")).unwrap();
    symlink(bench.path("thesis.md"), bench.path("soft")).unwrap();
    fs::create_dir(bench.path("folder")).unwrap();
    bench
}

/// Runs it and holds the folder against what it was before.
fn refused(bench: &Bench, words: &[&str]) -> String {
    let before = contents(bench.folder.path());
    let said = bench.iosonde(words);
    assert_eq!(said.code, 2, "{words:?}: {}{}", said.out, said.err);
    assert!(!said.err.contains("panicked"), "{words:?}: {}", said.err);
    let after = contents(bench.folder.path());
    let changed: Vec<_> =
        before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(changed.is_empty(), "{words:?} changed {changed:?}: {}", said.err);
    said.err
}

#[test]
fn no_result_is_written_over_what_is_no_result() {
    let bench = furnished();
    let taken = [
        "thesis.md",
        "job.sh",
        "program",
        "small.toml",
        "other.db",
        "other.db-wal",
        "other.db-journal",
        "archive.db",
        // Not there, and SQLite would take it for its own.
        "archive.db-shm",
        "archive.db-journal",
        "notebook.db",
        "hard",
        "soft",
        "folder",
    ];
    let commands: [&[&str]; 11] = [
        &["run", "quick", "sim:ideal", "-o", "X"],
        &["run", "quick", "sim:ideal", "--json=X"],
        &["point", "sim:ideal", "--json=X"],
        &["report", "last", "-f", "text", "-o", "X"],
        &["report", "last", "-f", "json", "-o", "X"],
        &["export", "last", "-f", "csv", "-o", "X"],
        &["compare", "last", "last~1", "--json=X"],
        &["show", "last", "--json=X"],
        &["spec", "last", "--claim", "randread 4k 1000", "--json=X"],
        &["judge", "run.iosonde", "--json=X"],
        &["devices", "ideal", "--json=X"],
    ];
    for command in commands {
        for name in taken {
            let words: Vec<String> = command.iter().map(|word| word.replace('X', name)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let why = refused(&bench, &words);
            assert!(why.contains(name) || why.contains("thesis.md"), "{words:?}: {why}");
        }
    }
    // The user's word is enough for a file, and for nothing that holds runs.
    let forced = bench.iosonde(&["export", "last", "-f", "csv", "-o", "thesis.md", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.err);
    let databases = ["notebook.db", "hard", "archive.db", "archive.db-shm", "archive.db-journal"];
    for name in databases.iter().chain(&["other.db", "other.db-wal", "other.db-journal"]) {
        refused(&bench, &["export", "last", "-f", "csv", "-o", name, "--force"]);
    }
}

#[test]
fn what_a_command_reads_is_not_replaced_even_by_force() {
    let bench = furnished();
    let device = bench.iosonde(&["devices", "ideal", "--toml"]).out;
    bench.text("mine.toml", &device);
    for words in [
        &["export", "run.iosonde", "-f", "run", "-o", "run.iosonde"][..],
        &["report", "run.iosonde", "-f", "json", "-o", "run.iosonde"],
        &["show", "run.iosonde", "--json=run.iosonde"],
        &["judge", "run.iosonde", "--json=run.iosonde"],
        &["compare", "run.iosonde", "last", "--json=run.iosonde"],
        &["run", "small.toml", "sim:ideal", "-o", "small.toml"],
        &["run", "quick", "sim:mine.toml", "--json=mine.toml"],
        &["devices", "mine.toml", "--json=mine.toml"],
    ] {
        let forced: Vec<&str> = words.iter().copied().chain(["--force"]).collect();
        let why = refused(&bench, &forced);
        assert!(why.contains("results need a file of their own"), "{words:?}: {why}");
    }
}

#[test]
fn a_result_replaces_an_earlier_result() {
    let bench = furnished();
    for (command, format, name) in
        [("report", "text", "r.txt"), ("export", "csv", "r.csv"), ("report", "json", "r.json")]
    {
        for _ in 0..2 {
            let said = bench.iosonde(&[command, "last", "-f", format, "-o", name]);
            assert_eq!(said.code, 0, "{name}: {}", said.err);
        }
    }
}

#[test]
fn no_notebook_is_made_of_what_is_none() {
    let bench = furnished();
    fs::write(bench.path("gone.db-wal"), b"\x37\x7f\x06\x82 a log without its database").unwrap();
    let folder = bench.folder.path();
    let stores =
        ["thesis.md", "program", "other.db", "soft", "folder", "gone.db"].map(|name| folder.join(name));
    for store in stores.iter().map(|path| path.to_str().unwrap()).chain(["/dev/null", "/dev/zero"]) {
        for words in [&["ls"][..], &["point", "sim:ideal", "--time", "50ms"], &["rm", "last"], &["show"]] {
            // A notebook that is not there is an empty one to `ls`.
            if words == ["ls"] && store.ends_with("gone.db") {
                continue;
            }
            let words: Vec<&str> = words.iter().copied().chain(["--store", store]).collect();
            refused(&bench, &words);
        }
    }
}

#[test]
fn no_target_is_what_the_run_or_somebody_else_needs() {
    let bench = furnished();
    for name in ["vm.img", "locked.db", "report.html"] {
        fs::write(bench.path(name), vec![7; 2 << 20]).unwrap();
    }
    let vm = File::options().write(true).open(bench.path("vm.img")).unwrap();
    let locked = File::open(bench.path("locked.db")).unwrap();
    locked.lock_shared().unwrap();
    let point = ["--time", "50ms", "--size", "1M", "--rw", "randwrite", "--destroy"];
    for (target, more, reason) in [
        ("notebook.db", &[][..], "iosonde's notebook of runs"),
        ("hard", &[], "one of iosonde's notebooks of runs"),
        ("archive.db", &[], "one of iosonde's notebooks of runs"),
        ("vm.img", &[], "open for writing"),
        ("locked.db", &[], "locked"),
        ("report.html", &["--json=report.html"], "results need a file of their own"),
    ] {
        let words: Vec<&str> = ["point", target].iter().chain(&point).chain(more).copied().collect();
        let why = refused(&bench, &words);
        assert!(why.contains(reason), "{words:?}: {why}");
    }
    let why = refused(&bench, &["run", "small.toml", "small.toml", "--destroy"]);
    assert!(why.contains("what this command reads"), "{why}");
    let inode = format!("--destroy=inode-{}", fs::metadata(bench.path("notebook.db")).unwrap().ino());
    refused(&bench, &["point", "notebook.db", "--rw", "randwrite", "--time", "50ms", "--size", "1M", &inode]);
    drop((vm, locked));
}

#[test]
fn special_files_are_no_targets() {
    let bench = furnished();
    let pipe = bench.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for target in ["pipe", "/dev/null", "/dev/zero"] {
        refused(&bench, &["point", target, "--time", "50ms", "--destroy"]);
    }
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

/// The target's name leads now to a file that may be overwritten, now to one that another program writes to: what is
/// judged is what is opened.
#[test]
fn a_link_that_is_changed_all_the_time_leads_to_no_file_in_use() {
    let bench = Bench::new();
    let (scratch, precious) = (bench.file("scratch", 2), bench.file("precious", 2));
    let in_use = File::options().write(true).open(&precious).unwrap();
    let before = fs::read(&precious).unwrap();
    let lead_to = |to: &Path| {
        symlink(to, bench.path("next")).unwrap();
        fs::rename(bench.path("next"), bench.path("target")).unwrap();
    };
    lead_to(&scratch);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let codes = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                lead_to(&precious);
                lead_to(&scratch);
            }
        });
        let words =
            ["point", "target", "--destroy", "--rw", "randwrite", "--size", "1M", "--time", "20ms", "-q"];
        let codes = [0; 20].map(|_| bench.iosonde(&words).code);
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        codes
    });
    drop(in_use);
    assert!(fs::read(&precious).unwrap() == before, "written to: {codes:?}");
    assert!(codes.iter().all(|code| [0, 2].contains(code)), "{codes:?}");
}

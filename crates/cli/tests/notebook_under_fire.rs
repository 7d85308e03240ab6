//! The notebook while the machine fails it: a disk that fills, a limit, a file that somebody removes. The run stays,
//! and goes on.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{fs, io::ErrorKind, path::Path, process::Command};

use common::{
    Bench, SMALL_STUDY, Said, TINY,
    mounted::{Mounted, is_root},
    names_in,
};

const ON_A_FILE: [&str; 4] = ["run", "tiny.toml", "data", "--read-only"];

fn with_a_file() -> Bench {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    bench.file("data", 4);
    bench
}

/// What was measured, without the moments of the day.
fn measured(said: &Said) -> Vec<(f64, Option<f64>)> {
    let run: iosonde_report::Document =
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}", said.err));
    run.trials.iter().map(|trial| (trial.started_s, trial.read.as_ref().map(|read| read.iops))).collect()
}

#[test]
fn a_run_that_its_notebooks_disk_had_no_room_for_goes_on_once_there_is() {
    let bench = Bench::new();
    let Some(small) = Mounted::tmpfs(&bench.path("small"), "110k") else { return };
    let store = bench.path("small/n.db");
    let run = |words: &[&str]| bench.iosonde(&[words, &["--store", store.to_str().unwrap()]].concat());
    bench.text("small.toml", SMALL_STUDY);
    let whole = bench.iosonde(&["run", "small.toml", "sim:sata-ssd", "--seed", "5", "--json", "-q"]);
    // The room ends at another place of the commit each time.
    for kib in [110, 130, 150, 170, 190, 210] {
        names_in(&bench.path("small"))
            .iter()
            .for_each(|name| fs::remove_file(bench.path("small").join(name)).unwrap());
        small.resize(&format!("{kib}k"));
        let said = run(&["run", "small.toml", "sim:sata-ssd", "--seed", "5", "-q"]);
        assert_eq!(said.code, 1, "{}", said.err);
        for words in ["its file system is full", "trials are kept; to go on:  iosonde resume", "--store"] {
            assert!(said.err.contains(words), "{kib} KiB: {}", said.err);
        }
        assert_eq!(run(&["show"]).code, 0);
        small.resize("20M");
        let said = run(&["resume", "--json", "-q"]);
        assert_eq!(said.code, 0, "{kib} KiB: {}", said.err);
        assert_eq!(measured(&said), measured(&whole));
    }
}

#[test]
fn a_limit_on_file_sizes_is_an_error_that_names_it_and_the_run_goes_on_without_it() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let words = ["run", "small.toml", "sim:sata-ssd", "--seed", "5", "-q"];
    let inner = bench.command(&words);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 100 && exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    limited.current_dir(bench.folder.path()).env("IOSONDE_STORE", bench.path("notebook.db"));
    let output = limited.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("may write no file larger than") && err.contains("ulimit -f"), "{err}");
    assert!(err.contains("to go on:  iosonde resume"), "{err}");
    assert_eq!(bench.iosonde(&["resume", "-q"]).code, 0);
    assert!(bench.iosonde(&["ls"]).out.contains("done"));
}

/// A run on a file, whose notebook meets `blow` after three trials: how it ended, and its notebook then.
fn struck(bench: &Bench, blow: impl FnOnce()) -> Said {
    bench.iosonde(&["point", "sim:ideal", "--time", "50ms"]);
    let run = bench.after_trials(&ON_A_FILE, 3);
    blow();
    let said = run.wait();
    assert_eq!(said.code, 0, "{}", said.err);
    let words = ["was removed or replaced while run", "could no longer be read and written while run"];
    assert!(words.iter().any(|words| said.err.contains(words)), "{}", said.err);
    said
}

/// The last run of a notebook has all trials that it said, three of them before the blow, and no lock is left.
fn whole(bench: &Bench, said: &Said, store: &Path) {
    let trials = 3 + said.err.lines().filter(|line| line.starts_with("trial")).count();
    let said = bench.iosonde(&["show", "--json", "-q", "--store", store.to_str().unwrap()]);
    assert_eq!(measured(&said).len(), trials, "{}", said.err);
    assert!(said.out.contains("\"state\": \"done\""));
    let locks = names_in(bench.folder.path()).into_iter().filter(|name| name.ends_with(".running"));
    assert_eq!(locks.count(), 0);
}

#[test]
fn a_run_whose_notebook_is_removed_is_kept_in_a_new_one() {
    for all in [false, true] {
        let bench = with_a_file();
        let said = struck(&bench, || {
            // The database goes last: a run that sees it gone beside its log leaves that log alone.
            let mut names = names_in(bench.folder.path());
            names.sort_by_key(|name| name == "notebook.db");
            for name in names {
                if name == "notebook.db" || all && name.starts_with("notebook.db") {
                    // The run, which sees the first file gone, may remove its own lock before this loop does.
                    if let Err(error) = fs::remove_file(bench.path(&name)) {
                        assert!(
                            name != "notebook.db" && error.kind() == ErrorKind::NotFound,
                            "{name}: {error}"
                        );
                    }
                }
            }
        });
        // A log without its database may be all that is left of other runs: it is let alone.
        let kept = said.err.split("trials are kept in ").nth(1).unwrap().split(", and").next().unwrap();
        assert_eq!(kept.ends_with("/notebook.db"), all, "{kept}");
        whole(&bench, &said, Path::new(kept));
    }
}

#[test]
fn a_run_whose_notebook_is_damaged_is_kept_beside_it() {
    // Cut to nothing, or overwritten with its log.
    for cut in [true, false] {
        let bench = with_a_file();
        let said = struck(&bench, || {
            let ends: &[&str] = if cut { &[""] } else { &["", "-wal"] };
            for end in ends {
                let path = bench.path(&format!("notebook.db{end}"));
                let length = fs::metadata(&path).unwrap().len();
                fs::write(&path, if cut { Vec::new() } else { vec![0xa5; length as usize] }).unwrap();
            }
        });
        let kept = said.err.split("trials are kept in ").nth(1).unwrap_or_else(|| panic!("{}", said.err));
        let kept = kept.split(", and").next().unwrap();
        assert!(
            said.err.contains("could no longer be read and written while run")
                && !kept.ends_with("/notebook.db"),
            "{}",
            said.err
        );
        whole(&bench, &said, Path::new(kept));
    }
}

#[test]
fn a_run_whose_notebook_is_another_file_now_leaves_that_one_alone() {
    let bench = with_a_file();
    let said = struck(&bench, || {
        fs::rename(bench.path("notebook.db"), bench.path("moved.db")).unwrap();
        fs::write(bench.path("notebook.db"), "a letter").unwrap();
    });
    assert_eq!(fs::read(bench.path("notebook.db")).unwrap(), b"a letter");
    let beside = names_in(bench.folder.path())
        .into_iter()
        .find(|name| name.starts_with("iosonde-") && name.ends_with(".db"));
    whole(&bench, &said, &bench.path(&beside.unwrap()));
}

#[test]
fn a_run_whose_notebook_is_restored_from_a_copy_goes_on_in_the_copy() {
    let bench = with_a_file();
    bench.iosonde(&["point", "sim:ideal", "--time", "50ms", "--label", "old"]);
    fs::copy(bench.path("notebook.db"), bench.path("copy.db")).unwrap();
    let said = struck(&bench, || {
        for name in ["notebook.db-wal", "notebook.db-shm"] {
            let _ = fs::remove_file(bench.path(name));
        }
        fs::rename(bench.path("copy.db"), bench.path("notebook.db")).unwrap();
    });
    whole(&bench, &said, &bench.path("notebook.db"));
    assert!(bench.iosonde(&["ls"]).out.contains("[old]"));
}

/// Those that measure in virtual time, and one on a file, while others read.
#[test]
fn several_runs_into_one_notebook_at_once_are_all_kept() {
    let with_a_study = |bench: Bench| {
        bench.text("small.toml", SMALL_STUDY);
        bench
    };
    let bench = with_a_study(with_a_file());
    let simulated = |bench: &Bench, seed: &str| {
        let words = ["run", "small.toml", "sim:sata-ssd", "--seed", seed, "--label", seed, "--json", "-q"];
        let said = bench.iosonde(&words);
        assert_eq!(said.code, 0, "{}", said.err);
        measured(&said)
    };
    let on_a_file = std::thread::scope(|scope| {
        let on_a_file = scope.spawn(|| bench.iosonde(&[&ON_A_FILE[..], &["--label", "file", "-v"]].concat()));
        let together = ["1", "2", "3"]
            .map(|seed| scope.spawn(move || (seed, simulated(&with_a_study(Bench::new()), seed))));
        let shared = ["1", "2", "3"].map(|seed| {
            let bench = &bench;
            scope.spawn(move || simulated(bench, seed))
        });
        for (alone, shared) in together.into_iter().zip(shared) {
            let (seed, alone) = alone.join().unwrap();
            assert_eq!(alone, shared.join().unwrap(), "seed {seed}");
        }
        let said = on_a_file.join().unwrap();
        assert_eq!(said.code, 0, "{}", said.err);
        // On a busy machine few trials fit into its time.
        said.err.lines().filter(|line| line.starts_with("trial")).count()
    });
    for (label, trials) in [("1", None), ("2", None), ("3", None), ("file", Some(on_a_file))] {
        let said = bench.iosonde(&["show", label, "--json", "-q"]);
        let kept = measured(&said).len();
        assert!(trials.map_or(kept > 3, |trials| kept == trials), "{label}: {kept} trials\n{}", said.err);
        assert!(said.out.contains("\"state\": \"done\""), "{label}: {}", said.err);
    }
    assert_eq!(bench.iosonde(&["ls"]).out.matches("done").count(), 4);
}

/// Every command that reads, on a notebook that it may not write: all work, and nothing is made or changed.
fn reads(bench: &Bench, as_whom: &[&str], folder: &Path, program: &Path) {
    let contents = || -> Vec<_> {
        let paths = names_in(folder).into_iter().map(|name| folder.join(name));
        paths.map(|path| (fs::read(&path).unwrap(), path)).collect()
    };
    let before = contents();
    for words in [
        &["ls"][..],
        &["show"],
        &["report", "-f", "text", "-o", "-"],
        &["report", "-f", "html", "-o", "-"],
        &["export", "last", "-f", "csv", "-o", "-"],
        &["compare", "last", "last~1"],
    ] {
        let line = [as_whom, &[program.to_str().unwrap()], words].concat();
        let mut command = Command::new(line[0]);
        command.args(&line[1..]).current_dir(bench.folder.path());
        command.env("IOSONDE_STORE", folder.join("n.db")).env("HOME", "/nonexistent");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{words:?}");
    }
    assert!(before == contents(), "something in {} has changed", folder.display());
}

#[test]
fn a_notebook_on_a_read_only_medium_and_somebody_elses_can_be_read() {
    let bench = Bench::new();
    if !is_root() {
        return eprintln!("skipped: mounting, and becoming another user, need root");
    }
    let Some(medium) = Mounted::tmpfs(&bench.path("medium"), "20M") else { return };
    let folder = bench.path("medium");
    for _ in 0..2 {
        let words = ["run", "quick", "sim:ideal", "-q", "--store", "medium/n.db"];
        assert_eq!(bench.iosonde(&words).code, 0);
    }
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    mode(bench.folder.path(), 0o755);
    mode(&folder, 0o755);
    // The program's folder may lie where only root may look.
    let program = bench.path("iosonde");
    fs::copy(env!("CARGO_BIN_EXE_iosonde"), &program).unwrap();
    let stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    reads(&bench, &stranger, &folder, &program);
    medium.read_only();
    reads(&bench, &["env"], &folder, &program);
    let said = bench.iosonde(&["point", "sim:ideal", "--time", "50ms", "--store", "medium/n.db"]);
    said.refused(&["medium/n.db", "cannot be written", "--store PATH"]);
}

#[test]
fn a_notebook_that_is_mounted_as_a_single_file_is_read_and_not_written() {
    let bench = Bench::new();
    assert_eq!(bench.iosonde(&["point", "sim:ideal", "--time", "1s", "-q"]).code, 0);
    let bound = Mounted::bound(&bench.path("notebook.db"), &bench.path("bound.db"));
    let Some(_bound) = bound.filter(|_| is_root()) else {
        return eprintln!("skipped: this user may not mount");
    };
    let before = std::fs::read(bench.path("notebook.db")).unwrap();
    let measure = ["point", "sim:ideal", "--time", "1s", "-q", "--store", "bound.db"];
    bench.iosonde(&measure).refused(&["bound.db", "second name", "cp"]);
    assert!(bench.iosonde(&["ls", "--store", "bound.db"]).out.contains("sim:ideal"));
    assert_eq!(std::fs::read(bench.path("notebook.db")).unwrap(), before);
}

//! Least power: what the program can still do while it measures, whose links it follows, and who may read what it
//! writes.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, lchown, symlink},
    process::Command,
};

use common::{Bench, Said, mounted, names_in, preload};

/// A library tries to make two files in the middle of the measured loop, as a mistake of the program could.
#[test]
fn nothing_but_the_notebooks_folder_can_be_changed_while_it_measures() {
    let bench = Bench::new();
    let Some(library) = preload::library(&bench) else { return };
    for folder in ["elsewhere", "kept"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    bench.file("data", 8);
    let words = ["point", "data", "--read-only", "--engine", "psync", "--time", "200ms", "-q"];
    let run = |words: &[&str]| {
        let mut command = bench.command(words);
        command.env("LD_PRELOAD", &library).env("IOSONDE_STORE", bench.path("kept/n.db"));
        // The folder for temporary files is a place for lost notebooks.
        command.env("TMPDIR", bench.path("kept"));
        command.env("PRELOAD_TARGET", bench.path("data")).env("PRELOAD_FAULT", "trespass");
        command.env("PRELOAD_ALLOWED", bench.path("kept/made"));
        command.env("PRELOAD_FORBIDDEN", bench.path("elsewhere/made"));
        Said::of(command.output().unwrap())
    };
    let said = run(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(bench.path("kept/made").exists(), "the library tried nothing");
    let forbidden = bench.path("elsewhere/made");
    if forbidden.exists() {
        // The rig's own test says whether this kernel could have.
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    // A report lies where the user is, and is written after that.
    let said = run(&[&words[..], &["--json=elsewhere/result.json"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(names_in(&bench.path("elsewhere")), ["result.json"]);
}

#[test]
fn each_of_fios_targets_is_measured_though_power_was_given_up_for_the_one_before() {
    let bench = Bench::new();
    for folder in ["kept", "one", "two"] {
        fs::create_dir(bench.path(folder)).unwrap();
    }
    let jobs = "[global]\nrw=write\nsize=1m\n[a]\ndirectory=one\n[b]\nstonewall\ndirectory=two\n";
    bench.text("jobs.fio", jobs);
    let mut command = bench.command(&["fio", "jobs.fio"]);
    command.env("IOSONDE_STORE", bench.path("kept/n.db")).env("TMPDIR", bench.path("kept"));
    let said = Said::of(command.output().unwrap());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("jobs on one") && said.out.contains("jobs on two"), "{}", said.out);
    // A target that is refused is refused before the first one is written.
    let data = bench.file("data", 1);
    let before = fs::read(&data).unwrap();
    bench.text("jobs.fio", &jobs.replace("directory=two", "filename=data"));
    let refused = bench.iosonde(&["fio", "jobs.fio"]);
    refused.refused(&["data is an existing file", "--destroy"]);
    assert!(!refused.err.contains("running") && !refused.out.contains("jobs on one"), "{}", refused.err);
    assert_eq!(fs::read(&data).unwrap(), before);
}

#[test]
fn root_has_three_capabilities_left_while_it_measures() {
    let bench = Bench::new();
    bench.text("small.toml", common::SMALL_STUDY);
    fs::create_dir(bench.path("here")).unwrap();
    let run = bench.after_trials(&["run", "small.toml", "here", "--size", "16M"], 2);
    // DAC_OVERRIDE, CHOWN, IPC_LOCK, and SYS_ADMIN where rings need it.
    let most = 1_u64 << 1 | 1 | 1 << 14 | 1 << 21;
    let has = u64::from_str_radix(&run.status("CapEff:"), 16).unwrap();
    let gains_nothing = run.status("NoNewPrivs:");
    let said = run.wait();
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!((has & !most, gains_nothing.as_str()), (0, "1"), "{has:x}");
    assert!(names_in(bench.folder.path()).iter().any(|name| name.ends_with(".html")), "no report");
}

#[test]
fn strangers_links_where_all_may_write_are_not_followed() {
    let bench = Bench::new();
    if !mounted::is_root() {
        eprintln!("skipped: a link of another user needs root");
        return;
    }
    let shared = bench.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let precious = bench.file("precious", 8);
    let before = fs::read(&precious).unwrap();
    for name in ["target", "notebook", "report.json"] {
        symlink(&precious, shared.join(name)).unwrap();
        lchown(shared.join(name), Some(65534), None).unwrap();
    }
    let point = ["point", "sim:ideal", "--time", "50ms", "--size", "1M"];
    let write = ["point", "shared/target", "--destroy", "--rw", "randwrite", "--time", "50ms"];
    let words = ["another user's link", "It was not followed"];
    bench.iosonde(&write).refused(&words);
    bench.iosonde(&[&point[..], &["--store", "shared/notebook"]].concat()).refused(&words);
    bench.iosonde(&[&point[..], &["--json=shared/report.json", "--force"]].concat()).refused(&words);
    assert_eq!(fs::read(&precious).unwrap(), before);
    // One's own link is a name like any other.
    symlink(&precious, shared.join("mine")).unwrap();
    let said = bench.iosonde(&["point", "shared/mine", "--read-only", "--time", "50ms", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn what_is_written_is_read_by_whom_the_user_allows() {
    for (mask, mode) in [("077", 0o600), ("027", 0o640), ("022", 0o644)] {
        let bench = Bench::new();
        let words = ["point", "sim:ideal", "--time", "50ms", "--size", "1M", "--json=result.json"];
        let inner = bench.command(&words);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("umask {mask} && exec \"$@\""), "sh"]);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(bench.folder.path());
        let said = Said::of(command.env("IOSONDE_STORE", bench.path("notebook.db")).output().unwrap());
        assert_eq!(said.code, 0, "{}", said.err);
        for name in ["notebook.db", "result.json"] {
            let found = fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(found, mode, "{name} under umask {mask}: {found:o}");
        }
    }
}

/// What is written to a stream is never read from it, which would wait for ever.
#[test]
fn a_result_goes_into_a_pipe() {
    let bench = Bench::new();
    let words = ["point", "sim:ideal", "--time", "50ms", "--size", "1M", "-q", "--json=/dev/stdout"];
    let said = bench.iosonde(&words);
    assert!(said.code == 0 && said.out.starts_with("{\n  \"iosonde\""), "{}{}", said.out, said.err);
}

//! `iosonde files`: known rates of a simulated service, nothing left behind, and what cannot be is refused.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use common::{Bench, Said, mounted, names_in};
use serde_json::Value;

/// Two servers; a time of its own for each step.
const SERVICE: &str = "name = \"service\"\ncapacity = \"1GB\"\n[queue]\nservers = 1\nservice = { fixed = \"100us\" }\n\
     [files]\nservers = 2\ncreate = \"200us\"\nstat = \"5us\"\nopen = \"10us\"\nread = \"50us\"\nlist = \"2ms\"\n\
     rename = \"100us\"\nunlink = \"150us\"\nwrite_fsync = \"3ms\"\nsync = \"500ms\"\n";

fn document(said: &Said) -> Value {
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}{}", said.out, said.err))
}

fn step<'a>(document: &'a Value, name: &str) -> &'a Value {
    let steps = document["steps"].as_array().unwrap();
    steps.iter().find(|step| step["step"] == name).unwrap_or_else(|| panic!("no {name}"))
}

fn holds(estimate: &Value, truth: f64) -> bool {
    let [low, value, high] = ["low", "value", "high"].map(|end| estimate[end].as_f64().unwrap());
    low <= truth * (1.0 + 1e-9) && truth <= high * (1.0 + 1e-9) && (value / truth - 1.0).abs() < 0.05
}

#[test]
fn a_simulated_service_is_measured_as_it_is() {
    let bench = Bench::new();
    bench.text("service.toml", SERVICE);
    let said = bench.iosonde(&["files", "sim:service.toml", "--workers", "8", "--seed", "1", "--json", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let found = document(&said);
    // Of 8 workers 2 are served: 2 / time a second, and each waits for 8 / 2 times; the first ones wait less.
    for (name, time_ns) in [("create", 200e3), ("stat", 5e3), ("rename", 100e3), ("write-fsync", 3e6)] {
        let step = step(&found, name);
        assert!((step["per_s"]["value"].as_f64().unwrap() * time_ns / 2e9 - 1.0).abs() < 0.01, "{step}");
        assert!(
            (step["latency_ns_mean"]["value"].as_f64().unwrap() / (4.0 * time_ns) - 1.0).abs() < 0.02,
            "{step}"
        );
        assert_eq!(step["from_memory"], Value::Null);
    }
    // 10,000 files in 1 s, and half a second for all of them.
    assert!((found["synced_creates_per_s"]["value"].as_f64().unwrap() / (10_000.0 / 1.5) - 1.0).abs() < 0.1);
    let findings = found["findings"].as_array().unwrap();
    let names: Vec<&str> = findings.iter().map(|finding| finding["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["file_creates_per_s", "stat_latency", "fsync_file_latency"]);
    assert!(findings.iter().all(|finding| finding["confidence"] == 0.95 && finding["low"].is_number()));
    // Equal seeds, equal documents but for the date.
    let undated = |said: &Said| {
        let mut document = document(said);
        document["circumstances"]["started_at"].take();
        document
    };
    let again =
        bench.iosonde(&["files", "sim:service.toml", "--workers", "8", "--seed", "1", "--json", "-q"]);
    assert_eq!(undated(&again), undated(&said));
}

#[test]
fn intervals_hold_the_truth_of_a_service_that_varies() {
    let bench = Bench::new();
    bench.text("service.toml", &format!("{SERVICE}cv = 0.5\n"));
    let (mut held, mut of) = (0, 0);
    for seed in 1..=20 {
        let words =
            ["files", "sim:service.toml", "--files", "500", "--seed", &seed.to_string(), "--json", "-q"]
                .map(str::to_owned);
        let said = bench.iosonde(&words.each_ref().map(String::as_str));
        let found = document(&said);
        for (name, time_ns) in [("create", 200e3), ("read", 50e3), ("unlink", 150e3), ("write-fsync", 3e6)] {
            of += 1;
            held += usize::from(holds(&step(&found, name)["per_s"], 1e9 / time_ns));
        }
    }
    // 95 % of 80 is 76; fewer than 70 has a probability of 0.6 %.
    assert!(held >= 70, "{held} of {of}");
}

#[test]
fn files_are_measured_and_nothing_is_left() {
    let bench = Bench::new();
    fs::create_dir(bench.path("here")).unwrap();
    fs::write(bench.path("here/thesis.tex"), "precious").unwrap();
    symlink(bench.path("here"), bench.path("link")).unwrap();
    for words in
        [&["here"][..], &["here", "--workers", "3", "--directories", "2"], &["here", "--uncached"], &["link"]]
    {
        let options = ["--files", "60", "--rounds", "3", "--time", "3s", "--json", "-q"];
        let said = bench.iosonde(&[&["files"][..], words, &options].concat());
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        let found = document(&said);
        let steps = found["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 8);
        for step in steps {
            assert!(
                step["done"].as_u64().unwrap() > 0 && step["per_s"]["value"].as_f64().unwrap() > 0.0,
                "{step}"
            );
        }
        assert_eq!(step(&found, "create")["done"], step(&found, "unlink")["done"], "all are removed");
        assert_eq!(names_in(&bench.path("here")), ["thesis.tex"], "{words:?}");
    }
    assert_eq!(fs::read_to_string(bench.path("here/thesis.tex")).unwrap(), "precious");
}

#[test]
fn screen_and_page_have_a_table_and_the_screen_says_what_memory_answered() {
    let bench = Bench::new();
    let said = bench
        .iosonde(&["files", "./", "--files", "50", "--rounds", "3", "--time", "2s", "-q", "-o", "p.html"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.starts_with("FILES         ./: "), "{}", said.out);
    for part in ["per second", "write+fsync  ", "  memory      "] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let page = fs::read_to_string(bench.path("p.html")).unwrap();
    for part in ["chart-files-per-second", "chart-time-of-a-step", "write+fsync", "iosonde files ./"] {
        assert!(page.contains(part), "{part}");
    }
}

/// Starts it with many files and waits until some are there.
fn under_way(bench: &Bench) -> Child {
    let mut command = bench.command(&["files", "here", "--files", "20000", "--time", "1m", "-q"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let own = || names_in(&bench.path("here")).into_iter().find(|name| name.starts_with(".iosonde-"));
    let is_full = |name: String| {
        fs::read_dir(bench.path("here").join(name).join("d00000")).is_ok_and(|all| all.count() > 20)
    };
    let found = (0..3000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        own().is_some_and(is_full)
    });
    if !found {
        let _ = child.kill();
        let _ = child.wait();
        panic!("no files were made");
    }
    child
}

/// The processes that would remove what a killed measurement leaves: nobody's children, known by what they inherited.
fn cleaners(bench: &Bench) -> Vec<u32> {
    let folder = bench.path("").into_os_string().into_encoded_bytes();
    let is_ours = |process: &u32| {
        let read = |name: &str| fs::read(format!("/proc/{process}/{name}")).unwrap_or_default();
        read("comm").starts_with(b"iosonde-cleaner")
            && read("environ").windows(folder.len()).any(|part| part == folder)
    };
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

/// SIGKILL to these, which then have no time for anything. 30 s at most until they have ended: a process that was
/// killed holds its locks until then, which takes a while on a busy disk.
fn kill(processes: &[u32]) {
    processes.iter().for_each(|id| signal("KILL", *id));
    for _ in 0..6000 {
        if !processes.iter().any(|process| runs(*process)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_process_that_outlives_the_killed_one_removes_its_folder() {
    let bench = Bench::new();
    fs::create_dir(bench.path("here")).unwrap();
    let mut child = under_way(&bench);
    assert_eq!(cleaners(&bench).len(), 1);
    kill(&with_children(child.id()));
    child.wait().unwrap();
    let gone = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        names_in(&bench.path("here")).is_empty()
    });
    assert!(gone, "{:?}", names_in(&bench.path("here")));
}

#[test]
fn after_a_kill_of_all_the_next_command_removes_the_folder() {
    let bench = Bench::new();
    fs::create_dir(bench.path("here")).unwrap();
    let mut child = under_way(&bench);
    kill(&cleaners(&bench));
    kill(&with_children(child.id()));
    child.wait().unwrap();
    let left = names_in(&bench.path("here"));
    assert_eq!(left.len(), 1, "{left:?}");
    let said = bench.iosonde(&["files", "here", "--files", "20", "--rounds", "3", "--time", "1s", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(names_in(&bench.path("here")), [""; 0]);
}

#[test]
fn ctrl_c_removes_the_folder_and_concludes_nothing() {
    let bench = Bench::new();
    fs::create_dir(bench.path("here")).unwrap();
    let mut child = under_way(&bench);
    signal("INT", child.id());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(names_in(&bench.path("here")), [""; 0]);
}

/// A process and those that work for it.
fn with_children(process: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|id| id.parse().ok()).chain([process]).collect()
}

/// False for one that has ended, also where nobody has asked for how.
fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

fn signal(name: &str, process: u32) {
    let _ = Command::new("kill").args(["-s", name, &process.to_string()]).status();
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    let bench = Bench::new();
    bench.file("data", 1);
    bench.text(
        "plain.toml",
        "name = \"plain\"\ncapacity = \"1GB\"\n[queue]\nservers = 1\nservice = { fixed = \"1us\" }\n",
    );
    bench.text("service.toml", SERVICE);
    bench.text("bad.toml", &SERVICE.replace("stat = \"5us\"", "stat = \"0us\""));
    bench.text("short.toml", &SERVICE.replace("stat = \"5us\"\n", ""));
    symlink(bench.path("nowhere"), bench.path("dangling")).unwrap();
    let refusals = [
        (&["./", "--workers", "0"][..], "--workers 0: there must be between 1 and 64"),
        (&["./", "--workers", "65"], "between 1 and 64"),
        (&["./", "--files", "0"], "--files 0"),
        (&["./", "--files", "4", "--directories", "5"], "--files"),
        (&["./", "--directories", "0"], "--directories 0"),
        (&["./", "--size", "1g"], "iosonde run media"),
        (&["./", "--files", "1000000", "--size", "16m"], "has too little room"),
        (&["./", "--rounds", "2"], "--rounds 2"),
        (&["./", "--time", "10ms"], "need 120 ms at least"),
        (&["data"], "is no directory"),
        (&["missing"], "does not exist"),
        (&["dangling"], "is a link to"),
        (&["sim:plain.toml"], "[files]"),
        (&["sim:service.toml", "--uncached"], "leave --uncached out"),
        (&["sim:bad.toml"], "files"),
        (&["sim:short.toml"], "how long `stat` takes"),
    ];
    let before = names_in(bench.folder.path());
    for (words, why) in refusals {
        let said = bench.iosonde(&[&["files"][..], words].concat());
        assert!(said.code == 2 && said.err.contains(why), "{words:?}: {} {}", said.code, said.err);
    }
    let mut after = names_in(bench.folder.path());
    after.retain(|name| !name.starts_with("notebook"));
    assert_eq!(after, before);
    let said = Said::of(bench.command(&["files"]).arg(std::ffi::OsStr::new("caf\u{e9}")).output().unwrap());
    assert_eq!(said.code, 2);
}

#[test]
fn another_users_directory_and_a_read_only_one_are_refused() {
    if !mounted::is_root() {
        eprintln!("skipped: another user and mounts need root");
        return;
    }
    let bench = Bench::new();
    fs::create_dir(bench.path("here")).unwrap();
    fs::set_permissions(bench.folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let as_nobody = |target: &Path| {
        let words =
            ["files", target.to_str().unwrap(), "--files", "20", "--rounds", "3", "--time", "1s", "-q"];
        let store = bench.path("nobody.db");
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(env!("CARGO_BIN_EXE_iosonde"));
        command.args(words).env("IOSONDE_STORE", store).env("HOME", bench.folder.path());
        Said::of(command.output().unwrap())
    };
    let said = as_nobody(&bench.path("here"));
    assert!(said.code == 2 && said.err.contains("may not make a folder in"), "{} {}", said.code, said.err);
    assert_eq!(names_in(&bench.path("here")), [""; 0]);
    fs::set_permissions(bench.path("here"), fs::Permissions::from_mode(0o777)).unwrap();
    let said = as_nobody(&bench.path("here"));
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(names_in(&bench.path("here")), [""; 0]);
}

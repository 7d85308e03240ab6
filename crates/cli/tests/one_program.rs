//! A measurement is two processes, one that works and one that waits for it, and to everybody outside it is one.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{fs, process::Command, time::Duration};

use common::{Bench, SMALL_STUDY, UnderWay, names_in};

fn under_way() -> (Bench, UnderWay) {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    fs::create_dir(bench.path("here")).unwrap();
    let run = bench.after_trials(&["run", "small.toml", "here", "--size", "16M"], 2);
    (bench, run)
}

/// `kill -SIGNAL WHERE`; a group is a number below 0.
fn send(signal: &str, to: i64) {
    let done = Command::new("kill").args(["-s", signal, "--", &to.to_string()]).status();
    assert!(done.unwrap().success(), "{signal} to {to}");
}

/// Third field of `/proc/PID/stat`; `None` once it has ended.
fn state(process: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next().filter(|state| *state != 'Z')
}

/// Waits for what happens within milliseconds on a quiet machine; a minute for a busy one.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not within a minute: {what}");
}

/// To whichever of the two it is sent, or to both as by a terminal: one signal is one.
#[test]
fn one_signal_ends_a_run_in_order_to_whichever_process_it_is_sent() {
    for (signal, whom) in
        [("INT", "both"), ("TERM", "waits"), ("INT", "works"), ("HUP", "waits"), ("TERM", "both")]
    {
        let (bench, run) = under_way();
        let [waits, works] = run.processes().map(i64::from);
        send(
            signal,
            match whom {
                "waits" => waits,
                "works" => works,
                _ => -waits,
            },
        );
        let said = run.wait();
        assert_eq!(said.code, 130, "{signal} to {whom}: {}", said.err);
        assert!(said.err.contains("trials are kept"), "{signal} to {whom}: {}", said.err);
        assert!(
            bench.iosonde(&["ls"]).out.contains("interrupted") && names_in(&bench.path("here")).is_empty()
        );
    }
}

#[test]
fn the_end_of_one_process_is_the_end_of_the_other() {
    for killed in [0, 1] {
        let (bench, run) = under_way();
        let processes = run.processes();
        send("KILL", processes[killed].into());
        assert_eq!(run.unheard(), None, "a signal ended it");
        wait_until("both end", || processes.iter().all(|process| state(*process).is_none()));
        assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
        let said = bench.iosonde(&["resume", "-q"]);
        assert_eq!(said.code, 0, "{}", said.err);
    }
}

/// Ctrl-Z and `fg`, and the same signals sent to one process.
#[test]
fn a_stopped_job_stops_whole_and_goes_on_whole() {
    for (stop, whom) in [("TSTP", "both"), ("TSTP", "waits"), ("STOP", "waits"), ("STOP", "both")] {
        let (_bench, run) = under_way();
        let processes = run.processes();
        let first = i64::from(processes[0]);
        send(stop, if whom == "both" { -first } else { first });
        wait_until(&format!("{stop} to {whom}"), || {
            processes.iter().all(|process| state(*process) == Some('T'))
        });
        send("CONT", if whom == "both" { -first } else { first });
        let said = run.wait();
        assert_eq!(said.code, 0, "{stop} to {whom}: {}", said.err);
    }
}

/// `timeout` sends its signal to the process that it started, and then to the whole group.
#[test]
fn a_signal_that_is_sent_twice_at_once_is_one() {
    let (bench, run) = under_way();
    let [waits, _] = run.processes().map(i64::from);
    let ids = [waits, -waits].map(|id| id.to_string());
    assert!(Command::new("kill").args(["-s", "TERM", "--"]).args(ids).status().unwrap().success());
    let said = run.wait();
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
}

/// Whoever started it may ignore the end of processes, which a program inherits.
#[test]
fn an_ignored_end_of_processes_is_heard() {
    let bench = Bench::new();
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "trap '' CHLD; exec \"$@\"",
        "sh",
        env!("CARGO_BIN_EXE_iosonde"),
        "doctor",
        "./nowhere",
    ]);
    assert_eq!(shell.current_dir(bench.folder.path()).output().unwrap().status.code(), Some(2));
}

/// `nohup` and `setsid` mean that the end of a terminal ends nothing.
#[test]
fn who_ignores_the_end_of_a_terminal_goes_on() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    fs::create_dir(bench.path("here")).unwrap();
    let words = ["run", "small.toml", "here", "--size", "16M", "-q", "--store", "n.db"];
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_iosonde")]).args(words);
    let mut child = shell.current_dir(bench.folder.path()).spawn().unwrap();
    wait_until("it works", || common::worker(child.id()).is_some() && bench.path("n.db").exists());
    send("HUP", child.id().into());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

//! A measurement is two processes, one that works and one that waits for it, and to everybody outside it is one.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{fs, process::Command, time::Duration};

use common::{Bench, SMALL_STUDY, Said, UnderWay, mounted, names_in, preload};
use iosonde_model::{CheckName, Outcome};
use iosonde_report::Document;
use iosonde_rig::clock::Clock;

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
    for (signal, target) in
        [("INT", "both"), ("TERM", "waits"), ("INT", "works"), ("HUP", "waits"), ("TERM", "both")]
    {
        let (bench, run) = under_way();
        let [waits, works] = run.processes().map(i64::from);
        send(
            signal,
            match target {
                "waits" => waits,
                "works" => works,
                _ => -waits,
            },
        );
        let said = run.wait();
        assert_eq!(said.code, 130, "{signal} to {target}: {}", said.err);
        assert!(said.err.contains("trials are kept"), "{signal} to {target}: {}", said.err);
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
    for (stop, target) in [("TSTP", "both"), ("TSTP", "waits"), ("STOP", "waits"), ("STOP", "both")] {
        let (_bench, run) = under_way();
        let processes = run.processes();
        let first = i64::from(processes[0]);
        send(stop, if target == "both" { -first } else { first });
        wait_until(&format!("{stop} to {target}"), || {
            processes.iter().all(|process| state(*process) == Some('T'))
        });
        send("CONT", if target == "both" { -first } else { first });
        let said = run.wait();
        assert_eq!(said.code, 0, "{stop} to {target}: {}", said.err);
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

/// A program inherits that the end of processes is ignored.
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

/// Sets of capabilities that a process can use, or could make use of, as bits.
fn capabilities(process: u32) -> [u64; 3] {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let set = |name: &str| {
        let bits = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        u64::from_str_radix(bits.trim(), 16).unwrap()
    };
    ["CapEff:", "CapPrm:", "CapAmb:"].map(set)
}

#[test]
fn the_process_that_waits_has_no_capability() {
    if capabilities(std::process::id())[1] == 0 {
        eprintln!("skipped: this user has no capability that could be given up");
        return;
    }
    let (_bench, run) = under_way();
    let [waits, works] = run.processes().map(capabilities);
    assert_eq!(waits, [0; 3], "{waits:x?}");
    // The other one has some left: it was not the system that took them.
    assert!(works[1] != 0, "{works:x?}");
    assert_eq!(run.wait().code, 0);
}

/// Where fork(2) fails: too little memory, a filter of calls.
#[test]
fn without_a_second_process_the_first_one_does_the_work() {
    let bench = Bench::new();
    let Some(library) = preload::library(&bench) else { return };
    bench.text("small.toml", SMALL_STUDY);
    fs::create_dir(bench.path("here")).unwrap();
    let mut command = bench.command(&["run", "small.toml", "here", "--size", "16M", "--json", "-q"]);
    command.env("LD_PRELOAD", library).env("PRELOAD_FAULT", "fork");
    let said = Said::of(command.env("PRELOAD_ALLOWED", bench.path("asked")).output().unwrap());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(bench.path("asked").exists(), "no process was made");
    let run: iosonde_report::Document = serde_json::from_str(&said.out).unwrap();
    assert!(run.trials.len() > 4, "{}", run.trials.len());
    assert!(names_in(&bench.path("here")).is_empty());
}

/// A limit on processes is one on threads, too, and nothing is measured without a second thread.
#[test]
fn a_limit_on_processes_is_said_before_anything_is_written() {
    let bench = Bench::new();
    let data = bench.file("data", 8);
    let before = fs::read(&data).unwrap();
    let mut command = Command::new("prlimit");
    command.arg("--nproc=1");
    if mounted::is_root() {
        // The limit is none for root.
        for path in [bench.folder.path(), &data] {
            std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
        }
        command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--nproc=1"]);
    }
    // The program's folder may lie where only root may look.
    let program = bench.path("iosonde");
    fs::copy(env!("CARGO_BIN_EXE_iosonde"), &program).unwrap();
    command.arg(program).args(["point", "data", "--destroy", "--rw", "randwrite", "--time", "200ms"]);
    command.current_dir(bench.folder.path()).env("IOSONDE_STORE", bench.path("notebook.db"));
    let said = match command.output() {
        Ok(output) => Said::of(output),
        Err(error) => return eprintln!("skipped: prlimit and setpriv are needed: {error}"),
    };
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("the system gives no thread"), "{}", said.err);
    assert!(fs::read(&data).unwrap() == before, "something was written");
}

/// A process that is stopped by SIGSTOP cannot say so: the other one looks, ten times a second of a trial, and twice.
#[test]
fn the_working_process_soon_sees_that_the_waiting_one_is_stopped() {
    let bench = Bench::new();
    bench.file("data", 8);
    let words = ["point", "data", "--read-only", "--depth", "1", "--time", "60s", "-q"];
    let mut child = bench.command(&words).spawn().unwrap();
    let waits = child.id();
    let looks = || sleeps_of_the_watch(common::worker(waits)?);
    wait_until("a trial is under way", || looks().is_some());
    let works = common::worker(waits).unwrap();
    let clock = Clock::real();
    let mut took_s = [0; 7].map(|_| {
        let (began_s, before) = (clock.now_s(), looks().unwrap());
        send("STOP", waits.into());
        wait_until("it stops", || state(works) == Some('T'));
        let (took_s, looked) = (clock.now_s() - began_s, looks().unwrap() - before);
        send("CONT", waits.into());
        wait_until("both go on", || [waits, works].iter().all(|process| state(*process) != Some('T')));
        // The look that was begun before, two looks, and the stop itself.
        assert!(looked <= 4, "{looked} looks in {took_s:.3} s");
        took_s
    });
    child.kill().unwrap();
    child.wait().unwrap();
    took_s.sort_by(f64::total_cmp);
    // The fastest: on a busy machine a thread wakes up late, as often as not.
    assert!(took_s[0] <= 0.2, "{took_s:.3?}");
}

/// Stands for a machine that sleeps: nothing of the program runs for a while, and the clock does.
#[test]
fn a_trial_in_which_the_program_was_stopped_is_invalid() {
    let bench = Bench::new();
    bench.file("data", 8);
    let words = ["point", "data", "--read-only", "--depth", "4", "--time", "10s", "--json=p.json", "-q"];
    let mut child = bench.command(&words).spawn().unwrap();
    let waits = child.id();
    wait_until("a trial is under way", || common::worker(waits).and_then(sleeps_of_the_watch).is_some());
    let works = common::worker(waits).unwrap();
    let clock = Clock::real();
    let mut stopped_s = 0.0;
    for _ in 0..3 {
        send("STOP", waits.into());
        wait_until("it stops", || state(works) == Some('T'));
        let began_s = clock.now_s();
        std::thread::sleep(Duration::from_millis(600));
        stopped_s += clock.now_s() - began_s;
        send("CONT", waits.into());
        wait_until("it goes on", || state(works) != Some('T'));
    }
    assert!(child.wait().unwrap().success());
    let run: Document = serde_json::from_slice(&fs::read(bench.path("p.json")).unwrap()).unwrap();
    let clock = run.verdicts.iter().find(|line| line.check == CheckName::Clock).unwrap();
    let witnesses = &run.trials.last().unwrap().witnesses;
    assert_eq!(clock.verdict, Outcome::Invalid, "{witnesses:?}");
    // Of each stop a tenth of a second passes for sleep of the thread that looks.
    assert!(witnesses.suspended_s.unwrap() >= stopped_s - 0.3, "{stopped_s:.3} s: {witnesses:?}");
}

/// How often the thread has slept that looks for stopped processes; it is there while a trial is under way.
fn sleeps_of_the_watch(process: u32) -> Option<u64> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    let mut status = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    let watch = status.find(|status| status.starts_with("Name:\tstall-watch\n"))?;
    watch.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

//! Faults of the storage below the measured loop, on the real path: each is reported, and no figure of a trial that met
//! one reaches a finding.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{fs::File, path::Path, process::Command, time::Duration};

use common::{
    Bench, Said, UnderWay,
    looped::Loop,
    mounted, names_in, preload,
    served::{self, Served},
};
use iosonde_model::{CheckName, Outcome, RequestError, RunState, Status, Trial};
use iosonde_report::Document;
use iosonde_rig::clock::Clock;

const TINY: &str = r#"
name = "tiny"
question = "?"
time = "4s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = 1
"#;

fn with_a_file() -> Bench {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    bench.file("data", 16);
    bench
}

/// A fault that one in so many transfers meets, or so many reads.
struct Fault<'a> {
    name: &'a str,
    one_in: u32,
    reads_only: bool,
}

/// `iosonde WORDS` on `data` by psync, under a fault.
fn under(bench: &Bench, library: &Path, fault: &Fault, words: &[&str]) -> Said {
    let mut command = bench.command(&[words, &["--engine", "psync", "--json", "-q"]].concat());
    command.env("LD_PRELOAD", library).env("PRELOAD_TARGET", bench.path("data"));
    command.env("PRELOAD_FAULT", fault.name).env("PRELOAD_ONE_IN", fault.one_in.to_string());
    if fault.reads_only {
        command.env("PRELOAD_READS_ONLY", "1");
    }
    Said::of(command.output().unwrap())
}

fn document(said: &Said) -> Document {
    serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
}

/// Trials that the check of errors excludes.
fn invalid(run: &Document) -> Vec<u64> {
    let excluded = run
        .verdicts
        .iter()
        .filter(|line| line.check == CheckName::Errors && line.verdict == Outcome::Invalid);
    excluded.filter_map(|line| line.trial).collect()
}

/// Requests of a trial that failed, or moved fewer bytes than requested.
fn faulty(trial: &Trial) -> u64 {
    trial.directions().map(|(_, direction)| direction.errors + direction.short).sum()
}

#[test]
fn failed_and_short_transfers_are_reported_and_in_no_finding() {
    let bench = Bench::new();
    let Some(library) = preload::library(&bench) else { return };
    // At once: the storage is slow, not the machine.
    std::thread::scope(|scope| {
        for fault in ["eio", "enospc", "eagain", "short"] {
            let (bench, library) = (with_a_file(), &library);
            scope.spawn(move || excluded_under(&bench, library, fault));
        }
    });
}

fn excluded_under(bench: &Bench, library: &Path, fault: &str) {
    let words = ["run", "tiny.toml", "data", "--destroy"];
    let errno = [("eio", 5), ("enospc", 28), ("eagain", 11)].into_iter().find(|(name, _)| *name == fault);
    excluded(
        // Trials that write meet none, however fast or slow the machine is.
        &document(&under(bench, library, &Fault { name: fault, one_in: 50, reads_only: true }, &words)),
        fault,
        errno.map(|(_, errno)| errno),
        false,
    );
}

/// Some trials met a fault. Each of these is excluded and tells the error, and no finding rests on one.
fn excluded(run: &Document, what: &str, errno: Option<i32>, all_may: bool) {
    let (invalid, met): (_, Vec<&Trial>) =
        (invalid(run), run.trials.iter().filter(|t| faulty(t) > 0).collect());
    let spared = run.trials.len() - met.len();
    assert!(!met.is_empty() && (all_may || spared > 0), "{what}: {} met it, {spared} did not", met.len());
    for trial in met {
        assert!(invalid.contains(&trial.id), "{what}: trial {} is not excluded", trial.id);
        let told = |errno: i32| {
            let same = |e: &RequestError| matches!(e, RequestError::System { errno: e, .. } if *e == errno);
            trial.error_examples.iter().any(same)
        };
        assert!(errno.is_none_or(told), "{what}: {:?}", trial.error_examples);
    }
    for finding in run.findings.iter().filter(|finding| finding.status == Status::Found) {
        let wrong = finding.trials.iter().find(|id| invalid.contains(id));
        assert!(wrong.is_none(), "{what}: {:?} rests on trial {wrong:?}", finding.name);
    }
}

const ENGINES: [&str; 4] = ["psync", "io_uring", "libaio", "threads"];

/// A run on the test's own file that is under way, and all of whose requests are never answered from then on.
fn without_an_answer(engine: &str) -> Option<(Bench, Served, UnderWay)> {
    let (bench, served) = with_a_served_file()?;
    // At depth 1 it makes the calls itself, as psync does.
    let depth = if engine == "threads" { "depth = 2" } else { "depth = 1" };
    bench.text("tiny.toml", &TINY.replace("depth = 1", depth));
    let run = bench.after_trials(&["run", "tiny.toml", "served/data", "--destroy", "--engine", engine], 3);
    served.meets(served::NEVER, 1);
    Some((bench, served, run))
}

/// What a hung server leaves: a trial that is given up, requests that are counted as hung, no figure of them.
#[test]
fn storage_that_never_answers_again_ends_the_run_and_is_in_no_finding() {
    std::thread::scope(|scope| {
        for engine in ["io_uring", "libaio", "threads"] {
            scope.spawn(move || {
                let Some((bench, served, run)) = without_an_answer(engine) else { return };
                let shown = || document(&bench.iosonde(&["show", "--json", "-q"]));
                while shown().info.state == RunState::Running {
                    std::thread::sleep(Duration::from_secs(1));
                }
                let (clock, said) = (Clock::real(), run.wait());
                // Its requests are still out, also those of libaio, for which the kernel keeps processes.
                assert!(clock.now_s() < 5.0, "{engine}: {:.1} s until it ended", clock.now_s());
                served.comes_back();
                assert_eq!(said.code, 0, "{engine}: {}", said.err);
                let run = shown();
                let hung: Vec<u64> = run.trials.iter().filter(|t| t.hung > 0).map(|t| t.id).collect();
                assert!(!hung.is_empty() && hung[0] > 3, "{engine}: {hung:?}");
                let excludes = |id: &u64| invalid(&run).contains(id);
                assert!(hung.iter().all(excludes), "{engine}: {hung:?} {:?}", invalid(&run));
                let found = run.findings.iter().filter(|finding| finding.status == Status::Found);
                let wrong: Vec<_> = found.filter(|f| f.trials.iter().any(|id| hung.contains(id))).collect();
                assert!(wrong.is_empty(), "{engine}: {wrong:?}");
            });
        }
    });
}

/// Inside a call that does not return only the watch can speak, and nothing but the storage can end the process.
#[test]
fn a_call_that_never_returns_is_said_and_its_run_goes_on_later() {
    let Some((bench, served, mut run)) = without_an_answer("psync") else { return };
    let said = run.until("a call has not returned");
    assert!(said.contains("served/data: a call has not returned for"), "{said}");
    let clock = Clock::real();
    // It is still not answered.
    assert_eq!(run.wait().code, 1);
    assert!(clock.now_s() < 5.0, "{:.1} s", clock.now_s());
    assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
    served.comes_back();
    let said = bench.iosonde(&["resume", "-q"]);
    assert_eq!(said.code, 0, "{}", said.err);
}

const READS: &str = r#"
name = "reads"
question = "?"
time = "3s"
[[experiment]]
kind = "queue-depth"
rw = "randread"
block_size = "4k"
depth = 1
"#;

/// A thread in such a call outlives SIGKILL, with its locks and its open file. Nobody waits for it, and the run goes on
/// beside it, on storage that answers again but for that one request.
#[test]
fn nobody_waits_for_a_thread_that_the_kernel_does_not_end() {
    for (signals, code) in [(&["INT"][..], Some(1)), (&["INT", "INT"], None), (&["KILL"], None)] {
        let Some((bench, served)) = with_a_served_file() else { return };
        bench.text("reads.toml", READS);
        let words = ["run", "reads.toml", "served/data", "--destroy", "--engine", "psync"];
        let mut run = bench.after_trials(&words, 2);
        served.meets(served::NEVER, 1);
        served.keeps_one();
        let (clock, [_, worker]) = (Clock::real(), run.processes());
        for signal in signals {
            run = run.signal(signal);
            // Two signals of one kind that wait are one.
            std::thread::sleep(Duration::from_millis(300));
        }
        assert_eq!(run.unheard(), code, "{signals:?}");
        assert!(clock.now_s() < 5.0, "{signals:?}: {:.1} s until the prompt", clock.now_s());
        served.meets(0, 0);
        let stat = std::fs::read_to_string(format!("/proc/{worker}/stat"));
        assert!(stat.is_ok(), "{signals:?}: the storage held nothing");
        assert!(bench.iosonde(&["ls"]).out.contains("interrupted"), "{signals:?}");
        let said = bench.iosonde(&["resume", "-q"]);
        assert_eq!(said.code, 0, "{signals:?}: {}", said.err);
        assert_eq!(document(&bench.iosonde(&["show", "--json", "-q"])).info.state, RunState::Done);
    }
}

/// The page of such a request stays locked: only the prompt comes back before the storage does.
#[test]
fn the_prompt_comes_back_from_calls_through_the_page_cache() {
    for engine in ["mmap", "io_uring", "threads", "psync"] {
        let words = ["run", "tiny.toml", "served/data", "--destroy", "--buffered", "--engine", engine];
        let bench = Bench::new();
        bench.text("tiny.toml", TINY);
        let Some(served) = Served::cached_at(&bench.path("served"), 16) else { return };
        let run = bench.after_trials(&words, 2);
        served.meets(served::NEVER, 1);
        served.keeps_one();
        let (clock, run) = (Clock::real(), run.signal("INT"));
        let code = run.unheard();
        assert!([Some(1), Some(130)].contains(&code), "{engine}: {code:?}");
        assert!(clock.now_s() < 5.0, "{engine}: {:.1} s until the prompt", clock.now_s());
        assert!(bench.iosonde(&["ls"]).out.contains("interrupted"), "{engine}");
        served.comes_back();
        // What the killed process had written to a mapping is lost, which the next one that flushes the file is told.
        let _ = File::open(bench.path("served/data")).unwrap().sync_all();
        let said = bench.iosonde(&["resume", "-q"]);
        assert_eq!(said.code, 0, "{engine}: {}", said.err);
    }
}

/// Not after the half minute that slow storage is given.
#[test]
fn a_signal_ends_a_run_on_storage_that_hangs() {
    for engine in ["io_uring", "libaio", "threads", "psync"] {
        let Some((bench, served, run)) = without_an_answer(engine) else { return };
        let (clock, mut run) = (Clock::real(), run.signal("INT"));
        if engine == "psync" {
            run.until("a call has not returned");
        }
        let said = run.wait();
        assert!(clock.now_s() < 20.0, "{engine}: {:.1} s", clock.now_s());
        served.comes_back();
        assert!([1, 130].contains(&said.code), "{engine}: {}", said.err);
        assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
    }
}

/// A bench whose folder `served` holds the test's own file.
fn with_a_served_file() -> Option<(Bench, Served)> {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    let served = Served::at(&bench.path("served"), 16)?;
    Some((bench, served))
}

/// The storage itself fails here, below the kernel's own interfaces: those of io_uring and libaio, too.
#[test]
fn what_fails_below_the_kernel_is_reported_by_every_engine_and_in_no_finding() {
    let faults = [("EIO", 5), ("ENOSPC", 28), ("EAGAIN", 11), ("EINTR", 4), ("short", served::SHORT)];
    std::thread::scope(|scope| {
        for engine in ENGINES {
            for (name, fault) in faults {
                scope.spawn(move || {
                    let Some((bench, served)) = with_a_served_file() else { return };
                    let words = ["run", "tiny.toml", "served/data", "--destroy", "--engine", engine];
                    // Once it is filled; so often that a slow machine meets it, too.
                    let run = bench.after_trials(&words, 2);
                    served.meets(fault, 100);
                    let (said, what) = (run.wait(), format!("{name}, {engine}"));
                    assert_eq!(said.code, 0, "{what}: {}", said.err);
                    let run = document(&bench.iosonde(&["show", "--json", "-q"]));
                    // The kernel makes the request again where it handed it to a thread of its own; psync does.
                    if ["EINTR, psync", "EINTR, threads", "EAGAIN, io_uring"].contains(&&*what) {
                        assert!(run.trials.iter().all(|trial| faulty(trial) == 0), "{what}");
                    } else {
                        excluded(&run, &what, (fault > 0).then_some(fault), true);
                    }
                });
            }
        }
    });
}
/// A call that a signal interrupts is made again: no request has failed.
#[test]
fn an_interrupted_call_is_no_error() {
    let bench = with_a_file();
    let Some(library) = preload::library(&bench) else { return };
    let fault = Fault { name: "eintr", one_in: 3, reads_only: false };
    for rw in ["randread", "randwrite"] {
        let words = ["point", "data", "--destroy", "--rw", rw, "--size", "8M", "--time", "300ms"];
        let run = document(&under(&bench, &library, &fault, &words));
        assert!(run.trials.iter().all(|trial| faulty(trial) == 0), "{rw}: {:?}", run.trials.last());
        assert!(run.trials.last().unwrap().iops() > 0.0);
    }
}

#[test]
fn storage_that_refuses_everything_ends_the_run_in_time_and_in_words() {
    let bench = with_a_file();
    let Some(library) = preload::library(&bench) else { return };
    let words = ["point", "data", "--read-only", "--time", "300ms"];
    let clock = Clock::real();
    let began_s = clock.now_s();
    let said = under(&bench, &library, &Fault { name: "eio", one_in: 1, reads_only: true }, &words);
    assert!(said.code == 1 && said.err.contains("every request failed"), "{}: {}", said.code, said.err);
    // The trial, and 5 s.
    assert!(clock.now_s() - began_s < 5.3);
}

/// Emptied or cut short by somebody, the file grows again by our own writes.
#[test]
fn a_file_that_is_cut_short_while_it_is_measured_ends_the_run() {
    for (bytes, word) in [(0, "--destroy"), (4 << 20, "--destroy"), (0, "--read-only"), (4096, "--read-only")]
    {
        let bench = with_a_file();
        let run = bench.after_trials(&["run", "tiny.toml", "data", word], 3);
        File::options().write(true).open(bench.path("data")).unwrap().set_len(bytes).unwrap();
        let said = run.wait();
        assert_eq!(said.code, 1, "{}", said.err);
        for words in ["data: another program cut it short while it was measured", "to go on:  iosonde resume"]
        {
            assert!(said.err.contains(words), "{}", said.err);
        }
        let run = document(&bench.iosonde(&["show", "--json", "-q"]));
        assert_eq!(run.info.state, RunState::Failed);
        assert!(run.trials.len() >= 3 && run.trials.iter().all(|trial| faulty(trial) == 0));
    }
}

/// A terminal that is closed, and an administrator who stops it: what was measured is kept, and no file is left.
#[test]
fn every_signal_that_asks_for_an_end_keeps_what_was_measured() {
    for signal in ["HUP", "TERM", "INT"] {
        let bench = Bench::new();
        bench.text("tiny.toml", TINY);
        std::fs::create_dir(bench.path("here")).unwrap();
        let said =
            bench.after_trials(&["run", "tiny.toml", "here", "--size", "16M"], 3).signal(signal).wait();
        assert_eq!(said.code, 130, "{}", said.err);
        assert!(said.err.contains("trials are kept. Go on with:  iosonde resume"), "{}", said.err);
        assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
        assert!(names_in(&bench.path("here")).is_empty());
    }
}

/// Nobody reads what it says any more, as after the end of an ssh session.
#[test]
fn a_terminal_that_is_gone_ends_the_run_as_a_signal_does_and_without_one_nothing() {
    let words = ["run", "tiny.toml", "here", "--size", "16M"];
    let begun = || {
        let bench = Bench::new();
        bench.text("tiny.toml", TINY);
        std::fs::create_dir(bench.path("here")).unwrap();
        let run = bench.after_trials(&words, 3);
        (bench, run)
    };
    for (signal, code, state) in
        [(Some("HUP"), Some(130), RunState::Interrupted), (None, Some(0), RunState::Done)]
    {
        let (bench, run) = begun();
        let run = signal.into_iter().fold(run, UnderWay::signal);
        assert_eq!(run.unheard(), code, "{signal:?}");
        let run = document(&bench.iosonde(&["show", "--json", "-q"]));
        assert!(run.info.state == state && run.trials.len() >= 3, "{signal:?}: {:?}", run.info.state);
        assert!(names_in(&bench.path("here")).is_empty());
    }
}

#[test]
fn a_second_signal_ends_it_at_once_and_the_run_goes_on_later() {
    for engine in ["io_uring", "libaio"] {
        let Some((bench, served, run)) = without_an_answer(engine) else { return };
        let run = run.signal("INT");
        // Two signals of one kind that wait are one.
        std::thread::sleep(Duration::from_millis(300));
        let clock = Clock::real();
        assert_eq!(run.signal("INT").unheard(), None, "{engine}: a signal ended it");
        assert!(clock.now_s() < 5.0, "{engine}: {:.1} s until it ended", clock.now_s());
        served.comes_back();
        assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
        let said = bench.iosonde(&["resume", "-q"]);
        assert_eq!(said.code, 0, "{engine}: {}", said.err);
        assert_eq!(document(&bench.iosonde(&["show", "--json", "-q"])).info.state, RunState::Done);
    }
}

/// Each request fails from then on; so does what was under way.
#[test]
fn a_device_that_is_pulled_out_is_reported_and_in_no_finding() {
    if !mounted::is_root() {
        eprintln!("skipped: this user may not end a mount that is in use");
        return;
    }
    std::thread::scope(|scope| {
        for engine in ENGINES {
            for behind_a_loop_device in [false, true] {
                scope.spawn(move || {
                    let what = format!("{engine}, loop device: {behind_a_loop_device}");
                    let Some((bench, served)) = with_a_served_file() else { return };
                    let device = behind_a_loop_device.then(|| Loop::over(&bench.path("served/data")));
                    let target = match &device {
                        Some(Some(device)) => device.0.as_str(),
                        Some(None) => return,
                        None => "served/data",
                    };
                    let words = ["run", "tiny.toml", target, "--read-only", "--engine", engine];
                    let run = bench.after_trials(&words, 3);
                    served.pull_out();
                    let said = run.wait();
                    let run = document(&bench.iosonde(&["show", "--json", "-q"]));
                    assert!(run.trials.len() >= 3 && !said.err.contains("panicked"), "{what}: {}", said.err);
                    if behind_a_loop_device {
                        assert_eq!(run.info.state, RunState::Done, "{what}: {}", said.err);
                        excluded(&run, &what, Some(5), false);
                    } else {
                        // Such a file says itself that it is gone.
                        let words = "served/data: gone while it was measured";
                        assert!(said.code == 1 && said.err.contains(words), "{what}: {}", said.err);
                        assert!(run.trials.iter().all(|trial| faulty(trial) == 0), "{what}");
                    }
                });
            }
        }
    });
}

/// A device that is removed has a size of 0 (`del_gendisk()` of the kernel); reads from behind the end return nothing.
#[test]
fn a_device_that_becomes_smaller_ends_the_run() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    bench.file("image", 16);
    let Some(device) = Loop::over(&bench.path("image")) else { return };
    let run = bench.after_trials(&["run", "tiny.toml", &device.0, "--read-only"], 3);
    File::options().write(true).open(bench.path("image")).unwrap().set_len(4 << 20).unwrap();
    assert!(Command::new("losetup").args(["--set-capacity", &device.0]).status().unwrap().success());
    let said = run.wait();
    assert_eq!(said.code, 1, "{}", said.err);
    for words in ["removed or became smaller", "16 MiB of it are measured", "4 MiB now", "iosonde resume"] {
        assert!(said.err.contains(words), "{}", said.err);
    }
    let run = document(&bench.iosonde(&["show", "--json", "-q"]));
    assert!(run.info.state == RunState::Failed && run.trials.iter().all(|trial| faulty(trial) == 0));
}

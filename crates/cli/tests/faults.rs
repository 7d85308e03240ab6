//! Faults of the storage below the measured loop, on the real path: each is reported, and no figure of a trial that met
//! one reaches a finding.

#![allow(missing_docs)]
// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{fs::File, path::Path};

use common::{Bench, Said, names_in, preload};
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

/// `iosonde WORDS` on `data` by psync, of whose transfers one in so many meets a fault.
fn under(bench: &Bench, library: &Path, fault: &str, one_in: u32, words: &[&str]) -> Said {
    let mut command = bench.command(&[words, &["--engine", "psync", "--json", "-q"]].concat());
    command.env("LD_PRELOAD", library).env("PRELOAD_TARGET", bench.path("data"));
    command.env("PRELOAD_FAULT", fault).env("PRELOAD_ONE_IN", one_in.to_string());
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
    // So rare that some trials meet none.
    let words = ["run", "tiny.toml", "data", "--destroy"];
    let run = document(&under(bench, library, fault, 4000, &words));
    let (invalid, met): (_, Vec<&Trial>) =
        (invalid(&run), run.trials.iter().filter(|t| faulty(t) > 0).collect());
    assert!(
        !met.is_empty() && met.len() < run.trials.len(),
        "{fault}: {} of {}",
        met.len(),
        run.trials.len()
    );
    for trial in met {
        assert!(invalid.contains(&trial.id), "{fault}: trial {} is not excluded", trial.id);
        let errno = [("eio", 5), ("enospc", 28), ("eagain", 11)].into_iter().find(|(name, _)| *name == fault);
        let told = |errno: i32| {
            let same = |e: &RequestError| matches!(e, RequestError::System { errno: e, .. } if *e == errno);
            trial.error_examples.iter().any(same)
        };
        assert!(errno.is_none_or(|(_, errno)| told(errno)), "{fault}: {:?}", trial.error_examples);
    }
    for finding in run.findings.iter().filter(|finding| finding.status == Status::Found) {
        let wrong = finding.trials.iter().find(|id| invalid.contains(id));
        assert!(wrong.is_none(), "{fault}: {:?} rests on trial {wrong:?}", finding.name);
    }
}

/// A call that a signal interrupts is made again: no request has failed.
#[test]
fn an_interrupted_call_is_no_error() {
    let bench = with_a_file();
    let Some(library) = preload::library(&bench) else { return };
    for rw in ["randread", "randwrite"] {
        let words = ["point", "data", "--destroy", "--rw", rw, "--size", "8M", "--time", "300ms"];
        let run = document(&under(&bench, &library, "eintr", 3, &words));
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
    let said = under(&bench, &library, "eio", 1, &words);
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

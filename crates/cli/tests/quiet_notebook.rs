//! A notebook that lies on the storage under test, as on a laptop, changes nothing.
//!
//! The disk's own counters cannot tell that where anybody else writes to the same disk. What is asked instead depends
//! on this program alone: the kernel's count of what its process changed during each trial, and whether pages of the
//! notebook's files were still waiting in memory, from where the kernel would write them during a later trial.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{
    fs::File,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use common::{Bench, SMALL_STUDY, direct_here};
use iosonde_model::{Device, Trial, Witnesses};
use iosonde_rig::{clock::Clock, witness::Watch};
use jiff::Timestamp;

/// A trial's beginning is kept in milliseconds; the clock is read before and after its span.
const MARGIN_S: f64 = 0.005;

/// One look at the notebook's files from outside.
struct Look {
    from: Timestamp,
    to: Timestamp,
    /// Bytes that were changed in memory and are not on the disk yet; `None` where the kernel does not tell.
    waiting_bytes: Option<u64>,
}

impl Look {
    fn at(files: &[PathBuf]) -> Self {
        let from = now();
        let waiting_bytes = files.iter().map(waiting_bytes).sum();
        Self { from, to: now(), waiting_bytes }
    }

    fn is_during(&self, trial: &Trial) -> bool {
        let begin: Timestamp = trial.started_at.parse().unwrap();
        let after = |moment: Timestamp| moment.duration_since(begin).as_secs_f64();
        after(self.from) > MARGIN_S && after(self.to) < trial.elapsed_s - MARGIN_S
    }
}

fn now() -> Timestamp {
    Clock::real().utc().parse().expect("the clock writes a moment")
}

/// None of a file that is not there.
fn waiting_bytes(path: &PathBuf) -> Option<u64> {
    let Ok(file) = File::open(path) else { return Some(0) };
    let size = file.metadata().unwrap().len();
    let mut watch = Watch::open(&file, &Device::unknown("file", size), 0..size);
    watch.before();
    watch.after(Witnesses::default()).dirty_after_bytes
}

#[test]
fn a_notebook_on_the_storage_under_test_writes_nothing_while_a_trial_runs() {
    let bench = Bench::new();
    if !direct_here(&bench) {
        return;
    }
    // Just written and left to the kernel, as a commit must not be.
    let left = bench.text("left", "to the kernel");
    match waiting_bytes(&left) {
        Some(0) => return eprintln!("skipped: this file system lets nothing wait in memory"),
        Some(_) => {}
        None => {
            return eprintln!(
                "skipped: this kernel does not tell what waits in its page cache (cachestat, 6.5)"
            );
        }
    }
    bench.file("data", 64);
    bench.text("small.toml", SMALL_STUDY);
    let files = ["notebook.db", "notebook.db-wal", "notebook.db-shm"].map(|name| bench.path(name));
    let ended = AtomicBool::new(false);
    let (run, looks) = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let mut looks = Vec::new();
            while !ended.load(Ordering::Relaxed) {
                looks.push(Look::at(&files));
                std::thread::sleep(Duration::from_millis(2));
            }
            looks
        });
        let run = bench.run(&["run", "small.toml", "data", "--read-only"]);
        ended.store(true, Ordering::Relaxed);
        (run, looking.join().unwrap())
    });

    let changed: Option<Vec<u64>> = run.trials.iter().map(|t| t.witnesses.process_write_bytes).collect();
    match changed {
        Some(changed) => {
            assert!(changed.iter().all(|&bytes| bytes == 0), "changed while reading: {changed:?}")
        }
        None => eprintln!("skipped: the kernel does not tell what a process writes"),
    }

    let during: Vec<u64> = looks
        .iter()
        .filter(|look| run.trials.iter().any(|trial| look.is_during(trial)))
        .map(|look| look.waiting_bytes.expect("it was told of another file"))
        .collect();
    // A look takes microseconds and a trial 0.1 s at least, however busy the machine is.
    assert!(during.len() >= run.trials.len(), "{} looks at {} trials", during.len(), run.trials.len());
    // Were a commit left to the kernel, its tens of KiB would wait for up to 30 s: every trial would see them.
    let waiting: Vec<&u64> = during.iter().filter(|&&bytes| bytes > 0).collect();
    assert!(waiting.is_empty(), "in {} of {} looks: {waiting:?}", waiting.len(), during.len());
}

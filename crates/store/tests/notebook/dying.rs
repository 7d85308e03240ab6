//! kill -9 in the middle: every trial that was committed is there, and the run is seen to be dead.

use iosonde_model::RunState;
use iosonde_store::Notebook;
use std::{
    env,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
};

use crate::examples::{info, trial};

/// Names the notebook to the process that is going to be killed, which is this test program run again.
const VICTIM: &str = "IOSONDE_STORE_TEST_VICTIM";

/// Appends trials for ever and says each number once it is committed. Does nothing in an ordinary test run.
#[test]
fn victim() {
    let Some(path) = env::var_os(VICTIM) else { return };
    let mut notebook = Notebook::open(Path::new(&path)).unwrap();
    let _lock = notebook.begin(&info("victim")).unwrap();
    for number in 1.. {
        notebook.append("victim", &trial(number)).unwrap();
        if number % 3 == 0 {
            notebook.settle().unwrap();
        }
        // Not `println`: the test harness would keep it to itself.
        writeln!(std::io::stdout(), "committed {number}").unwrap();
    }
}

#[test]
fn kill_in_the_middle_loses_nothing_that_was_committed() {
    // Several deaths, each at another moment of the append that happens to be under way.
    for kill_after in [1, 2, 7, 20, 41] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notebook.db");
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "dying::victim", "--nocapture"])
            .env(VICTIM, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut committed = 0;
        while committed < kill_after {
            let line = said.next().expect("the child appends for ever").unwrap();
            committed = line.strip_prefix("committed ").map_or(committed, |number| number.parse().unwrap());
        }
        let alive = Notebook::open(&path).unwrap();
        assert_eq!(alive.list().unwrap()[0].state, RunState::Running);
        assert_eq!(alive.resumable().unwrap(), None);
        drop(alive);
        // SIGKILL: nothing in the child runs after this.
        child.kill().unwrap();
        child.wait().unwrap();
        for line in said {
            committed = line.unwrap().strip_prefix("committed ").map_or(committed, |n| n.parse().unwrap());
        }
        check_what_is_left(&path, committed);
    }
}

fn check_what_is_left(path: &Path, committed: u64) {
    let lock = path.with_file_name("notebook.db.victim.running");
    drop(Notebook::open_existing(path).unwrap());
    assert!(lock.exists(), "reading removed a lock file");
    let mut notebook = Notebook::open(path).unwrap();
    assert!(!lock.exists(), "the lock file of a killed run is still there");
    assert_eq!(notebook.resumable().unwrap().as_deref(), Some("victim"));
    let run = notebook.load("victim").unwrap();
    assert_eq!(run.info.state, RunState::Interrupted);
    let kept = run.trials.len() as u64;
    // One more where it died between the commit and the word about it.
    assert!(kept == committed || kept == committed + 1, "{kept} kept, {committed} committed");
    for (trial_kept, number) in run.trials.iter().zip(1..) {
        assert_eq!(*trial_kept, trial(number));
    }
    assert_eq!(run.info.bytes_written, kept * 8192);
    let _lock = notebook.claim("victim").unwrap();
    notebook.append("victim", &trial(kept + 1)).unwrap();
}

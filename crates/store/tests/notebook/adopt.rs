//! A notebook that is removed or replaced under a run, and another one that takes the run over.

use iosonde_model::{RunInfo, RunState};
use iosonde_store::{Notebook, StoreError};
use std::fs;

use crate::examples::{info, notebook, trial};

#[test]
fn a_notebook_is_in_place_until_it_is_removed_or_another_file_has_its_name() {
    let (folder, notebook) = notebook();
    assert!(notebook.is_in_place());
    fs::rename(notebook.path(), folder.path().join("moved.db")).unwrap();
    assert!(!notebook.is_in_place());
    fs::write(notebook.path(), "another").unwrap();
    assert!(!notebook.is_in_place());
    fs::rename(folder.path().join("moved.db"), notebook.path()).unwrap();
    assert!(notebook.is_in_place());
    folder.close().unwrap();
    assert!(!notebook.is_in_place());
}

#[test]
fn a_run_is_adopted_with_its_trials_and_only_missing_ones_are_added_to_the_same_run() {
    let (_folder, mut notebook) = notebook();
    let trials = [1, 2, 3].map(trial);
    drop(notebook.adopt(&info("a"), trials[..2].iter()).unwrap());
    assert_eq!(notebook.load("a").unwrap().trials, trials[..2]);
    let lock = notebook.adopt(&info("a"), trials.iter()).unwrap();
    let run = notebook.load("a").unwrap();
    assert_eq!((&run.trials[..], run.info.state), (&trials[..], RunState::Running));
    drop(lock);
    let another = RunInfo { seed: 5, ..info("a") };
    assert!(matches!(notebook.adopt(&another, trials.iter()), Err(StoreError::IdTaken { .. })));
    assert_eq!(notebook.load("a").unwrap().trials, trials);
}

/// SQLite removes the log of the last connection when it closes, by its name.
#[test]
fn closing_a_removed_notebook_leaves_the_new_one_of_its_name_alone() {
    let (_folder, mut lost) = notebook();
    let path = lost.path().to_owned();
    let old = lost.begin(&info("a")).unwrap();
    lost.append("a", &trial(1)).unwrap();
    for ending in ["", "-wal", "-shm", ".a.running"] {
        fs::remove_file(format!("{}{ending}", path.display())).unwrap();
    }
    let mut new = Notebook::open(&path).unwrap();
    let lock = new.adopt(&info("a"), [trial(1)].iter()).unwrap();
    drop((lost, old));
    new.append("a", &trial(2)).unwrap();
    assert_eq!(Notebook::open(&path).unwrap().load("a").unwrap().trials, [1, 2].map(trial));
    assert!(matches!(Notebook::open(&path).unwrap().claim("a"), Err(StoreError::UnderWay { .. })));
    drop(lock);
    drop(new);
    assert_eq!(Notebook::open(&path).unwrap().load("a").unwrap().trials.len(), 2);
}

//! Notebooks as earlier versions left them, one for each layout that there was: whatever the layout becomes, they open
//! and lose nothing.
//!
//! A new layout brings its own: `iosonde run` of a small study on `sim:ideal` with `--seed 1`, kept as
//! `notebook-layout-N.db`.

use std::{fs, path::PathBuf};

use iosonde_model::{RunState, Rw};
use iosonde_store::{Notebook, StoreError};
use rusqlite::Connection;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data"))
}

/// The layout that a new notebook has.
fn layout_now() -> i64 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("n.db");
    drop(Notebook::open(&path).unwrap());
    Connection::open(&path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_notebook_of_every_layout_opens_with_all_that_it_holds() {
    let now = layout_now();
    for layout in 1..=now {
        let copy = tempfile::tempdir().unwrap();
        let path = copy.path().join("n.db");
        let kept = folder().join(format!("notebook-layout-{layout}.db"));
        fs::copy(&kept, &path).unwrap_or_else(|error| panic!("{}: {error}", kept.display()));
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
        // Twice: as it was, and as it is after that.
        for _ in 0..2 {
            let notebook = Notebook::open_existing(&path).unwrap();
            let runs = notebook.list().unwrap();
            assert_eq!(
                (runs.len(), runs[0].id.as_str(), runs[0].kept_at.is_some()),
                (1, "9e3779", layout >= 2)
            );
            let run = notebook.load("9e3779").unwrap();
            assert_eq!((run.info.state, run.info.seed, run.trials.len()), (RunState::Done, 1, 19));
            // 1 request in 80 µs, and 2.
            for trial in &run.trials[1..] {
                assert_eq!((trial.spec.rw, trial.spec.block_size_bytes), (Rw::RandRead, 4096));
                let expected = f64::from(trial.spec.queue_depth) * 12_500.0;
                assert!((trial.iops() / expected - 1.0).abs() < 0.02, "layout {layout}: {}", trial.iops());
            }
        }
        let connection = Connection::open(&path).unwrap();
        let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(found, now);
    }
}

/// Reading must not change it, so it cannot be brought up to date.
#[test]
fn an_older_notebook_that_may_not_be_written_is_refused_in_words_and_left_alone() {
    let copy = tempfile::tempdir().unwrap();
    let (path, second) = (copy.path().join("n.db"), copy.path().join("second.db"));
    fs::copy(folder().join("notebook-layout-1.db"), &path).unwrap();
    // A second name: it is only read.
    fs::hard_link(&path, second).unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(Notebook::open_existing(&path), Err(StoreError::Older { found: 1, .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

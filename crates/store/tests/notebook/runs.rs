//! Listing runs and finding the one that somebody means.

use iosonde_model::{RunInfo, RunState};
use iosonde_store::{Notebook, StoreError};
use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::examples::{info, labelled, notebook, trial};

/// Four finished runs, the oldest first.
fn four() -> (tempfile::TempDir, Notebook) {
    let (folder, mut notebook) = notebook();
    for info in [info("7f3a91"), labelled("7f3b02", "before"), labelled("c0ffee", "after"), info("0a1b2c")] {
        let _lock = notebook.begin(&info).unwrap();
        notebook.update(&RunInfo { state: RunState::Done, ..info }).unwrap();
    }
    (folder, notebook)
}

fn resolved(notebook: &Notebook, reference: &str) -> String {
    notebook.resolve(Some(reference)).unwrap_or_else(|error| error.to_string())
}

#[test]
fn a_run_is_found_by_id_its_start_its_label_and_its_age() {
    let (_folder, notebook) = four();
    for (reference, id) in [
        ("7f3a91", "7f3a91"),
        ("7f3a", "7f3a91"),
        ("C0", "c0ffee"),
        ("before", "7f3b02"),
        ("last", "0a1b2c"),
        ("last~1", "c0ffee"),
        ("last~3", "7f3a91"),
    ] {
        assert_eq!(resolved(&notebook, reference), id, "{reference}");
    }
    assert_eq!(notebook.resolve(None).unwrap(), "0a1b2c");
}

#[test]
fn several_that_fit_are_listed() {
    let (_folder, notebook) = four();
    assert_eq!(
        resolved(&notebook, "7f3"),
        "`7f3` could be any of these runs; say which by its id: \
         7f3b02 (quick on ./, 2026-11-21T10:30:00Z); 7f3a91 (quick on ./, 2026-11-21T10:30:00Z)"
    );
}

#[test]
fn a_label_given_twice_is_ambiguous_but_a_whole_id_never_is() {
    let (_folder, mut notebook) = four();
    notebook.begin(&labelled("111111", "before")).unwrap();
    assert!(matches!(notebook.resolve(Some("before")), Err(StoreError::Ambiguous { .. })));
    // An id that begins like another, and a label that looks like an id.
    notebook.begin(&labelled("7f3a91-2", "c0ffee")).unwrap();
    assert_eq!(resolved(&notebook, "7f3a91"), "7f3a91");
    assert_eq!(resolved(&notebook, "c0ffee"), "c0ffee");
}

#[test]
fn what_is_not_there_is_said_with_what_was_probably_meant() {
    let (folder, notebook) = four();
    let path = folder.path().canonicalize().unwrap().join("notebook.db");
    assert_eq!(
        resolved(&notebook, "befor"),
        format!(
            "the notebook {} holds no run `befor`; did you mean `before`? `iosonde ls` lists them",
            path.display()
        )
    );
    assert_eq!(
        resolved(&notebook, "last~4"),
        format!(
            "`last~4` asks for the run 4 before the newest, but the notebook {} holds only 4 runs",
            path.display()
        )
    );
    let (_folder, empty) = crate::examples::notebook();
    assert!(matches!(empty.resolve(None), Err(StoreError::Empty { .. })));
}

#[test]
fn an_id_is_taken_once() {
    let (_folder, mut notebook) = four();
    let error = notebook.begin(&info("c0ffee")).unwrap_err();
    assert_eq!(error.to_string(), "there is a run `c0ffee` in the notebook already");
    assert!(!notebook.id_is_free("c0ffee").unwrap());
    assert!(notebook.id_is_free("c0ffee-2").unwrap());
    let fresh = notebook.fresh_id().unwrap();
    assert!(fresh.len() == 6 && fresh.chars().all(|c| c.is_ascii_hexdigit()), "{fresh}");
    assert_ne!(fresh, notebook.fresh_id().unwrap());
    for bad in ["", "../../etc/x", "a b", "ä", &"x".repeat(65)] {
        assert!(matches!(notebook.begin(&info(bad)), Err(StoreError::BadId { .. })), "{bad}");
    }
}

#[test]
fn the_list_has_the_newest_first_with_its_trials() {
    let (_folder, mut notebook) = four();
    let _lock = notebook.begin(&labelled("eeeeee", "now")).unwrap();
    notebook.append("eeeeee", &trial(1)).unwrap();
    notebook.append("eeeeee", &trial(2)).unwrap();
    let list = notebook.list().unwrap();
    assert_eq!(
        list.iter().map(|run| run.id.as_str()).collect::<Vec<_>>(),
        ["eeeeee", "0a1b2c", "c0ffee", "7f3b02", "7f3a91"]
    );
    let newest = &list[0];
    assert_eq!((newest.label.as_deref(), newest.trials, newest.state), (Some("now"), 2, RunState::Running));
    assert_eq!(newest.device.as_deref(), Some("Example 100"));
    // Trial 2 began after 2 s and took 1; each of the two wrote 8 KiB.
    assert_eq!((newest.elapsed_s, newest.bytes_written), (3.0, 16_384));
    assert_eq!((list[1].trials, list[1].state, list[1].elapsed_s), (0, RunState::Done, 0.0));
    // Written down now, whatever its own clock says: the 21st century, in UTC.
    let kept_at = newest.kept_at.as_deref().unwrap();
    assert!(kept_at.starts_with("20") && kept_at.ends_with('Z') && kept_at.len() == 20, "{kept_at}");
}

#[test]
fn running_is_who_holds_the_lock() {
    let (_folder, mut notebook) = notebook();
    let lock = notebook.begin(&info("a")).unwrap();
    assert_eq!(notebook.load("a").unwrap().info.state, RunState::Running);
    assert_eq!(notebook.resumable().unwrap(), None);
    assert!(matches!(notebook.claim("a"), Err(StoreError::UnderWay { .. })));
    assert!(matches!(notebook.remove(&["a"]), Err(StoreError::UnderWay { .. })));
    drop(lock);
    assert_eq!(notebook.list().unwrap()[0].state, RunState::Interrupted);
    assert_eq!(notebook.load("a").unwrap().info.state, RunState::Interrupted);
    assert_eq!(notebook.resumable().unwrap().as_deref(), Some("a"));
    let again = notebook.claim("a").unwrap();
    assert_eq!(notebook.load("a").unwrap().info.state, RunState::Running);
    notebook.update(&RunInfo { state: RunState::Failed, ..info("a") }).unwrap();
    assert_eq!(notebook.list().unwrap()[0].state, RunState::Failed);
    assert_eq!(notebook.resumable().unwrap(), None);
    // What was measured before it failed is worth going on with.
    notebook.append("a", &trial(1)).unwrap();
    drop(again);
    assert_eq!(notebook.resumable().unwrap().as_deref(), Some("a"));
    assert!(matches!(notebook.claim("b"), Err(StoreError::NoRun { .. })));
}

#[test]
fn a_removed_run_takes_its_trials_and_its_room_along() {
    let (folder, mut notebook) = four();
    let size = || std::fs::metadata(folder.path().join("notebook.db")).unwrap().len();
    drop(notebook.begin(&info("big")).unwrap());
    for id in 1..=50 {
        notebook.append("big", &trial(id)).unwrap();
    }
    notebook.settle().unwrap();
    let before = size();
    notebook.remove(&["big"]).unwrap();
    assert!(size() + 50_000 < before, "{} then {}", before, size());
    assert!(matches!(notebook.load("big"), Err(StoreError::NoRun { .. })));
    assert_eq!(notebook.list().unwrap().len(), 4);
    // Its trials are gone too: a run of the same id begins with none.
    drop(notebook.begin(&info("big")).unwrap());
    assert!(notebook.load("big").unwrap().trials.is_empty());
    assert!(matches!(notebook.remove(&["nope"]), Err(StoreError::NoRun { .. })));
    assert!(matches!(notebook.update(&info("nope")), Err(StoreError::NoRun { .. })));
}

#[test]
fn strays_are_remembered_whatever_their_name() {
    let (folder, mut notebook) = notebook();
    let odd = PathBuf::from(OsStr::from_bytes(b"/mnt/\xff\xfe"));
    let plain = Path::new("/mnt/iosonde-7f3a91");
    for path in [plain, &odd, plain] {
        notebook.record_stray(path).unwrap();
    }
    drop(notebook);
    let mut notebook = Notebook::open(&folder.path().join("notebook.db")).unwrap();
    assert_eq!(notebook.strays().unwrap(), [plain, &odd]);
    notebook.forget_stray(plain).unwrap();
    notebook.forget_stray(Path::new("/never/recorded")).unwrap();
    assert_eq!(notebook.strays().unwrap(), [odd]);
}

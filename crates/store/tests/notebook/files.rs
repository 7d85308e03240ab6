//! Places and files that are not what they should be.

use iosonde_model::{Phase, Trial};
use iosonde_store::{Notebook, StoreError};
use std::{fs, os::unix::fs::PermissionsExt, thread};

use crate::examples::{info, trial};

#[test]
fn folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/notebook.db");
    let notebook = Notebook::open(&path).unwrap();
    assert_eq!(notebook.path(), path.canonicalize().unwrap());
    assert!(notebook.notes().is_empty(), "{:?}", notebook.notes());
}

#[test]
fn reading_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/notebook.db");
    let error = Notebook::open_existing(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "there is no notebook of runs yet at {}; the first run makes it, for example:  iosonde run quick ./",
            path.display()
        )
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // An empty file of somebody's stays empty.
    let empty = folder.path().join("empty");
    fs::write(&empty, "").unwrap();
    assert!(matches!(Notebook::open_existing(&empty), Err(StoreError::Missing { .. })));
    assert_eq!(fs::metadata(&empty).unwrap().len(), 0);
    let below_a_file = Notebook::open_existing(&empty.join("notebook.db")).unwrap_err().to_string();
    assert!(below_a_file.contains("cannot be reached"), "{below_a_file}");
    drop(Notebook::open(&path).unwrap());
    assert!(Notebook::open_existing(&path).unwrap().list().unwrap().is_empty());
}

/// Two programs with two names of one notebook would each have a log of their own.
#[test]
fn a_notebook_with_a_second_name_is_read_and_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let (path, second) = (folder.path().join("notebook.db"), folder.path().join("second.db"));
    drop(Notebook::open(&path).unwrap().begin(&info("a")).unwrap());
    fs::hard_link(&path, &second).unwrap();
    let before = fs::read(&path).unwrap();
    for name in [&path, &second] {
        assert!(matches!(Notebook::open(name), Err(StoreError::SecondName { .. })));
        assert_eq!(Notebook::open_existing(name).unwrap().list().unwrap().len(), 1);
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    fs::remove_file(&second).unwrap();
    Notebook::open(&path).unwrap();
}

#[test]
fn a_file_that_is_no_database_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    let text = "Dear reader, ".repeat(100);
    fs::write(&path, &text).unwrap();
    let error = Notebook::open(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} is not a notebook: it is no SQLite file; it was not touched; choose another with --store PATH",
            path.display()
        )
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn another_programs_database_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bookmarks.sqlite");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE bookmarks (url)").unwrap();
    let before = fs::read(&path).unwrap();
    let error = Notebook::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_damaged_notebook_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notebook.db");
    let mut notebook = Notebook::open(&path).unwrap();
    drop(notebook.begin(&info("a")).unwrap());
    drop(notebook);
    // The first page stays, the tables behind it are garbage.
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let error = Notebook::open(&path).and_then(|notebook| notebook.list()).unwrap_err().to_string();
    assert!(error.contains("is damaged") && error.contains(".recover"), "{error}");
}

#[test]
fn a_folder_is_no_notebook() {
    let folder = tempfile::tempdir().unwrap();
    let error = Notebook::open(folder.path()).unwrap_err().to_string();
    let shown = folder.path().display();
    assert_eq!(
        error,
        format!(
            "{shown} is a folder, and the notebook is a file; name a file in it: --store {shown}/notebook.db"
        )
    );
    let below_a_file = folder.path().join("file/notebook.db");
    fs::write(folder.path().join("file"), "").unwrap();
    let error = Notebook::open(&below_a_file).unwrap_err().to_string();
    assert!(error.contains("cannot be made") && error.contains("--store"), "{error}");
}

#[test]
fn a_folder_that_may_not_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let result = Notebook::open(&closed.join("notebook.db"));
    // The superuser may write anywhere: then there is nothing to refuse.
    if fs::write(closed.join("probe"), "").is_ok() {
        assert!(result.is_ok());
        return;
    }
    let error = result.unwrap_err().to_string();
    assert!(error.contains("cannot be written") && error.contains("Permission denied"), "{error}");
}

#[test]
fn a_file_system_without_writing_is_said_even_to_the_superuser() {
    // /proc takes no new files from anybody.
    let error = Notebook::open("/proc/notebook.db".as_ref()).unwrap_err().to_string();
    assert!(error.contains("/proc") && error.contains("--store PATH"), "{error}");
}

#[test]
fn many_may_open_a_new_notebook_at_once_and_write_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = &folder.path().join("notebook.db");
    thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                let mut notebook = Notebook::open(path).unwrap();
                let id = format!("run-{writer}");
                let _lock = notebook.begin(&info(&id)).unwrap();
                for number in 1..=10 {
                    notebook.append(&id, &trial(number)).unwrap();
                    notebook.settle().unwrap();
                }
            });
        }
    });
    let list = Notebook::open(path).unwrap().list().unwrap();
    assert_eq!(list.iter().map(|run| run.trials).collect::<Vec<_>>(), [10, 10, 10, 10]);
}

#[test]
fn figures_can_be_asked_for_without_iosonde() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notebook.db");
    let mut notebook = Notebook::open(&path).unwrap();
    let _lock = notebook.begin(&info("a")).unwrap();
    let kept = trial(1);
    notebook.append("a", &kept).unwrap();
    // From outside, while the notebook is open.
    let shell = rusqlite::Connection::open(&path).unwrap();
    let (rw, depth, iops, p99): (String, u32, f64, Option<f64>) = shell
        .query_row(
            "SELECT rw, queue_depth, iops, read_latency_ns_p99 FROM trials WHERE run = 'a'",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    // Three reads support no 99th percentile: absent, not zero.
    assert_eq!((rw.as_str(), depth, iops, p99), ("randrw", 8, kept.iops(), None));
    let seed: String =
        shell.query_row("SELECT json_extract(info, '$.study') FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(seed, "quick");
}

#[test]
fn the_queries_in_the_manual_work() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/notebook.md")).unwrap();
    let queries: Vec<_> =
        page.split("```sql\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(queries.len(), 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notebook.db");
    let mut notebook = Notebook::open(&path).unwrap();
    let _lock = notebook.begin(&info("a")).unwrap();
    notebook.append("a", &trial(1)).unwrap();
    notebook.append("a", &Trial { phase: Phase::Canary, ..trial(2) }).unwrap();
    let shell = rusqlite::Connection::open(&path).unwrap();
    // One measured workload, one canary, two trials that read.
    for (query, rows) in queries.iter().zip([1, 1, 2]) {
        let mut statement = shell.prepare(query).unwrap_or_else(|error| panic!("{error}: {query}"));
        assert_eq!(statement.query_map([], |_| Ok(())).unwrap().count(), rows, "{query}");
    }
}

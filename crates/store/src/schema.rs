//! The notebook's layout in SQLite, and how a file is recognised as a notebook.

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

use crate::StoreError;

/// "iosd": what `file` and other programs see, so that no other program's SQLite file is taken for a notebook.
const APPLICATION_ID: i64 = 0x696f_7364;

/// The layout's number, kept in SQLite's `user_version`. A change adds a step to [`prepare`].
pub(crate) const LAYOUT: i64 = 2;

/// The comments stay in the file: `.schema` in the sqlite3 shell shows them.
const TABLES: &str = "
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,    -- 1, 2, .. in the order in which runs began
  id TEXT NOT NULL UNIQUE,
  label TEXT,
  note TEXT,
  study TEXT NOT NULL,
  target TEXT NOT NULL,
  device TEXT,                   -- model or name
  host TEXT,
  started_at TEXT NOT NULL,      -- UTC, RFC 3339
  elapsed_s REAL NOT NULL,
  state TEXT NOT NULL,           -- done, interrupted, failed; running also where the process was killed
  bytes_written INTEGER,
  info TEXT NOT NULL,            -- everything about the run but its trials, as JSON
  kept_at TEXT                   -- UTC, RFC 3339: when this was written down; a simulated run starts in 1970
);
CREATE TABLE trials (
  run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  id INTEGER NOT NULL,           -- 1, 2, .. in the order of execution
  experiment TEXT NOT NULL,
  round INTEGER NOT NULL,
  phase TEXT NOT NULL,           -- prepare, canary, measure
  point INTEGER,
  started_at TEXT NOT NULL,      -- UTC, RFC 3339
  started_s REAL NOT NULL,       -- since the run's beginning, on the run's own clock
  elapsed_s REAL NOT NULL,
  rw TEXT NOT NULL,
  block_size_bytes INTEGER,
  queue_depth INTEGER NOT NULL,  -- per job
  jobs INTEGER NOT NULL,
  engine TEXT NOT NULL,
  direct INTEGER NOT NULL,       -- 1: the page cache was bypassed
  iops REAL NOT NULL,            -- reads and writes together
  bytes_per_s REAL NOT NULL,
  errors INTEGER,
  read_iops REAL,                -- NULL where the workload reads nothing
  read_latency_ns_mean REAL,
  read_latency_ns_p99 REAL,      -- NULL where fewer than 1,000 reads were timed
  write_iops REAL,
  write_latency_ns_mean REAL,
  write_latency_ns_p99 REAL,
  issued_write_bytes INTEGER,    -- warm-up included
  trial TEXT NOT NULL,           -- everything about the trial, as JSON
  PRIMARY KEY (run, id)
);
CREATE TABLE strays (
  path PRIMARY KEY               -- text, or bytes where the name is no text
);
";

/// Places in the header of an SQLite file (<https://www.sqlite.org/fileformat.html>): its signature at the beginning,
/// the application's number big-endian at 68, the number of tables and indexes on the first page at 103.
const SIGNATURE: &[u8; 16] = b"SQLite format 3\0";
pub(crate) const HEADER_BYTES: usize = 105;

/// What a file's first bytes say that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    Notebook,
    /// A database without a table and without an application's number: a notebook that another process is making.
    Empty,
    OtherDatabase,
    NoDatabase,
}

pub(crate) fn header(first: &[u8]) -> Header {
    let number =
        |at: usize| first.get(at..at + 4).map(|bytes| bytes.iter().fold(0, |n, b| n << 8 | i64::from(*b)));
    match number(68) {
        Some(APPLICATION_ID) if first.starts_with(SIGNATURE) => Header::Notebook,
        Some(0) if first.starts_with(SIGNATURE) && first.get(103..HEADER_BYTES) == Some(&[0; 2]) => {
            Header::Empty
        }
        Some(_) if first.starts_with(SIGNATURE) => Header::OtherDatabase,
        _ => Header::NoDatabase,
    }
}

/// Makes the tables in an empty file; refuses a file that is not a notebook, or a newer one. Every read of a file
/// that is no database fails here.
pub(crate) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let fail = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    // One transaction, so that both looks see one state: another process may be making the tables right now.
    let transaction = connection.transaction().map_err(fail)?;
    let found = layout(&transaction, path)?;
    transaction.finish().map_err(fail)?;
    match found {
        Some(LAYOUT) => return Ok(()),
        // Freed pages go back to the file system when a run is removed. Only an empty file takes this setting, and each
        // attempt writes to the file.
        None => connection.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(fail)?,
        Some(_) => {}
    }
    // Immediate, and looked at again inside: two processes may have found the same empty or older file.
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate).map_err(fail)?;
    match layout(&transaction, path)? {
        Some(LAYOUT) => {}
        Some(_) => transaction.execute_batch(FROM_1_TO_2).map_err(fail)?,
        None => {
            transaction.execute_batch(TABLES).map_err(fail)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fail)?;
        }
    }
    transaction.pragma_update(None, "user_version", LAYOUT).map_err(fail)?;
    transaction.commit().map_err(fail)
}

/// Whether a notebook that cannot be changed can be read as it is.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    match layout(connection, path)? {
        Some(LAYOUT) => Ok(()),
        Some(found) => Err(StoreError::Older { path: path.to_owned(), found, known: LAYOUT }),
        None => Err(StoreError::Missing { path: path.to_owned() }),
    }
}

/// Layout 1 did not say when a simulated run was made.
const FROM_1_TO_2: &str = "ALTER TABLE runs ADD COLUMN kept_at TEXT";

/// The number of a notebook's layout; `None` for an empty file.
fn layout(connection: &Connection, path: &Path) -> Result<Option<i64>, StoreError> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let read = || Ok((number("PRAGMA application_id")?, number("SELECT count(*) FROM sqlite_schema")?));
    let (application, tables) = read().map_err(|error| StoreError::sqlite(path, &error))?;
    if tables == 0 && application == 0 {
        return Ok(None);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let found = number("PRAGMA user_version").map_err(|error| StoreError::sqlite(path, &error))?;
    if found > LAYOUT {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: LAYOUT });
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Notebook;

    #[test]
    fn a_newer_notebook_is_refused_in_words_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        drop(Notebook::open(&path).unwrap());
        let newer = Connection::open(&path).unwrap();
        newer.pragma_update(None, "user_version", LAYOUT + 1).unwrap();
        drop(newer);
        let error = Notebook::open(&path).unwrap_err().to_string();
        assert!(error.contains("was written by a newer iosonde"), "{error}");
        assert!(error.contains("--store PATH"), "{error}");
        let now: i64 =
            Connection::open(&path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(now, LAYOUT + 1);
    }

    #[test]
    fn an_older_notebook_is_brought_up_to_date_and_keeps_its_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        let old = Connection::open(&path).unwrap();
        let kept = TABLES.find(",            -- everything").unwrap();
        let rest = TABLES.find(");\nCREATE TABLE trials").unwrap();
        old.execute_batch(&format!("{}{}", &TABLES[..kept], &TABLES[rest..])).unwrap();
        old.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let sql = "INSERT INTO runs (id, study, target, started_at, elapsed_s, state, info)
                   VALUES ('a', 'quick', 'sim:ideal', '1970-01-01T00:00:00Z', 1.0, 'done', '{}')";
        old.execute(sql, []).unwrap();
        drop(old);
        let runs = Notebook::open_existing(&path).unwrap().list().unwrap();
        assert_eq!((runs[0].id.as_str(), &runs[0].kept_at), ("a", &None));
        let now: i64 =
            Connection::open(&path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(now, LAYOUT);
    }
}

//! The open notebook: opening it safely, and the two helpers through which every statement goes.

use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row, config::DbConfig};
use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    Journal, StoreError,
    error::BUSY_S,
    files::{self, OpenFile},
    journal_kind, lock, platform, schema,
};

/// An open notebook of runs. Several processes may have the same one open.
#[derive(Debug)]
pub struct Notebook {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) journal: Journal,
    notes: Vec<String>,
    pub(crate) open: OpenFile,
}

impl Notebook {
    /// Opens a notebook for writing. Creates the file and its folders if there are none, and removes lock files of
    /// killed runs.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the place cannot be written, or if the file is no notebook of this version.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let notebook = Self::open_where(path, journal_kind)?;
        notebook.clear_locks();
        Ok(notebook)
    }

    /// Opens an existing notebook; creates nothing.
    ///
    /// # Errors
    /// Returns [`StoreError::Missing`] if there is no notebook yet; other errors as for [`Notebook::open`].
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        let missing = || StoreError::Missing { path: path.to_owned() };
        match fs::metadata(path) {
            // An empty file is what SQLite leaves before the first table is made.
            Ok(found) if found.is_file() && found.len() == 0 => Err(missing()),
            Ok(_) if may_write(path) && !files::has_second_name(path) => Self::open_where(path, journal_kind),
            Ok(_) => Self::open_to_read(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing()),
            Err(source) => Err(StoreError::Unreachable { path: path.to_owned(), source }),
        }
    }

    /// Removes lock files that killed runs left beside the notebook. Errors are ignored: a remaining file is empty and
    /// harmless.
    pub fn clear_locks(&self) {
        lock::clear_stale(&self.path);
    }

    /// Opens it without a change to the file or beside it.
    fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        files::check(path)?;
        let path = fs::canonicalize(path)
            .map_err(|source| StoreError::Unreachable { path: path.to_owned(), source })?;
        let fail = |error: rusqlite::Error| StoreError::sqlite(&path, &error);
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // A file that keeps a write-ahead log is read without one, where nothing can be made beside it, only as one
        // that nobody changes. A log that holds something is another process's work, and is read where its index can be
        // opened. With a rollback journal SQLite locks as ever, and refuses what was left half written.
        let unchanging = if files::keeps_log(&path) && !files::has_log(&path) { "?immutable=1" } else { "" };
        let address = format!("{}{unchanging}", files::address(&path));
        let connection = Connection::open_with_flags(address, flags).map_err(fail)?;
        distrust(&connection).map_err(fail)?;
        connection.busy_timeout(Duration::from_secs(BUSY_S)).map_err(fail)?;
        schema::check(&connection, &path)?;
        let open = OpenFile::note(&path).map_err(|source| not_writable(&path, &path, source))?;
        Ok(Self { connection, path, journal: Journal::Rollback, notes: Vec::new(), open })
    }

    /// Opens it as if it lay on the file system that `journal_for` finds.
    fn open_where(path: &Path, journal_for: impl Fn(&Path) -> Found) -> Result<Self, StoreError> {
        check_place(path)?;
        // No URI flag, and never a path that begins with `file:`: the bundled SQLite would read it as an address.
        let path = std::path::absolute(path).map_err(|source| not_writable(path, path, source))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fail = |error: rusqlite::Error| StoreError::sqlite(&path, &error);
        let mut connection = Connection::open_with_flags(&path, flags).map_err(fail)?;
        distrust(&connection).map_err(fail)?;
        connection.busy_timeout(Duration::from_secs(BUSY_S)).map_err(fail)?;
        configure(&connection).map_err(fail)?;
        schema::prepare(&mut connection, &path)?;
        // Lock files lie beside the real file, so that two names of one notebook see the same locks.
        let path = fs::canonicalize(&path).map_err(|source| not_writable(&path, &path, source))?;
        let open = OpenFile::note(&path).map_err(|source| not_writable(&path, &path, source))?;
        let (journal, notes) = choose_journal(&connection, &path, journal_for)?;
        Ok(Self { connection, path, journal, notes, open })
    }

    /// Returns the absolute path of the notebook's file, symbolic links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns notes on this notebook for the user: the reason why it has no write-ahead log.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Runs one statement as one commit; says how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, parameters: impl Params) -> Result<usize, StoreError> {
        let run = || self.connection.prepare_cached(sql)?.execute(parameters);
        run().map_err(|error| self.fail(&error))
    }

    /// The rows of a query.
    pub(crate) fn rows<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let run =
            || self.connection.prepare_cached(sql)?.query_map(parameters, read)?.collect::<Result<_, _>>();
        run().map_err(|error| self.fail(&error))
    }

    pub(crate) fn fail(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::sqlite(&self.path, error)
    }
}

/// Whether this user may write the notebook and beside it.
fn may_write(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    [path, folder].iter().all(|what| platform::may_read_and_write(what).is_ok())
}

/// The journal that suits a file system, and that file system's name where it is why.
type Found = io::Result<(Journal, Option<&'static str>)>;

fn not_writable(path: &Path, what: &Path, source: io::Error) -> StoreError {
    StoreError::NotWritable { path: path.to_owned(), what: what.to_owned(), source }
}

/// Makes the folders and asks beforehand what SQLite would only answer with "unable to open database file".
///
/// Asks with access(2), not by opening: closing any descriptor of a database drops every lock that this process
/// holds on it (POSIX record locks), those of an open notebook too.
fn check_place(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Err(StoreError::IsFolder { path: path.to_owned() });
    }
    files::check(path)?;
    if files::has_second_name(path) {
        return Err(StoreError::SecondName { path: path.to_owned() });
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::create_dir_all(folder).map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
    // The folder too: journal and lock files lie beside the notebook.
    let existing = if path.exists() { vec![path, folder] } else { vec![folder] };
    for what in existing {
        platform::may_read_and_write(what).map_err(|error| not_writable(path, what, error))?;
    }
    Ok(())
}

/// A notebook may come from a stranger: what its layout would run by itself is not run. iosonde's own layout has
/// neither views nor triggers, and calls no function.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    let refused = [
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
    ];
    refused.into_iter().try_for_each(|setting| connection.set_db_config(setting, false).map(drop))?;
    // No statement changes the layout behind SQLite's back.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map(drop)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    // FULL: a commit is on the disk when it returns; NORMAL would lose the last trials in a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The log is folded into the file by `settle` and on closing, never in the middle of an append.
    connection.pragma_update(None, "wal_autocheckpoint", 0)
}

/// Sets the journal that suits the file system; says so where it is not the usual one.
fn choose_journal(
    connection: &Connection,
    path: &Path,
    journal_for: impl Fn(&Path) -> Found,
) -> Result<(Journal, Vec<String>), StoreError> {
    let (wanted, file_system) = journal_for(path).map_err(|source| not_writable(path, path, source))?;
    let got = set_journal(connection, wanted).map_err(|error| StoreError::sqlite(path, &error))?;
    let shown = path.display();
    match (wanted, file_system) {
        (Journal::WriteAhead, _) if got == wanted.pragma() => Ok((wanted, Vec::new())),
        (Journal::WriteAhead, _) => {
            let why = "offers no memory shared between processes, so it keeps a rollback journal";
            Ok((Journal::Rollback, vec![format!("the file system of the notebook {shown} {why}")]))
        }
        (Journal::Rollback, name) => {
            let name = name.unwrap_or("a shared file system");
            let why = format!("a write-ahead log is not safe on {name}");
            if got != wanted.pragma() {
                return Err(StoreError::Failed {
                    path: path.to_owned(),
                    why: format!("{why}, and it has one"),
                });
            }
            Ok((wanted, vec![format!("{why}, so the notebook {shown} keeps a rollback journal")]))
        }
    }
}

/// The journal mode that SQLite then has: it may refuse, and say the old one.
fn set_journal(connection: &Connection, wanted: Journal) -> rusqlite::Result<String> {
    let current: String = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if current == wanted.pragma() {
        return Ok(current);
    }
    let change = || {
        let sql = format!("PRAGMA journal_mode = {}", wanted.pragma());
        connection.query_row(&sql, [], |row| row.get::<_, String>(0))
    };
    // The change wants the file to itself, and SQLite's busy timeout does not cover it: two processes that open a
    // new notebook at once meet here. 50 times 20 ms; the other one needs a few.
    for _ in 0..50 {
        match change() {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                thread::sleep(Duration::from_millis(20));
            }
            other => return other,
        }
    }
    change()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_nfs(_: &Path) -> Found {
        Ok((Journal::Rollback, Some("nfs")))
    }

    #[test]
    fn on_a_network_home_it_keeps_a_rollback_journal_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        // Written on a local disk first: the log must be gone, not only unused.
        let mut local = Notebook::open_where(&path, |_| Ok((Journal::WriteAhead, None))).unwrap();
        local.record_stray(Path::new("/mnt/x")).unwrap();
        assert!(local.notes().is_empty());
        drop(local);
        let mut notebook = Notebook::open_where(&path, on_nfs).unwrap();
        let shown = notebook.path().display().to_string();
        assert_eq!(
            notebook.notes(),
            [format!(
                "a write-ahead log is not safe on nfs, so the notebook {shown} keeps a rollback journal"
            )]
        );
        notebook.record_stray(Path::new("/mnt/y")).unwrap();
        notebook.settle().unwrap();
        assert_eq!(notebook.strays().unwrap(), [Path::new("/mnt/x"), Path::new("/mnt/y")]);
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["n.db"]);
    }

    /// On a read-only medium, or another user's: a name with every odd byte, and nothing made beside it.
    #[test]
    fn one_that_may_not_be_written_is_read_and_nothing_changes() {
        let folder = tempfile::tempdir().unwrap();
        // Windows has no question marks in names.
        let names = ["n 50%?#&.db", "n 50%#&.db"].map(|name| folder.path().join(name));
        let path = names.into_iter().find(|path| fs::write(path, "").is_ok()).unwrap();
        fs::remove_file(&path).unwrap();
        let mut written = Notebook::open(&path).unwrap();
        written.record_stray(Path::new("/mnt/x")).unwrap();
        drop(written);
        let files = || -> Vec<_> {
            let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
            names.map(|path| (fs::read(&path).unwrap(), path)).collect()
        };
        let before = files();
        let mut read = Notebook::open_to_read(&path).unwrap();
        assert_eq!(read.strays().unwrap(), [Path::new("/mnt/x")]);
        let error = read.record_stray(Path::new("/mnt/y")).unwrap_err().to_string();
        assert!(error.contains("read") && error.contains("--store"), "{error}");
        drop(read);
        assert_eq!(files(), before);
    }

    /// Somebody's trigger, a view in the place of a table, functions with effects.
    #[test]
    fn what_a_strangers_notebook_would_run_is_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        let strays = |notebook: &Notebook| notebook.strays().map(|found| found.len());
        let made = |sql: &str| {
            drop(Notebook::open(&path).unwrap());
            Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        };
        made("CREATE TRIGGER t AFTER INSERT ON strays BEGIN DELETE FROM strays; END");
        let mut notebook = Notebook::open(&path).unwrap();
        notebook.record_stray(Path::new("/mnt/x")).unwrap();
        assert_eq!(strays(&notebook).unwrap(), 1, "the trigger ran");
        drop(notebook);
        for notebook in [Notebook::open(&path), Notebook::open_to_read(&path)] {
            let connection = notebook.unwrap().connection;
            let trusted: i64 = connection.query_row("PRAGMA trusted_schema", [], |row| row.get(0)).unwrap();
            assert_eq!(trusted, 0, "functions with effects may stand in its layout");
        }
        made("DROP TABLE strays; CREATE VIEW strays AS SELECT 'x' AS path");
        for notebook in [Notebook::open(&path), Notebook::open_to_read(&path)] {
            let error = strays(&notebook.unwrap()).unwrap_err().to_string();
            assert!(error.contains("view"), "{error}");
        }
    }

    #[test]
    fn a_log_that_another_process_has_open_is_not_left_on_a_network_home() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        let mut open = Notebook::open_where(&path, |_| Ok((Journal::WriteAhead, None))).unwrap();
        open.record_stray(Path::new("/mnt/x")).unwrap();
        let error = Notebook::open_where(&path, on_nfs).unwrap_err().to_string();
        assert!(error.contains("n.db") && error.contains("busy"), "{error}");
    }

    #[test]
    fn a_full_disk_is_said_and_costs_nothing_that_was_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut notebook = Notebook::open(&folder.path().join("n.db")).unwrap();
        notebook.record_stray(Path::new("/mnt/x")).unwrap();
        let pages: i64 = notebook.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        let set: i64 = notebook
            .connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), [], |row| row.get(0))
            .unwrap();
        assert_eq!(set, pages);
        let error = notebook.record_stray(Path::new(&"x".repeat(50_000))).unwrap_err();
        assert!(matches!(error, StoreError::Full { .. }), "{error}");
        assert_eq!(notebook.strays().unwrap(), [Path::new("/mnt/x")]);
    }

    #[test]
    fn a_newer_notebook_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        let notebook = Notebook::open(&path).unwrap();
        notebook.connection.pragma_update(None, "user_version", 7).unwrap();
        drop(notebook);
        let error = Notebook::open(&path).unwrap_err().to_string();
        assert!(
            error.contains("newer iosonde") && error.contains("number 7") && error.contains("up to 2"),
            "{error}"
        );
    }
}

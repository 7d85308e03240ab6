//! What lies where a notebook is to be opened, looked at before SQLite does.
//!
//! SQLite changes bytes as soon as it opens a file: it plays journals back and folds logs in. So what is no notebook is
//! refused beforehand.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
    sync::{Mutex, PoisonError},
};

use crate::{
    StoreError,
    companion::beside,
    platform::{self, Identity},
    schema::{HEADER_BYTES, Header, header},
};

/// Files that this process has open as notebooks, by device and inode, once for each connection.
///
/// Closing any descriptor of a database drops every lock that the process has on it (POSIX locks), those of an open
/// notebook too; so such a file is not looked into again.
static OPEN: Mutex<Vec<Identity>> = Mutex::new(Vec::new());

/// Keeps a file on the list of open ones.
#[derive(Debug)]
pub(crate) struct OpenFile(Identity);

impl OpenFile {
    pub(crate) fn note(path: &Path) -> io::Result<Self> {
        let identity = platform::identity(path, true)?;
        OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(identity);
        Ok(Self(identity))
    }

    pub(crate) fn is(&self, found: Identity) -> bool {
        found == self.0
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|one| *one == self.0) {
            open.swap_remove(at);
        }
    }
}

/// Whether a path leads to a notebook of runs, whatever its name.
pub fn is_notebook(path: &Path) -> bool {
    (path.is_file() && is_open(path))
        || first_bytes(path).is_ok_and(|first| header(&first) == Header::Notebook)
}

fn is_open(path: &Path) -> bool {
    let is_listed = |found| OPEN.lock().unwrap_or_else(PoisonError::into_inner).contains(&found);
    platform::identity(path, true).is_ok_and(is_listed)
}

/// Refuses what SQLite must not open: what is no file, another program's database, and an empty place beside which
/// another database's journal lies.
pub(crate) fn check(path: &Path) -> Result<(), StoreError> {
    // What cannot be reached is refused by what comes next, which says why.
    let Ok(found) = fs::metadata(path) else { return check_companions(path) };
    if !found.is_file() {
        return Err(StoreError::NoFile { path: path.to_owned() });
    }
    if found.len() == 0 {
        return check_companions(path);
    }
    if is_open(path) {
        return Ok(());
    }
    let first =
        first_bytes(path).map_err(|source| StoreError::Unreachable { path: path.to_owned(), source })?;
    match header(&first) {
        Header::Notebook => Ok(()),
        // Its tables may stand in another program's log.
        Header::Empty if !has_log(path) => Ok(()),
        Header::Empty => Err(StoreError::Foreign { path: path.to_owned() }),
        Header::OtherDatabase => Err(StoreError::Foreign { path: path.to_owned() }),
        Header::NoDatabase => Err(StoreError::NoDatabase { path: path.to_owned() }),
    }
}

/// Whether a file may be found under another name, beside which SQLite would look for another log: a hard link, or a
/// mount of this one file.
pub(crate) fn has_second_name(path: &Path) -> bool {
    let Ok(path) = fs::canonicalize(path) else { return false };
    let linked = platform::links(&path).is_ok_and(|names| names > 1);
    linked || path.parent().is_some_and(|folder| platform::is_on_another_mount(&path, folder))
}

fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    // A pipe or a device would wait, or answer for ever.
    if fs::metadata(path)?.is_file() {
        File::open(path)?.take(HEADER_BYTES as u64).read_to_end(&mut first)?;
    }
    Ok(first)
}

/// Whether a write-ahead log with something in it lies beside a notebook.
pub(crate) fn has_log(path: &Path) -> bool {
    holds(&beside(path, "-wal"))
}

/// Whether a notebook keeps a write-ahead log: bytes 18 and 19 of the header are its versions for writing and reading.
pub(crate) fn keeps_log(path: &Path) -> bool {
    first_bytes(path).is_ok_and(|first| first.get(18..20) == Some(&[2, 2]))
}

/// A path as an address that SQLite reads: every byte but the plainest as its number.
pub(crate) fn address(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let bytes = platform::address_bytes(path);
    let bytes = bytes.iter();
    let written =
        bytes.map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") });
    format!("file:{}", written.collect::<String>())
}

fn holds(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

/// A journal or log beside no database. One that began with an empty database is what a killed first run left.
fn check_companions(path: &Path) -> Result<(), StoreError> {
    let (log, journal) = (beside(path, "-wal"), beside(path, "-journal"));
    if holds(&log) {
        return Err(StoreError::Orphan { companion: log });
    }
    // The journal's header: 16 bytes in, the pages that the database had when it was begun.
    let begun_empty = |path: &Path| first_bytes(path).is_ok_and(|first| first.get(16..20) == Some(&[0; 4]));
    if holds(&journal) && !begun_empty(&journal) {
        return Err(StoreError::Orphan { companion: journal });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Notebook;
    use std::path::PathBuf;

    /// Every byte beside and in it.
    fn bytes(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut all: Vec<_> = files.map(|path| (path.clone(), fs::read(&path).unwrap())).collect();
        all.sort();
        all
    }

    fn refused(path: &Path) -> String {
        let folder = path.parent().unwrap();
        let before = bytes(folder);
        let error = Notebook::open(path).unwrap_err().to_string();
        assert_eq!(bytes(folder), before, "{error}");
        assert!(Notebook::open_existing(path).is_err());
        assert_eq!(bytes(folder), before, "{error}");
        error
    }

    #[test]
    fn another_programs_database_is_refused_before_its_log_is_folded_in() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.db");
        let other = rusqlite::Connection::open(&path).unwrap();
        other
            .execute_batch("PRAGMA journal_mode=wal; CREATE TABLE t (x); INSERT INTO t VALUES (1);")
            .unwrap();
        assert!(refused(&path).contains("another program"));
    }

    #[test]
    fn a_journal_that_belongs_to_no_database_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("n.db");
        for ending in ["-wal", "-journal"] {
            let companion = folder.path().join(format!("n.db{ending}"));
            fs::write(&companion, [7; 100]).unwrap();
            assert!(refused(&path).contains(ending));
            fs::remove_file(companion).unwrap();
        }
        assert!(Notebook::open(&path).is_ok());
        assert!(is_notebook(&path));
    }

    #[test]
    fn a_text_is_no_notebook() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("thesis.tex");
        fs::write(&path, "precious ".repeat(100)).unwrap();
        assert!(refused(&path).contains("is not a notebook"));
        assert!(!is_notebook(&path) && !is_notebook(folder.path()));
    }
}

//! Files that a run has made on the storage under test and not yet removed.
//!
//! A path is written down, and on the disk, before the file is made: whatever kills the process, the next one
//! finds the name here. Only what is written down is ever removed.

use rusqlite::{ToSql, types::Value};
use std::path::{Path, PathBuf};

use crate::{Notebook, StoreError, platform};

/// Text where the path is text, so that people can read it; its bytes where it is not.
fn column(path: &Path) -> impl ToSql + use<> {
    match path.to_str() {
        Some(text) => Value::Text(text.to_owned()),
        None => Value::Blob(platform::bytes_of(path)),
    }
}

impl Notebook {
    /// Records a file that is about to be created. Durable when it returns.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be written; then the file must not be made.
    pub fn record_stray(&mut self, path: &Path) -> Result<(), StoreError> {
        self.execute("INSERT OR IGNORE INTO strays (path) VALUES (?1)", [column(path)]).map(drop)
    }

    /// Removes the record of a file that has been removed. Not an error if there is no record.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be written.
    pub fn forget_stray(&mut self, path: &Path) -> Result<(), StoreError> {
        self.execute("DELETE FROM strays WHERE path = ?1", [column(path)]).map(drop)
    }

    /// Returns the recorded files that have not been removed, oldest first.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be read.
    pub fn strays(&self) -> Result<Vec<PathBuf>, StoreError> {
        self.rows("SELECT path FROM strays ORDER BY rowid", [], |row| {
            let bytes = row.get_ref(0)?.as_bytes()?;
            Ok(platform::path_of(bytes))
        })
    }
}

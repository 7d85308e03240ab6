//! Waiting until a commit's writes are over, for a notebook on the storage that is measured.

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use crate::{
    Journal, Notebook, StoreError,
    platform::{self, Identity},
};

impl Notebook {
    /// Writes back all pages that the commits so far have dirtied, so that nothing of the notebook is written later,
    /// while a trial runs. Takes 1 to 2 ms after a trial's commit on ext4.
    ///
    /// Without it, ext4 wrote 24 to 37 KiB of a notebook about 30 s after the last commit (the kernel's age for
    /// dirty pages); with it 5 KiB, the file system's own tables, which only a flush of everybody's data would
    /// bring forward.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be written.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        if self.journal == Journal::Rollback {
            // Each commit wrote the file in place and waited for it.
            return Ok(());
        }
        // Passive: never waits for a reader. With synchronous=FULL SQLite itself syncs log and file here. The log
        // is kept and written again from its beginning, which costs fewer changes of metadata than a new one.
        let fold = || self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        fold().map_err(|error| self.fail(&error))?;
        sync_index(&self.path).map_err(|error| StoreError::Failed {
            path: self.path.clone(),
            why: format!("its index could not be brought to the disk: {error}"),
        })
    }
}

/// Open index files, never closed: closing any descriptor of a file drops all POSIX record locks that the process
/// holds on it, and SQLite's own descriptor of the same file holds some. One entry for each notebook opened.
static KEPT: Mutex<Vec<(Identity, File)>> = Mutex::new(Vec::new());

/// The log's index (`-shm`) is mapped memory that SQLite never syncs: the kernel writes its 32 KiB half a minute
/// later.
fn sync_index(notebook: &Path) -> io::Result<()> {
    let mut name = OsString::from(notebook);
    name.push("-shm");
    let index = PathBuf::from(name);
    let key = match platform::identity(&index, true) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let at = match kept.iter().position(|(known, _)| *known == key) {
        Some(at) => at,
        None => {
            kept.push((key, File::options().read(true).write(true).open(&index)?));
            kept.len() - 1
        }
    };
    kept[at].1.sync_all()
}

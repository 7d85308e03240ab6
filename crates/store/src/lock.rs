//! Telling a live run from a dead one: a lock file for each run under way, beside the notebook.
//!
//! The kernel drops a `flock` when its process dies, however it dies, which no written process number does.
//! The file is removed by whoever holds its lock. A process that was waiting on the removed file finds that it
//! has no name any more and begins again.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::StoreError;

/// Held while a run is under way; dropping it (or dying) tells everybody that it is not.
#[derive(Debug)]
pub struct RunLock {
    /// Its descriptor holds the lock.
    _file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Before the descriptor closes, so that nobody can lock the old file and see it removed afterwards
        // unnoticed. A file that stays is empty, and the next run of that id takes it over.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// 20 times 5 ms: whoever only looks holds a lock for microseconds.
const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// The lock file of a run: `notebook.db.7f3a91.running`.
fn lock_path(notebook: &Path, id: &str) -> PathBuf {
    let mut name = OsString::from(notebook);
    name.push(format!(".{id}.running"));
    name.into()
}

/// Takes the lock of a run; `None` while another process (or another handle of this one) holds it.
pub(crate) fn take(notebook: &Path, id: &str) -> Result<Option<RunLock>, StoreError> {
    let path = lock_path(notebook, id);
    let fail = |source: io::Error| StoreError::Lock { path: path.clone(), source };
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(fail)?;
        match file.try_lock() {
            Ok(()) if file.metadata().map_err(fail)?.nlink() == 0 => {}
            Ok(()) => return Ok(Some(RunLock { _file: file, path })),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(fail(source)),
        }
    }
    Ok(None)
}

/// Whether some process holds the lock of a run.
pub(crate) fn is_held(notebook: &Path, id: &str) -> Result<bool, StoreError> {
    let path = lock_path(notebook, id);
    let fail = |source: io::Error| StoreError::Lock { path: path.clone(), source };
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(fail(error)),
    };
    // Shared, so that two who only look never take each other for a run.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(fail(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let notebook = folder.path().join("n.db");
        assert!(!is_held(&notebook, "a").unwrap());
        let lock = take(&notebook, "a").unwrap().expect("nobody holds it");
        assert!(is_held(&notebook, "a").unwrap());
        assert!(!is_held(&notebook, "b").unwrap());
        assert!(take(&notebook, "a").unwrap().is_none());
        drop(lock);
        assert!(!is_held(&notebook, "a").unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_file_left_by_the_dead_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let notebook = folder.path().join("n.db");
        File::create(lock_path(&notebook, "a")).unwrap();
        assert!(!is_held(&notebook, "a").unwrap());
        assert!(take(&notebook, "a").unwrap().is_some());
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let error = take(Path::new("/nowhere/n.db"), "a").unwrap_err().to_string();
        assert!(error.contains("/nowhere/n.db.a.running") && error.contains("--store"), "{error}");
    }
}

//! Telling a live run from a dead one: a lock file for each run under way, beside the notebook.
//!
//! The kernel drops a `flock` when its process dies, however it dies, which no written process number does.
//! The file is removed by the process that holds its lock. A process that was waiting on the removed file finds that it
//! has no name any more and begins again. The kernel keeps a killed process, and its locks, while a call of its storage
//! does not return; a process that knows that from `/proc` tells it here ([`ask_of_the_killed`]).

use std::{
    ffi::{OsStr, OsString},
    fs::{DirEntry, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::OnceLock,
    thread,
    time::Duration,
};

use crate::{StoreError, platform};

/// True if all that lock a file have been killed.
pub type LockedByTheKilled = fn(&File) -> bool;

static KILLED: OnceLock<LockedByTheKilled> = OnceLock::new();

/// From now on a lock whose holders have all been killed is none.
pub fn ask_of_the_killed(killed: LockedByTheKilled) {
    // The first one stays.
    let _ = KILLED.set(killed);
}

fn locked_by_the_killed(file: &File) -> bool {
    KILLED.get().is_some_and(|killed| killed(file))
}

/// Lock of a run that is in progress. Dropping it, or the end of the process, releases it.
#[derive(Debug)]
pub struct RunLock {
    /// File whose descriptor holds the lock.
    file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Before the descriptor closes, so that nobody can lock the old file and see it removed afterwards
        // unnoticed. A file that stays is empty, and the next run of that id takes it over. One that was removed and
        // made again is another process's.
        let same = |found| platform::identity_of(&self.file).is_ok_and(|own| own == found);
        if platform::identity(&self.path, false).is_ok_and(same) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// 20 times 5 ms: a reader holds a lock for microseconds.
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
        if let Some(lock) = try_take(&path).map_err(fail)? {
            return Ok(Some(lock));
        }
    }
    Ok(None)
}

/// Options that open a file and never what a link of its name leads to: the notebook may lie where others write, too.
fn open_itself() -> OpenOptions {
    let mut options = OpenOptions::new();
    platform::never_through_links(options.read(true));
    options
}

/// Tries once to take the lock; `None` where it is held, or the file was removed meanwhile.
fn try_take(path: &Path) -> io::Result<Option<RunLock>> {
    let file = open_itself().create(true).truncate(false).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) if platform::links_of(&file)? == 0 => Ok(None),
        Ok(()) => Ok(Some(RunLock { file, path: path.to_owned() })),
        Err(TryLockError::WouldBlock) => {
            if locked_by_the_killed(&file) {
                take_name_away(path, &file)?;
            }
            Ok(None)
        }
        Err(TryLockError::Error(source)) => Err(source),
    }
}

/// A lock that nobody can take any more loses its name, so that there can be another one. Under the folder's lock:
/// between the look and the removal nobody else puts a new one there.
fn take_name_away(path: &Path, file: &File) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = File::open(folder)?;
    if folder.try_lock().is_ok() && platform::identity_of(file)? == platform::identity(path, false)? {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Returns true if a process holds the lock of a run.
pub(crate) fn is_held(notebook: &Path, id: &str) -> Result<bool, StoreError> {
    let path = lock_path(notebook, id);
    let fail = |source: io::Error| StoreError::Lock { path: path.clone(), source };
    let file = match open_itself().open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(fail(error)),
    };
    // Shared, so that two readers never take each other for a run. Twice, since a process that clears away holds
    // it alone for microseconds.
    for last in [false, true] {
        match file.try_lock_shared() {
            Ok(()) => return Ok(false),
            Err(TryLockError::WouldBlock) if locked_by_the_killed(&file) => return Ok(false),
            Err(TryLockError::WouldBlock) if last => return Ok(true),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(source)) => return Err(fail(source)),
        }
    }
    Ok(true)
}

/// Removes the lock files of runs that no process holds. A kill leaves one: the lock goes with its process, the
/// name does not.
pub(crate) fn clear_stale(notebook: &Path) {
    let (Some(folder), Some(name)) = (notebook.parent(), notebook.file_name()) else { return };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if let Some(id) = id_of(name, &entry.file_name()).filter(|_| is_empty_file(&entry)) {
            // Taken for a moment: dropping it removes the file. A run that begins meanwhile waits for that.
            drop(try_take(&lock_path(notebook, &id)));
        }
    }
}

/// The run's id in the name of a lock file of this notebook.
fn id_of(notebook: &OsStr, name: &OsStr) -> Option<String> {
    let rest = name.to_str()?.strip_prefix(notebook.to_str()?)?;
    let id = rest.strip_prefix('.')?.strip_suffix(".running")?;
    check_id(id).ok()?;
    Some(id.to_owned())
}

/// Lock files are empty; a file with contents, or a link, belongs to another program.
fn is_empty_file(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// An id becomes part of a file's name (the lock's), so a path must not fit into it.
pub(crate) fn check_id(id: &str) -> Result<(), StoreError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if (1..=64).contains(&id.len()) && id.chars().all(fits) {
        Ok(())
    } else {
        Err(StoreError::BadId { id: id.to_owned() })
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
    fn only_what_a_kill_left_of_this_notebook_is_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let notebook = folder.path().join("n.db");
        let alive = take(&notebook, "alive").unwrap();
        let names =
            ["n.db", "n.db.dead.running", "n.db.a.b.running", "other.db.dead.running", "n.db.running"];
        for name in names {
            File::create(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("n.db.full.running"), "text").unwrap();
        clear_stale(&notebook);
        let mut left: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let others = ["n.db.a.b.running", "n.db.alive.running", "n.db.full.running"];
        assert_eq!(left[0], "n.db");
        assert_eq!(left[1..4], others);
        assert_eq!(left[4..], ["n.db.running", "other.db.dead.running"]);
        assert!(is_held(&notebook, "alive").unwrap());
        drop(alive);
    }

    #[test]
    fn the_killed_hold_a_run_no_longer() {
        // The killed are those whose lock file has a second name here.
        ask_of_the_killed(|file| platform::links_of(file).is_ok_and(|names| names == 2));
        let folder = tempfile::tempdir().unwrap();
        if File::open(folder.path()).is_err() {
            // Windows: a folder is no file there, and a killed process keeps no lock that anybody could ask for.
            return;
        }
        let notebook = folder.path().join("n.db");
        let lock = take(&notebook, "a").unwrap().unwrap();
        assert!(is_held(&notebook, "a").unwrap() && take(&notebook, "a").unwrap().is_none());
        std::fs::hard_link(lock_path(&notebook, "a"), folder.path().join("second")).unwrap();
        assert!(!is_held(&notebook, "a").unwrap());
        let next = take(&notebook, "a").unwrap().expect("its holder has been killed");
        assert!(is_held(&notebook, "a").unwrap() && take(&notebook, "a").unwrap().is_none());
        // What ends later takes nothing away from the one that has it now.
        drop(lock);
        assert!(is_held(&notebook, "a").unwrap());
        drop(next);
        assert!(!lock_path(&notebook, "a").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_said() {
        let error = take(Path::new("/nowhere/n.db"), "a").unwrap_err().to_string();
        assert!(error.contains("/nowhere/n.db.a.running") && error.contains("--store"), "{error}");
    }
}

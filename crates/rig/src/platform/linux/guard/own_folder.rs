//! iosonde's own folder in a directory, for measurements that make many files.
//!
//! A folder has a name wherever it lies. It gets a random one, written down before it is made, and a locked file in it
//! says that its process lives. What is removed from it has the shape of what iosonde makes there: folders of files,
//! without links and without another file system.

use std::{
    fs::File,
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, flock, fstat, mkdirat, openat, statat, unlinkat,
    },
    io::Errno,
};

use super::own::{is_at, named};
use crate::{
    guard::{StrayRecorder, random_name},
    platform::linux::{locked_by_the_killed, remains},
};

/// Name of the locked file.
const LOCK: &str = "lock";
/// Opens a directory, and nothing else.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A folder of our own; nothing remains of it when this is dropped.
#[derive(Debug)]
pub struct OwnFolder {
    parent: File,
    name: String,
    path: PathBuf,
    handle: File,
    lock: Option<File>,
}

impl OwnFolder {
    /// Makes one in a directory that was opened (O_PATH suffices); `path` is the directory's, for the record.
    pub(super) fn make(directory: &File, path: &Path, recorder: &mut dyn StrayRecorder) -> io::Result<Self> {
        // A relative path would mean another place to the process that clears away.
        let absolute = std::path::absolute(path)?;
        // As for an own file: a name that exists, or a clearing process between making and locking.
        for _ in 0..8 {
            let name = random_name();
            let path = absolute.join(&name);
            recorder.record(&path)?;
            remains::will_remove(&path);
            match made(directory, &name) {
                Ok(Some((handle, lock))) => {
                    let parent = directory.try_clone()?;
                    return Ok(Self { parent, name, path, handle, lock: Some(lock) });
                }
                Ok(None) | Err(Errno::EXIST) => recorder.forget(&path)?,
                Err(error) => {
                    recorder.forget(&path)?;
                    return Err(error.into());
                }
            }
        }
        Err(io::Error::other("no free name for an own folder was found"))
    }

    /// The folder, open.
    pub fn handle(&self) -> &File {
        &self.handle
    }

    /// Its path, under which it is on the record of strays.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it with everything in it, and strikes it off the record. Returns false, and leaves it on the record, if
    /// something in it is not ours or cannot be removed.
    pub fn remove(mut self, recorder: &mut dyn StrayRecorder) -> io::Result<bool> {
        let gone = self.clear().unwrap_or(false);
        if gone {
            recorder.forget(&self.path)?;
        }
        Ok(gone)
    }

    fn clear(&mut self) -> Result<bool, Errno> {
        let same = fstat(&self.handle).is_ok_and(|own| is_at(&self.parent, &self.name, &own));
        match self.lock.take() {
            Some(lock) if same => take_away(&self.parent, &self.name, &self.handle, lock),
            _ => Ok(false),
        }
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        // A failure leaves it on the record.
        let _ = self.clear();
    }
}

/// Makes the folder and its lock. `None` when a process that clears away took it in between.
fn made(directory: &File, name: &str) -> Result<Option<(File, File)>, Errno> {
    mkdirat(directory, name, Mode::RWXU)?;
    let locked = openat(directory, name, DIRECTORY, Mode::empty()).map(File::from).and_then(|handle| {
        let lock = named(&handle, LOCK)?;
        Ok(lock.map(|lock| (handle, lock)))
    });
    match locked {
        Err(Errno::NOENT | Errno::EXIST) => Ok(None),
        Err(error) => {
            let _ = unlinkat(directory, name, AtFlags::REMOVEDIR);
            Err(error)
        }
        Ok(locked) => Ok(locked),
    }
}

/// Removes a folder that a killed run left; returns true if it is gone.
pub(super) fn remove_stray(parent: &File, name: &str) -> Result<bool, Errno> {
    let handle = File::from(openat(parent, name, DIRECTORY, Mode::empty())?);
    let stat = fstat(&handle)?;
    if stat.st_uid != rustix::process::geteuid().as_raw() || !is_at(parent, name, &stat) {
        return Ok(false);
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let lock = match openat(&handle, LOCK, flags, Mode::empty()) {
        Ok(lock) => File::from(lock),
        // Killed between the folder and its lock.
        Err(Errno::NOENT) => match named(&handle, LOCK)? {
            Some(lock) => return take_away(parent, name, &handle, lock),
            None => return Ok(false),
        },
        Err(error) => return Err(error),
    };
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) if locked_by_the_killed(&lock) => {}
        taken => taken?,
    }
    take_away(parent, name, &handle, lock)
}

/// Removes what is in a folder, its lock last, and the folder; returns true if it is gone.
fn take_away(parent: &File, name: &str, handle: &File, lock: File) -> Result<bool, Errno> {
    let device = fstat(handle)?.st_dev;
    for entry in entries(handle)? {
        let at = entry.as_c_str();
        if entry.to_bytes() == LOCK.as_bytes() {
            continue;
        }
        if !is_shaped(entry.to_bytes(), b'd') {
            return Ok(false);
        }
        let inner = File::from(openat(handle, at, DIRECTORY, Mode::empty())?);
        if inner.metadata().map_err(|_| Errno::IO)?.dev() != device {
            return Ok(false);
        }
        if !empty(&inner)? {
            return Ok(false);
        }
        unlinkat(handle, at, AtFlags::REMOVEDIR)?;
    }
    // Closed before it is removed: a network file system keeps an open file under another name in the folder.
    drop(lock);
    unlinkat(handle, LOCK, AtFlags::empty())?;
    unlinkat(parent, name, AtFlags::REMOVEDIR)?;
    Ok(true)
}

/// Removes the files of a folder; returns false if something else is in it.
fn empty(folder: &File) -> Result<bool, Errno> {
    for entry in entries(folder)? {
        let shaped = [b'f', b'r', b's'].into_iter().any(|first| is_shaped(entry.to_bytes(), first));
        let is_file = || {
            let stat = statat(folder, entry.as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?;
            Ok::<_, Errno>(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
        };
        if !shaped || !is_file()? {
            return Ok(false);
        }
        unlinkat(folder, entry.as_c_str(), AtFlags::empty())?;
    }
    Ok(true)
}

fn entries(folder: &File) -> Result<Vec<std::ffi::CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// True for a letter and digits, as iosonde names what it makes in its folder.
fn is_shaped(name: &[u8], first: u8) -> bool {
    matches!(name, [letter, rest @ ..] if *letter == first && !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, fs, rc::Rc};

    #[derive(Default, Clone)]
    struct Record(Rc<RefCell<Vec<(PathBuf, bool)>>>);

    impl StrayRecorder for Record {
        fn record(&mut self, path: &Path) -> io::Result<()> {
            assert!(!path.exists(), "recorded after it was made");
            self.0.borrow_mut().push((path.to_owned(), true));
            Ok(())
        }

        fn forget(&mut self, path: &Path) -> io::Result<()> {
            self.0.borrow_mut().push((path.to_owned(), false));
            Ok(())
        }
    }

    fn in_folder() -> (tempfile::TempDir, File) {
        let folder = tempfile::tempdir().unwrap();
        let handle = File::open(folder.path()).unwrap();
        (folder, handle)
    }

    fn filled(own: &OwnFolder) {
        for folder in ["d0", "d1"] {
            fs::create_dir(own.path().join(folder)).unwrap();
            for file in ["f0", "r12", "s7"] {
                fs::write(own.path().join(folder).join(file), "x").unwrap();
            }
        }
    }

    #[test]
    fn it_is_recorded_before_it_exists_locked_while_it_lives_and_gone_afterwards() {
        let (folder, handle) = in_folder();
        let mut record = Record::default();
        let own = OwnFolder::make(&handle, folder.path(), &mut record).unwrap();
        filled(&own);
        let (path, name) = (own.path().to_owned(), own.name.clone());
        assert!(path.is_absolute());
        // A process that clears away leaves it alone.
        assert!(!remove_stray(&handle, &name).is_ok_and(|gone| gone) && path.join("d1/s7").exists());
        assert!(own.remove(&mut record).unwrap());
        assert_eq!(*record.0.borrow(), [(path, true), (folder.path().join(name), false)]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_with_and_without_its_lock() {
        let (folder, handle) = in_folder();
        for with_lock in [true, false] {
            let own = OwnFolder::make(&handle, folder.path(), &mut Record::default()).unwrap();
            filled(&own);
            let name = own.name.clone();
            // As a kill leaves it: nothing is dropped but the descriptors.
            if !with_lock {
                fs::remove_file(own.path().join(LOCK)).unwrap();
            }
            let mut own = std::mem::ManuallyDrop::new(own);
            drop(own.lock.take());
            assert!(remove_stray(&handle, &name).unwrap());
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn what_is_not_ours_stays_and_links_are_not_followed() {
        let (folder, handle) = in_folder();
        fs::write(folder.path().join("thesis.tex"), "x").unwrap();
        fs::create_dir(folder.path().join("precious")).unwrap();
        fs::write(folder.path().join("precious/f1"), "x").unwrap();
        let strangers: [fn(&Path); 4] = [
            |own| fs::write(own.join("letter"), "x").unwrap(),
            |own| fs::write(own.join("d0/thesis.tex"), "x").unwrap(),
            |own| std::os::unix::fs::symlink(own.join("../precious"), own.join("d7")).unwrap(),
            |own| std::os::unix::fs::symlink(own.join("../thesis.tex"), own.join("d0/f77")).unwrap(),
        ];
        for stranger in strangers {
            let mut record = Record::default();
            let own = OwnFolder::make(&handle, folder.path(), &mut record).unwrap();
            filled(&own);
            stranger(own.path());
            let path = own.path().to_owned();
            assert!(!own.remove(&mut record).unwrap() && path.exists());
            assert!(folder.path().join("thesis.tex").exists() && folder.path().join("precious/f1").exists());
            assert!(record.0.borrow().iter().all(|(_, recorded)| *recorded), "still on the record");
            fs::remove_dir_all(path).unwrap();
        }
    }
}

//! iosonde's own file in a directory.
//!
//! With O_TMPFILE it has no name: the kernel frees it when the process ends, however it ends. Where a file
//! system has no such thing (most network and user-space ones), it gets a random name, under a lock, which
//! is written down before the file is made; `strays` clears away what a killed process left.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{
        AtFlags, FlockOperation, Mode, OFlags, Stat, fcntl_getfl, fcntl_setfl, flock, fstat, open, openat,
        statat, unlinkat,
    },
    io::Errno,
};

use crate::{
    guard::{StrayRecorder, is_our_name, random_name},
    platform::linux::remains,
};

/// A file of our own; nothing remains of it when this is dropped.
#[derive(Debug)]
pub struct OwnFile {
    file: Arc<File>,
    named: Option<Named>,
    folder: Option<File>,
}

#[derive(Debug)]
struct Named {
    folder: File,
    name: String,
    path: PathBuf,
}

impl OwnFile {
    /// Makes one in a folder that was opened (O_PATH suffices); `path` is the folder's, for the record.
    pub(super) fn make(folder: &File, path: &Path, recorder: &mut dyn StrayRecorder) -> io::Result<Self> {
        match unnamed(folder) {
            Ok(file) => Ok(Self { file: Arc::new(file), named: None, folder: Some(folder.try_clone()?) }),
            // Errors of kernels without O_TMPFILE: EOPNOTSUPP from the file system; EISDIR and
            // ENOENT from code that knows only the directory bit in it; EINVAL from some user-space file
            // systems.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {
                Self::make_named(folder, path, recorder)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Makes one with a name that other hosts know.
    pub(super) fn make_as(
        folder: &File,
        path: &Path,
        name: &str,
        recorder: &mut dyn StrayRecorder,
    ) -> io::Result<Self> {
        Self::make_one_of(folder, path, std::iter::once(name.to_owned()), recorder)
    }

    /// One that another host made and will remove.
    pub(super) fn of_another(file: File) -> Self {
        Self { file: Arc::new(file), named: None, folder: None }
    }

    fn make_named(folder: &File, path: &Path, recorder: &mut dyn StrayRecorder) -> io::Result<Self> {
        // Two tries may meet a name that exists, or a clearing process between making and locking; more
        // mean that something else is wrong.
        Self::make_one_of(folder, path, std::iter::repeat_with(random_name).take(8), recorder)
    }

    fn make_one_of(
        folder: &File,
        path: &Path,
        names: impl Iterator<Item = String>,
        recorder: &mut dyn StrayRecorder,
    ) -> io::Result<Self> {
        // A relative path would mean another place to the process that clears away.
        let absolute = std::path::absolute(path)?;
        for name in names {
            let stray = absolute.join(&name);
            recorder.record(&stray)?;
            remains::will_remove(&stray);
            match named(folder, &name) {
                Ok(Some(file)) => {
                    let named = Named { folder: folder.try_clone()?, name, path: stray };
                    return Ok(Self { file: Arc::new(file), named: Some(named), folder: None });
                }
                Ok(None) | Err(Errno::EXIST) => recorder.forget(&stray)?,
                Err(error) => {
                    recorder.forget(&stray)?;
                    return Err(error.into());
                }
            }
        }
        Err(io::Error::other("no free name for an own file was found"))
    }

    /// The open file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Returns the folder, if further files can be made there without a name.
    pub fn folder(&self) -> Option<&File> {
        self.folder.as_ref()
    }

    /// Returns the path of a file that needed a name; `None` for a file without one. Delete it from the record when
    /// this has been dropped.
    pub fn stray_path(&self) -> Option<&Path> {
        self.named.as_ref().map(|named| named.path.as_path())
    }
}

impl Drop for OwnFile {
    fn drop(&mut self) {
        if let Some(Named { folder, name, .. }) = &self.named {
            // Still locked by us, so nobody else took it for a stray. A failure leaves it on the record.
            let same = fstat(&*self.file).is_ok_and(|own| is_at(folder, name, &own));
            if same {
                let _ = unlinkat(folder, name.as_str(), AtFlags::empty());
            }
        }
    }
}

/// Opens a file of this name that another host made in a folder; for reading, or for writing as well.
pub(crate) fn open_of_another(folder: &Path, name: &str, writes: bool) -> io::Result<File> {
    if !is_our_name(Path::new(name)) {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(folder.join(name), flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    }
    // For io_uring the flag means "never wait".
    fcntl_setfl(&file, fcntl_getfl(&file)? & !OFlags::NONBLOCK)?;
    Ok(file)
}

/// Makes a file without a name, which is gone when it is closed.
pub(crate) fn unnamed(folder: &File) -> Result<File, Errno> {
    // O_EXCL beside O_TMPFILE: nobody can give it a name later.
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    openat(folder, ".", flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Makes a file and locks it. `None` when a process that clears away took it before it was locked.
pub(super) fn named(folder: &File, name: &str) -> Result<Option<File>, Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?);
    let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
    let linked = fstat(&file).is_ok_and(|stat| stat.st_nlink > 0);
    match locked {
        Ok(()) if linked => Ok(Some(file)),
        Ok(()) | Err(Errno::WOULDBLOCK) => Ok(None),
        // Without locks (some network mounts) a file in use looks like a stray.
        Err(error) => {
            let _ = unlinkat(folder, name, AtFlags::empty());
            Err(error)
        }
    }
}

/// True if a name in a folder still leads to this file.
pub(super) fn is_at(folder: &File, name: &str, own: &Stat) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|there| (there.st_dev, there.st_ino) == (own.st_dev, own.st_ino))
}

#[cfg(test)]
mod tests {
    use super::{super::strays::remove_strays, *};
    use std::fs;

    #[derive(Default)]
    struct Record {
        recorded: Vec<PathBuf>,
        /// For each record, true if the file existed then.
        existed: Vec<bool>,
        forgotten: Vec<PathBuf>,
    }

    impl StrayRecorder for Record {
        fn record(&mut self, path: &Path) -> io::Result<()> {
            self.recorded.push(path.to_owned());
            self.existed.push(path.exists());
            Ok(())
        }

        fn forget(&mut self, path: &Path) -> io::Result<()> {
            self.forgotten.push(path.to_owned());
            Ok(())
        }
    }

    #[test]
    fn a_named_file_is_recorded_before_it_exists_and_gone_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let handle = File::open(folder.path()).unwrap();
        let mut record = Record::default();
        let own = OwnFile::make_named(&handle, folder.path(), &mut record).unwrap();
        let path = own.stray_path().unwrap().to_owned();
        assert_eq!((record.recorded, record.existed), (vec![path.clone()], vec![false]));
        assert!(path.is_absolute() && is_our_name(&path) && path.exists());
        // Locked: a process that clears away leaves it alone.
        assert_eq!(remove_strays(std::slice::from_ref(&path)), Vec::<PathBuf>::new());
        assert!(path.exists());
        drop(own);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_without_a_name_leaves_an_empty_folder() {
        let folder = tempfile::tempdir().unwrap();
        let handle = File::open(folder.path()).unwrap();
        let mut record = Record::default();
        let own = OwnFile::make(&handle, folder.path(), &mut record).unwrap();
        if own.stray_path().is_none() {
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
            assert!(record.recorded.is_empty());
        }
    }
}

//! iosonde's own file in a directory. It loses its name as soon as it is made, so that the kernel frees it when the
//! process ends, however it ends.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::{FlockOperation, flock};

use crate::guard::{StrayRecorder, is_our_name, random_name};

/// A file of our own; nothing remains of it when this is dropped.
#[derive(Debug)]
pub struct OwnFile {
    file: Arc<File>,
}

impl OwnFile {
    /// Makes one in a folder. Its name is recorded for the moment that it has one.
    pub(super) fn make(folder: &Path, recorder: &mut dyn StrayRecorder) -> io::Result<Self> {
        let path = std::path::absolute(folder)?.join(random_name());
        recorder.record(&path)?;
        let made = make(&path);
        recorder.forget(&path)?;
        Ok(Self { file: Arc::new(made?) })
    }

    /// The open file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// `None`: a stream of new files is not made on macOS.
    pub fn folder(&self) -> Option<&File> {
        None
    }

    /// `None`: it has no name any more.
    pub fn stray_path(&self) -> Option<&Path> {
        None
    }
}

/// Makes a file without a name, which is gone when it is closed.
pub(crate) fn unnamed(folder: &Path) -> io::Result<File> {
    make(&folder.join(random_name()))
}

fn make(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Removes recorded files of our kind of name that no living process has locked. Returns the ones that are gone.
pub fn remove_strays(recorded: &[PathBuf]) -> Vec<PathBuf> {
    let is_gone = |path: &&PathBuf| {
        is_our_name(path)
            && path.parent().is_some_and(Path::is_dir)
            && match fs::symlink_metadata(path) {
                Ok(found) if found.is_file() => File::open(path).is_ok_and(|file| {
                    flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
                        && fs::remove_file(path).is_ok()
                }),
                Ok(_) => false,
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            }
    };
    recorded.iter().filter(is_gone).cloned().collect()
}

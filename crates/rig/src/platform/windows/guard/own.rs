//! iosonde's own file in a directory. The system removes it when its last handle is closed, however the process ends.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use windows_sys::Win32::{Foundation::GENERIC_READ, Storage::FileSystem::DELETE};

use crate::{
    guard::is_our_name,
    platform::windows::{files::temporary, handle::open},
};

/// A file of our own; nothing remains of it when this and all that measure it are dropped.
#[derive(Debug)]
pub struct OwnFile {
    file: Arc<File>,
}

impl OwnFile {
    /// Makes one in a folder.
    pub(super) fn make(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: Arc::new(temporary(folder)?) })
    }

    /// The open file.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// `None`: a stream of new files is not made on Windows.
    pub fn folder(&self) -> Option<&File> {
        None
    }

    /// `None`: what the system removes by itself needs no record.
    pub fn stray_path(&self) -> Option<&Path> {
        None
    }
}

/// Removes recorded files of our kind of name that nobody has open. Returns the ones that are gone.
pub fn remove_strays(recorded: &[PathBuf]) -> Vec<PathBuf> {
    let is_gone = |path: &&PathBuf| {
        let alone = || open(path, GENERIC_READ | DELETE, 0, 0).map(drop);
        is_our_name(path)
            && path.parent().is_some_and(Path::is_dir)
            && match alone() {
                Ok(()) => std::fs::remove_file(path).is_ok(),
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            }
    };
    recorded.iter().filter(is_gone).cloned().collect()
}

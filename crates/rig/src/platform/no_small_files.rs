//! Systems on which small files are not measured yet.

use std::{convert::Infallible, io, marker::PhantomData, path::Path, sync::atomic::AtomicBool};

use iosonde_model::{FileStep, FileStepTimes, FilesLayout};

use crate::{
    files::{FilesError, FilesPlace},
    guard::{FolderNeed, Refusal, StrayRecorder},
};

/// A folder of our own: none can be made.
#[derive(Debug)]
pub struct OwnFolder(Infallible);

impl OwnFolder {
    /// Its path.
    pub fn path(&self) -> &Path {
        match self.0 {}
    }

    /// Removes it.
    ///
    /// # Errors
    /// None.
    pub fn remove(self, _recorder: &mut dyn StrayRecorder) -> io::Result<bool> {
        match self.0 {}
    }
}

/// Refuses to make one.
pub(crate) fn admit_folder(
    _path: &Path,
    _need: FolderNeed,
    _recorder: &mut dyn StrayRecorder,
) -> Result<OwnFolder, Refusal> {
    Err(Refusal::new("small files are measured on Linux only.".to_owned()))
}

/// A switch that drops what is cached: there is none.
#[derive(Debug)]
pub struct DropCaches(Infallible);

impl DropCaches {
    /// Opens it.
    ///
    /// # Errors
    /// Always.
    pub fn open() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Files in a folder of our own, which cannot be made.
pub struct RealFiles<'a>(Infallible, PhantomData<&'a OwnFolder>);

impl<'a> RealFiles<'a> {
    /// Workers for a folder.
    pub fn new(
        folder: &'a OwnFolder,
        _layout: FilesLayout,
        _uncached: Option<Option<DropCaches>>,
        _seed: u64,
        _stop: &'a AtomicBool,
    ) -> Self {
        match folder.0 {}
    }
}

impl FilesPlace for RealFiles<'_> {
    fn begin(&mut self) -> Result<(), FilesError> {
        match self.0 {}
    }

    fn step(&mut self, _step: FileStep, _most_ns: u64) -> Result<FileStepTimes, FilesError> {
        match self.0 {}
    }

    fn sync(&mut self) -> Result<u64, FilesError> {
        match self.0 {}
    }

    fn end(&mut self) -> Result<(), FilesError> {
        match self.0 {}
    }

    fn now_ns(&self) -> u64 {
        match self.0 {}
    }
}

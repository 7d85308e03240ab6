//! What a caller wants of a target, and what the user allows.

use std::path::{Path, PathBuf};

/// The user's word that what is there may be overwritten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destroy {
    /// `--destroy`: enough for a file, and for a device that holds nothing.
    Plain,
    /// `--destroy=IDENTITY`: names the device.
    Identity(String),
}

/// Whether an existing target is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Nothing writes to it.
    None,
    /// A study writes to it, and leaves its writing points out with `--read-only`.
    Optional,
    /// The workload itself writes: with `--read-only` the command is refused.
    Needed,
    /// The same, and it writes wherever it can: a directory's own file takes all of the room.
    Everywhere,
}

/// Intended use of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// `--read-only`: nothing may be written, whatever else is given.
    pub read_only: bool,
    /// `--destroy`.
    pub destroy: Option<Destroy>,
    /// Writes to an existing target. A directory's own file is filled in any case.
    pub writes: Writes,
    /// What is never written to, whatever is given.
    pub protected: Vec<Protected>,
    /// Files that are made in a directory.
    pub own: OwnFiles,
    /// Host 0 of this run has the same file or device: its lock and the descriptors of this program are no hindrance.
    pub beside_host0: bool,
}

/// Files of iosonde's own in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnFiles {
    /// So many that only this process opens: without a name, where the file system allows that.
    Private(u32),
    /// Files of these names, which other hosts open.
    Named(Vec<String>),
    /// The file of this name, which host 0 made: nothing is made here.
    OfHost0(String),
}

impl OwnFiles {
    /// One file for one process.
    pub const ONE: Self = Self::Private(1);
}

/// A file that the measurement itself needs: the notebook, the report, the study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protected {
    /// Any path to it; it is recognised by device and inode. Nothing need be there.
    pub path: PathBuf,
    /// What it is, as in "n.db is the notebook of this run".
    pub what: &'static str,
}

impl Intent {
    /// One host that writes so much, to one file of its own in a directory, without the word to overwrite.
    pub const fn of(writes: Writes) -> Self {
        Self {
            read_only: false,
            destroy: None,
            writes,
            protected: Vec::new(),
            own: OwnFiles::ONE,
            beside_host0: false,
        }
    }

    /// True if the target itself is written to.
    pub(crate) fn will_write(&self) -> bool {
        self.writes != Writes::None && !self.read_only
    }

    /// What a file is that is never written to; `None` for others. `is_it` tells whether a path leads to the file.
    pub(crate) fn protects(&self, is_it: impl Fn(&Path) -> bool) -> Option<&'static str> {
        self.protected.iter().find(|one| is_it(&one.path)).map(|one| one.what)
    }
}

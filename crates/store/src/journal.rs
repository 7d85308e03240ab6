//! Which of SQLite's journals suits the file system under a notebook.
//!
//! A write-ahead log needs memory shared between all processes that open the file. Two machines share none, so
//! on network file systems a log can be torn by the second machine; there a rollback journal is used. It makes
//! the same promise (a committed trial survives a power cut) and only keeps readers out during a commit.

use std::{io, path::Path};

use crate::platform;

/// Journal mode of SQLite, which makes commits atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// A write-ahead log (WAL): readers never wait for a commit.
    WriteAhead,
    /// A rollback journal (DELETE): safe where processes of several machines may open the file.
    Rollback,
}

impl Journal {
    /// The word that SQLite's `journal_mode` takes and gives.
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Self::WriteAhead => "wal",
            Self::Rollback => "delete",
        }
    }
}

/// Returns the journal mode for the file system of `path` (an existing file or folder), and the file system's name if
/// that is the reason for the mode.
///
/// # Errors
/// The file system cannot be asked.
pub fn journal_kind(path: &Path) -> io::Result<(Journal, Option<&'static str>)> {
    Ok(match platform::shared_file_system(path)? {
        Some(name) => (Journal::Rollback, Some(name)),
        None => (Journal::WriteAhead, None),
    })
}

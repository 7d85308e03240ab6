//! Systems on which hosts do not open each other's files.

use std::{fs::File, io, path::Path};

use crate::guard::{OwnFiles, Refusal};

/// Fails: a file of another host is opened on Linux alone.
///
/// # Errors
/// Always.
pub(crate) fn open_of_another(_folder: &Path, _name: &str, _writes: bool) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Number of files to make in a directory; refuses those that other hosts open.
pub(crate) fn private_files(wanted: &OwnFiles) -> Result<u32, Refusal> {
    match wanted {
        OwnFiles::Private(count) => Ok(*count),
        OwnFiles::Named(_) | OwnFiles::OfHost0(_) => Err(Refusal::new("Hosts share files on Linux only.")
            .hint("Use --layout file-per-host without --rotate.")),
    }
}

//! Places in job files and command lines.

use std::{fmt, sync::Arc};

/// Where a word was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Line and column of a file, both from 1.
    File {
        /// Path as it was given.
        path: Arc<str>,
        /// Line.
        line: usize,
        /// Column, in characters.
        column: usize,
    },
    /// Word of a command line, as typed.
    Word(Arc<str>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Self::Word(word) => f.write_str(word),
        }
    }
}

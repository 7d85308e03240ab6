//! How a command ends when it does not end well: a sentence for people and an exit code for programs.

use std::fmt;

/// Bad usage: nothing was touched.
pub const USAGE: u8 = 2;
/// The run failed.
pub const FAILED: u8 = 1;
/// Done, but a requirement failed, or there is a warning and `--strict` was given.
pub const DOUBT: u8 = 3;
/// Done, and a requirement is neither met nor failed.
pub const INCONCLUSIVE: u8 = 4;
/// Stopped by a signal; what was measured is kept.
pub const INTERRUPTED: u8 = 130;

/// An end with an exit code. An empty text was said already.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// Message: what happened, to what, why, and what to do next.
    pub text: String,
}

impl Failure {
    /// The request is impossible.
    pub fn usage(text: impl fmt::Display) -> Self {
        Self { code: USAGE, text: text.to_string() }
    }

    /// Something went wrong while it was done.
    pub fn failed(text: impl fmt::Display) -> Self {
        Self { code: FAILED, text: text.to_string() }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error)
    }
}

impl From<iosonde_store::StoreError> for Failure {
    fn from(error: iosonde_store::StoreError) -> Self {
        // What another process is doing was refused; nothing failed.
        if matches!(error, iosonde_store::StoreError::UnderWay { .. }) {
            Self::usage(error)
        } else {
            Self::failed(error)
        }
    }
}

/// An error of the system without the number that Rust adds to it: `permission denied`.
pub fn in_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

//! Reader of a device file's sections, which the parts share.

use iosonde_model::{FileError, TomlDocument};
use serde::Deserialize;
use std::fmt::Display;

use crate::start::StartState;

/// Function that returns the text of a device file by its name, for the members of an array, or an error message.
pub type Members<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// How a device is to begin, and how much of it will be written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Start {
    /// State that it begins in; `None`: the file's.
    pub(crate) state: Option<StartState>,
    /// Different bytes that a run will write, where it writes all that it addresses.
    pub(crate) written_bytes: u64,
}

/// A file being read: parts read their sections one after another, several of them the same one.
pub(crate) struct Reader<'a> {
    pub(crate) document: TomlDocument<'a>,
    /// Required keys with their meanings, for the error where one is missing.
    pub(crate) meanings: Vec<(&'static str, &'static str)>,
    /// Size of the device, which parts compare theirs with.
    pub(crate) capacity_bytes: u64,
    /// Requested start, whatever the file says.
    pub(crate) start: Start,
    /// Divisor of the device's size where a part had to simulate it smaller, and what is left of it.
    pub(crate) scaled: Option<(f64, u64)>,
    /// Source of an array's members; `None` in a member's own file.
    pub(crate) members: Option<Members<'a>>,
    /// Name and text of the members, which are read again when the device begins in another state.
    pub(crate) member: Option<(String, String)>,
}

impl Reader<'_> {
    /// A section as a part's struct, if the file has it.
    pub(crate) fn section<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, FileError> {
        self.document.section(name).map_err(|error| error.explained(&self.meanings))
    }

    /// Returns true if the file has a section.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.document.get(name).is_some()
    }

    /// An error: the value at this path (`queue.servers`) breaks a rule.
    pub(crate) fn impossible(&self, path: &str, rule: impl Display) -> FileError {
        self.document.impossible(path, rule)
    }

    /// An error: this key is needed by another one.
    pub(crate) fn missing(&self, path: &str, explain: &str) -> FileError {
        self.document.missing(path, explain)
    }

    /// An error of the file as a whole.
    pub(crate) fn whole(&self, message: impl Display) -> FileError {
        self.document.whole(message)
    }
}

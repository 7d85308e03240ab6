//! Where facts are read from: this machine's `/proc`, `/sys` and `/etc`, or a made-up tree in a test.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A root below which `proc`, `sys` and `etc` lie.
#[derive(Debug, Clone)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// This machine.
    pub fn real() -> Self {
        Self::at("/")
    }

    /// Another tree of the same shape.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the place of an absolute path in this tree.
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.root.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// The trimmed text of a small file; `None` when it cannot be read or holds nothing.
    pub fn text(&self, absolute: impl AsRef<Path>) -> Option<String> {
        text_of(&self.path(absolute))
    }

    /// The names in a folder, sorted; none when it cannot be read.
    pub fn names(&self, absolute: impl AsRef<Path>) -> Vec<String> {
        names_in(&self.path(absolute))
    }
}

/// The trimmed text of a small file; `None` when it cannot be read or holds nothing. Kernel texts may hold a
/// device's own bytes (a serial number), so what is not UTF-8 is replaced.
pub(super) fn text_of(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The names in a folder, sorted; none when it cannot be read.
pub(super) fn names_in(path: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

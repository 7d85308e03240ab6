//! Default path of the notebook: the user's data folder (XDG base directories).

use std::{ffi::OsString, path::PathBuf};

use crate::StoreError;

/// Returns the default path: `$XDG_DATA_HOME/iosonde/notebook.db`, or `~/.local/share/iosonde/notebook.db`.
///
/// # Errors
/// Returns [`StoreError::NoHome`] if neither `XDG_DATA_HOME` nor `HOME` is an absolute path.
pub fn default_path() -> Result<PathBuf, StoreError> {
    place(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME")).ok_or(StoreError::NoHome)
}

fn place(data_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // The XDG specification: a relative path there is invalid and is to be ignored.
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute(data_home).or_else(|| Some(absolute(home)?.join(".local/share")))?;
    Some(data.join("iosonde/notebook.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data_home: Option<&str>, home: Option<&str>) -> Option<PathBuf> {
        place(data_home.map(OsString::from), home.map(OsString::from))
    }

    #[test]
    fn the_data_folder_before_the_home_and_never_a_relative_path() {
        assert_eq!(of(Some("/d"), Some("/h")), Some("/d/iosonde/notebook.db".into()));
        assert_eq!(of(None, Some("/h")), Some("/h/.local/share/iosonde/notebook.db".into()));
        assert_eq!(of(Some("d"), Some("/h")), Some("/h/.local/share/iosonde/notebook.db".into()));
        assert_eq!(of(Some(""), Some("")), None);
        assert_eq!(of(None, None), None);
    }
}

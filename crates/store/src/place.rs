//! Default path of the notebook, in the user's data folder.

use std::path::PathBuf;

use crate::{StoreError, platform};

/// Returns the default path: `iosonde/notebook.db` in `$XDG_DATA_HOME` or `~/.local/share` on Linux, in
/// `~/Library/Application Support` on macOS, in `%LOCALAPPDATA%` on Windows.
///
/// # Errors
/// Returns [`StoreError::NoHome`] if the system names no such folder by an absolute path.
pub fn default_path() -> Result<PathBuf, StoreError> {
    Ok(platform::data_folder().ok_or(StoreError::NoHome)?.join("iosonde").join("notebook.db"))
}

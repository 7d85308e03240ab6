//! Judging targets on macOS: directories and existing files. Disks are refused.

pub(crate) mod block;
mod direct;
pub(crate) mod directory;
pub(crate) mod file;
mod own;

pub(crate) use crate::platform::no_shared_files::open_of_another;
pub use crate::platform::no_small_files::OwnFolder;
pub use direct::{DirectAbility, direct_ability, set_direct};
pub(crate) use own::unnamed;
pub use own::{OwnFile, remove_strays};

use std::path::Path;

use crate::guard::Refusal;

/// Follows links: the folders where all may write are sticky, and their links are not judged yet.
///
/// # Errors
/// None.
pub fn refuse_strangers_link(_path: &Path) -> Result<(), Refusal> {
    Ok(())
}

/// Nothing: disk images that are attached are not looked up.
pub fn user_of(_path: &Path) -> Option<String> {
    None
}

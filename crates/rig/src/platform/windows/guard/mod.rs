//! Judging targets on Windows: directories and existing files. Volumes and drives are refused.

pub(crate) mod block;
mod direct;
pub(crate) mod directory;
pub(crate) mod file;
mod own;

pub(crate) use crate::platform::no_shared_files::open_of_another;
pub use crate::platform::no_small_files::OwnFolder;
pub use direct::{DirectAbility, direct_ability, set_direct};
pub use own::{OwnFile, remove_strays};

use std::path::Path;

use crate::guard::Refusal;

/// Follows every link: to make one, a user of Windows needs a right that guests do not have.
///
/// # Errors
/// None.
pub fn refuse_strangers_link(_path: &Path) -> Result<(), Refusal> {
    Ok(())
}

/// Nothing: who uses a file shows when it is opened for oneself.
pub fn user_of(_path: &Path) -> Option<String> {
    None
}

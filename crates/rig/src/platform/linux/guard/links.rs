//! Links that somebody else can exchange: none is followed, whatever it leads to now.
//!
//! It is the rule of `fs.protected_symlinks`, which not every system has on. Between this look and the opening only
//! that setting helps, and O_EXCL for the files that iosonde makes.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use crate::guard::Refusal;

/// Linux itself follows no more on one way (path_resolution(7)).
const LINKS_MAX: u32 = 40;

/// Refuses a path with a link on its way that lies in a folder where all may write, and was made neither by this user
/// nor by the folder's owner.
///
/// # Errors
/// A [`Refusal`] that names the link.
pub fn refuse_strangers_link(path: &Path) -> Result<(), Refusal> {
    let user = rustix::process::geteuid().as_raw();
    let found = std::path::absolute(path).ok().and_then(|path| strangers_link(&path, user, LINKS_MAX));
    let Some(link) = found else { return Ok(()) };
    Err(Refusal::new(format!(
        "{} is another user's link in a folder where all may write. It was not followed.",
        link.display()
    ))
    .hint("Name the file that you mean, not the link."))
}

fn strangers_link(path: &Path, user: u32, links: u32) -> Option<PathBuf> {
    let steps: Vec<&Path> = path.ancestors().collect();
    steps.into_iter().rev().find_map(|step| {
        let (aim, folder) = (fs::read_link(step).ok()?, step.parent()?);
        if is_strangers(step, folder, user) {
            return Some(step.to_owned());
        }
        strangers_link(&folder.join(aim), user, links.checked_sub(1)?)
    })
}

fn is_strangers(link: &Path, folder: &Path, user: u32) -> bool {
    const ALL_MAY_WRITE: u32 = 0o002;
    let found = fs::symlink_metadata(link).ok().zip(fs::metadata(folder).ok());
    found.is_some_and(|(link, folder)| {
        folder.mode() & ALL_MAY_WRITE != 0 && ![user, folder.uid()].contains(&link.uid())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Another user is only a number here: nobody has to become one.
    #[test]
    fn a_link_is_a_strangers_where_all_may_write_and_neither_user_nor_owner_made_it() {
        let folder = tempfile::tempdir().unwrap();
        let open_to_all = folder.path().join("tmp");
        fs::create_dir(&open_to_all).unwrap();
        fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o1777)).unwrap();
        let (there, link, around) =
            (folder.path().join("there"), open_to_all.join("link"), folder.path().join("around"));
        fs::create_dir(&there).unwrap();
        symlink(&there, &link).unwrap();
        symlink(&link, &around).unwrap();
        let (owner, me) = (fs::metadata(folder.path()).unwrap().uid(), u32::MAX);
        let asked = |path: &Path, user| strangers_link(path, user, LINKS_MAX);
        // Made by the folder's owner.
        assert_eq!(asked(&link, me), None);
        let Ok(()) = std::os::unix::fs::lchown(&link, Some(owner + 1), None) else { return };
        assert_eq!(asked(&link, owner + 1), None);
        for path in [link.clone(), link.join("file"), around.join("file")] {
            assert_eq!(asked(&path, me), Some(link.clone()), "{}", path.display());
        }
        fs::set_permissions(&open_to_all, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(asked(&link, me), None);
        // One that leads to itself.
        symlink(folder.path().join("round"), folder.path().join("round")).unwrap();
        assert_eq!(asked(&folder.path().join("round"), me), None);
    }
}

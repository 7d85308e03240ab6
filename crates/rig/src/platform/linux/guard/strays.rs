//! What killed processes left behind: recorded files and folders of our own, cleared away by the next run.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, unlinkat},
    io::Errno,
};

use super::{own::is_at, own_folder};
use crate::{guard::is_our_name, platform::linux::locked_by_the_killed};

/// Removes recorded files and folders of killed processes: only those that bear our kind of name, belong to this user
/// and are not locked by a living process. Returns the ones that are gone now (or were already), to be struck off.
pub fn remove_strays(recorded: &[PathBuf]) -> Vec<PathBuf> {
    recorded.iter().filter(|path| is_our_name(path) && remove_stray(path).unwrap_or(false)).cloned().collect()
}

/// Removes a file or a folder that a killed run left; returns true if it is gone.
fn remove_stray(path: &Path) -> Result<bool, Errno> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Ok(false);
    };
    // A folder that cannot be reached may be an unmounted stick: the stray comes back with it.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = File::from(rustix::fs::open(parent, flags, Mode::empty())?);
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match openat(&folder, name, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(true),
        Err(Errno::ISDIR) => return own_folder::remove_stray(&folder, name),
        Err(error) => return Err(error),
    };
    let stat = fstat(&file)?;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !regular || stat.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(false);
    }
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) if locked_by_the_killed(&file) => {}
        taken => taken?,
    }
    if !is_at(&folder, name, &stat) {
        return Ok(false);
    }
    unlinkat(&folder, name, AtFlags::empty())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_unlocked_files_of_our_kind_are_strays() {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join(".iosonde-abcdefg7");
        let precious = folder.path().join("thesis.tex");
        let longer = folder.path().join(".iosonde-abcdefg7.tex");
        let missing = folder.path().join(".iosonde-zzzzzzzz");
        for path in [&ours, &precious, &longer] {
            fs::write(path, "x").unwrap();
        }
        let all = [ours.clone(), precious.clone(), longer.clone(), missing.clone()];
        assert_eq!(remove_strays(&all), [ours.clone(), missing]);
        assert!(!ours.exists() && precious.exists() && longer.exists());
    }

    #[test]
    fn a_link_of_our_name_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("thesis.tex");
        let link = folder.path().join(".iosonde-aaaaaaaa");
        fs::write(&precious, "x").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        assert_eq!(remove_strays(std::slice::from_ref(&link)), Vec::<PathBuf>::new());
        assert!(precious.exists());
    }
}

//! A file system of a test's own in memory, gone at its end. It needs root; where that is missing the test says so.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
};

/// A mounted file system.
pub(crate) struct Mounted(PathBuf);

/// Whether this user may mount.
pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| found.uid() == 0)
}

impl Mounted {
    pub(crate) fn tmpfs(at: &Path, size: &str) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        let words = ["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"];
        let output = Command::new("mount").args(words).arg(at).output().ok()?;
        if !output.status.success() {
            eprintln!("skipped: no tmpfs: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Some(Self(at.to_owned()))
    }

    /// One file under a second name.
    pub(crate) fn bound(file: &Path, at: &Path) -> Option<Self> {
        fs::write(at, "").unwrap();
        let done = Command::new("mount").arg("--bind").arg(file).arg(at).output().ok()?;
        done.status.success().then(|| Self(at.to_owned()))
    }

    pub(crate) fn resize(&self, size: &str) {
        self.remount(&format!("remount,size={size}"));
    }

    pub(crate) fn read_only(&self) {
        self.remount("remount,ro");
    }

    fn remount(&self, how: &str) {
        assert!(Command::new("mount").args(["-o", how]).arg(&self.0).status().unwrap().success());
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

//! A loop device of a test's own. It needs root; where that is missing the test says so.

use std::{path::Path, process::Command};

/// A loop device over a file, detached at the end.
pub(crate) struct Loop(pub(crate) String);

impl Loop {
    pub(crate) fn over(file: &Path) -> Option<Self> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output().ok()?;
        if !output.status.success() {
            eprintln!("skipped: no loop device: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Some(Self(String::from_utf8(output.stdout).unwrap().trim().to_owned()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

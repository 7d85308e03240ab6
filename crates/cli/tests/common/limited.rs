//! A limit on a disk as a container has it: a control group's. It needs root and version 1 of the groups; where they
//! are missing the test says so.

use std::{fs, path::PathBuf, process::Command};

use iosonde_report::Document as Run;

use super::Bench;

/// A version-1 blkio group with a limit on a bench's disk, removed at the end.
pub(crate) struct Limited(PathBuf);

impl Limited {
    pub(crate) fn by(bench: &Bench, file: &str, limit: u64) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let path = PathBuf::from(format!("/sys/fs/cgroup/blkio/iosonde-test-{}-{limit}", std::process::id()));
        if let Err(error) = fs::create_dir(&path) {
            eprintln!("skipped: no blkio cgroup (version 1) can be made: {error}");
            return None;
        }
        let limited = Self(path);
        let device = fs::metadata(bench.folder.path()).unwrap().dev();
        let rule = format!("{}:{} {limit}", libc::major(device), libc::minor(device));
        if let Err(error) = fs::write(limited.0.join(file), rule) {
            eprintln!("skipped: {} cannot be limited: {error}", bench.folder.path().display());
            return None;
        }
        Some(limited)
    }

    pub(crate) fn run(&self, bench: &Bench, words: &[&str]) -> Run {
        let inside = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.0.display());
        let inner = bench.command(words);
        let mut command = Command::new("sh");
        command.args(["-c", &inside, "sh"]).arg(inner.get_program()).args(inner.get_args());
        command.args(["--json", "--quiet"]).current_dir(bench.folder.path());
        command.env("IOSONDE_STORE", bench.path("notebook.db"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

//! What the end-to-end tests share: the program, a notebook of its own, and the JSON that it prints.
#![allow(dead_code, unused_imports, missing_docs, clippy::print_stderr)]

// What these need, only Linux has.
#[cfg(target_os = "linux")]
pub(crate) mod limited;
#[cfg(target_os = "linux")]
pub(crate) mod looped;
#[cfg(target_os = "linux")]
pub(crate) mod mounted;
#[cfg(target_os = "linux")]
pub(crate) mod preload;
#[cfg(target_os = "linux")]
pub(crate) mod served;
pub(crate) mod shared;
#[cfg(target_os = "linux")]
pub(crate) mod under_way;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use iosonde_report::Document as Run;

#[cfg(target_os = "linux")]
pub(crate) use under_way::{UnderWay, worker};

/// Two points that need three seconds at most.
pub(crate) const TINY: &str = r#"
name = "tiny"
question = "?"
time = "3s"
[[experiment]]
kind = "queue-depth"
rw = "randread"
block_size = "4k"
depth = [1, 2]
"#;

/// A folder on real storage with a notebook in it.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
}

/// What a command printed and how it ended.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file of random bytes, flushed.
    pub(crate) fn file(&self, name: &str, mib: usize) -> PathBuf {
        use std::io::Write;
        let path = self.path(name);
        let mut file = std::fs::File::create(&path).unwrap();
        let mut block = vec![0u8; 1 << 20];
        let mut state = 1u64;
        for _ in 0..mib {
            for byte in block.chunks_mut(8) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                byte.copy_from_slice(&state.to_le_bytes());
            }
            file.write_all(&block).unwrap();
        }
        file.sync_all().unwrap();
        path
    }

    pub(crate) fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A command with this bench's notebook; its reports land in the bench's folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_iosonde"));
        command.args(words).args(seed_of(words)).current_dir(self.folder.path());
        command.env("IOSONDE_STORE", self.path("notebook.db"));
        command.env("NO_COLOR", "1").env_remove("COLUMNS");
        command
    }

    pub(crate) fn iosonde(&self, words: &[&str]) -> Said {
        Said::of(self.command(words).output().unwrap())
    }

    /// The run that a command with `--json` printed.
    pub(crate) fn run(&self, words: &[&str]) -> Run {
        let words: Vec<&str> = words.iter().copied().chain(["--json", "--quiet"]).collect();
        let said = self.iosonde(&words);
        assert_eq!(said.code, 0, "{words:?}: {}", said.err);
        serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error} in {}", said.out))
    }
}

/// A simulated run whose test names no seed has this one: what passes today passes tomorrow.
fn seed_of(words: &[&str]) -> &'static [&'static str] {
    let has = |starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    let begins = matches!(words.first(), Some(&"run" | &"point"));
    // Those that go on with another run have its seed.
    if begins && has(&["sim:"]) && !has(&["--seed", "--like", "--add"]) { &["--seed", "1"] } else { &[] }
}

impl Said {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Bad usage: exit code 2, nothing on stdout, and every one of these words in the message.
    pub(crate) fn refused(&self, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// A study of four points that needs a few seconds on any storage.
pub(crate) const SMALL_STUDY: &str = r#"
name = "small"
question = "Does the whole path work?"
time = "6s"
precision = "5%"
[[experiment]]
kind = "queue-depth"
rw = "randread"
block_size = "4k"
depth = [1, 4]
[[experiment]]
kind = "random-vs-sequential"
rw = ["read", "randread"]
block_size = "64k"
depth = 4
"#;

/// Whether a folder offers direct I/O; says so where it does not.
pub(crate) fn direct_here(bench: &Bench) -> bool {
    let doctor = bench.iosonde(&["doctor", "."]);
    let direct = doctor.out.lines().any(|line| line.contains("direct I/O") && line.contains("yes"));
    if !direct {
        eprintln!("skipped: no direct I/O in {}", bench.folder.path().display());
    }
    direct
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

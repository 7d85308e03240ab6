//! What a selftest has come to so far, in a file: a line for each run, so that one that was cut off goes on.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    hash::{DefaultHasher, Hash, Hasher},
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use iosonde_store::read_text;
use serde::{Deserialize, Serialize};

use super::{Cell, Score};
use crate::failure::Failure;

/// Which selftest it is: lines of another one would be added up with these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    iosonde: String,
    /// Version of the program: results of another build must not be added to this build's.
    build: u64,
    seed: u64,
    cells: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    family: usize,
    turn: usize,
    scores: Vec<Score>,
}

/// A number of this program's bytes; 0 where it cannot read itself.
fn build() -> u64 {
    let bytes = std::env::current_exe().and_then(fs::read).unwrap_or_default();
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    if bytes.is_empty() { 0 } else { hasher.finish() }
}

/// The file, and what stood in it.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    known: BTreeMap<(usize, usize), Vec<Score>>,
    file: Mutex<File>,
}

/// The largest file of kept runs: a thousand runs of each cell have a tenth of that.
const BYTES_MAX: u64 = 256 << 20;

impl Kept {
    /// Opens the file of a selftest of these cells from this seed on, or begins it.
    pub fn open(path: &Path, cells: &[Cell], seed: u64) -> Result<Self, Failure> {
        let cells =
            cells.iter().map(|cell| format!("{} {} {}", cell.check_name(), cell.name, cell.size())).collect();
        let header = Header { iosonde: env!("CARGO_PKG_VERSION").into(), build: build(), seed, cells };
        let fail =
            |error: std::io::Error| Failure::failed(format!("{} cannot be kept: {error}", path.display()));
        let text = match read_text(path, BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            // What is too large, or no text, is nothing that a selftest wrote.
            Err(error) if matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::InvalidData) => {
                return Err(Failure::usage(format!(
                    "{} holds no selftest ({error}); name another file",
                    path.display()
                )));
            }
            Err(error) => return Err(fail(error)),
        };
        let mut lines = text.lines();
        let begun = lines.next();
        if begun.is_some_and(|line| serde_json::from_str(line).ok() != Some(header.clone())) {
            return Err(Failure::usage(format!(
                "{} holds a selftest of other cells, of another seed or of another iosonde: give the same ones again, \
                 or another file",
                path.display()
            )));
        }
        // The last line may be half of one: that run is made again.
        let whole = |line: &str| serde_json::from_str::<Line>(line).ok();
        let known = lines.filter_map(whole).map(|line| ((line.family, line.turn), line.scores)).collect();
        let mut file = OpenOptions::new().append(true).create(true).open(path).map_err(fail)?;
        let start = match begun {
            None => serde_json::to_string(&header).expect("a header is plain data") + "\n",
            Some(_) if !text.ends_with('\n') => "\n".to_owned(),
            Some(_) => String::new(),
        };
        file.write_all(start.as_bytes()).map_err(fail)?;
        Ok(Self { path: path.to_owned(), known, file: Mutex::new(file) })
    }

    /// How many runs stood in the file.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// What the cells of a family came to at a seed, if that was kept.
    pub(super) fn known(&self, family: usize, turn: usize) -> Option<Vec<Score>> {
        self.known.get(&(family, turn)).cloned()
    }

    /// Keeps what they came to.
    pub(super) fn keep(&self, family: usize, turn: usize, scores: &[Score]) -> Result<(), Failure> {
        let line = Line { family, turn, scores: scores.to_vec() };
        let line = serde_json::to_string(&line).expect("scores are plain data") + "\n";
        // One call, so that lines of two workers do not mix.
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())
            .map_err(|error| Failure::failed(format!("{} cannot be written: {error}", self.path.display())))
    }
}

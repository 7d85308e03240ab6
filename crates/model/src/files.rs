//! Small files: what was done with them, how fast, and what follows.

use serde::{Deserialize, Serialize};

use crate::{circumstances::Circumstances, histogram::Histogram, point::Estimate};

/// What is done with each file, in the order of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileStep {
    /// Makes a file, writes its bytes and closes it.
    Create,
    /// Asks for size, owner and times by name.
    Stat,
    /// Opens a file to read, and closes it.
    Open,
    /// Opens a file, reads all of it and closes it.
    Read,
    /// Lists a directory, the names alone.
    List,
    /// Gives a file another name in its directory.
    Rename,
    /// Removes a file.
    Unlink,
    /// Makes a file, writes its bytes, flushes it with `fsync` and closes it.
    WriteFsync,
}

impl FileStep {
    /// All, in the order of a round.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Stat,
        Self::Open,
        Self::Read,
        Self::List,
        Self::Rename,
        Self::Unlink,
        Self::WriteFsync,
    ];

    /// Whether it only reads, and a cache may answer it.
    pub fn reads(self) -> bool {
        matches!(self, Self::Stat | Self::Open | Self::Read | Self::List)
    }
}

/// Requested number of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesLayout {
    /// Files of a round.
    pub files: u64,
    /// Bytes of each.
    pub file_bytes: u64,
    /// Directories that they lie in.
    pub directories: u64,
    /// Workers at a time.
    pub workers: u32,
}

/// One step of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct FileStepTimes {
    /// What was done.
    pub step: FileStep,
    /// How often: files, of [`FileStep::List`] names.
    pub done: u64,
    /// From the beginning to the end of the last worker, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time of each call or group of calls; of [`FileStep::List`] that of a directory.
    pub latency: Histogram,
    /// Bytes that the kernel fetched from storage for it; `None` where it does not tell.
    pub fetched_bytes: Option<u64>,
}

/// All steps, once.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesRound {
    /// Each step.
    pub steps: Vec<FileStepTimes>,
    /// Time to bring what was created to storage (`syncfs`) after the clock of creation stopped, in nanoseconds.
    pub sync_ns: u64,
}

/// Figures of a step over all rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileStepFigures {
    /// What was done.
    pub step: FileStep,
    /// How often in all.
    pub done: u64,
    /// Times per second, of all workers together.
    pub per_s: Estimate,
    /// The same in each round, in their order.
    pub round_per_s: Vec<f64>,
    /// Mean time of one, in nanoseconds.
    pub latency_ns_mean: Estimate,
    /// Median, in nanoseconds.
    pub latency_ns_p50: Option<Estimate>,
    /// 99th percentile, in nanoseconds.
    pub latency_ns_p99: Option<Estimate>,
    /// Bytes that the kernel fetched from storage for it; `None` where it does not tell.
    pub fetched_bytes: Option<u64>,
    /// True if it only reads and the kernel fetched nothing: memory answered. `None` where that is not known.
    pub from_memory: Option<bool>,
}

/// Name of what is concluded about small files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesFindingName {
    /// Files created per second.
    FileCreatesPerS,
    /// Mean latency of `stat`.
    StatLatency,
    /// Mean latency of a new file that is flushed.
    FsyncFileLatency,
}

/// What is concluded about small files.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FilesFinding {
    /// Its name.
    pub name: FilesFindingName,
    /// Value with its interval, files per second or nanoseconds.
    pub value: Estimate,
    /// True if memory answered: the figure says nothing of storage. `None` where that is not known.
    pub from_memory: Option<bool>,
}

/// What answers `stat`, `open`, `read` and `list`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FilesCache {
    /// Nothing was dropped from memory: what was just made is still there.
    Kept,
    /// The data of each file were dropped before they were read; names and inodes stayed.
    DataDropped,
    /// Data, names and inodes were dropped before each of these steps.
    AllDropped,
}

/// A measurement of small files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmallFiles {
    /// The target as the user named it.
    pub target: String,
    /// Its file system; `None` of a simulated one.
    pub file_system: Option<String>,
    /// True if the target lies in memory.
    pub in_memory: bool,
    /// Requested layout.
    pub layout: FilesLayout,
    /// What was dropped from memory.
    pub cache: FilesCache,
    /// Seed of the order in which files are read.
    pub seed: u64,
    /// Complete rounds.
    pub rounds: usize,
    /// Figures of each step.
    pub steps: Vec<FileStepFigures>,
    /// Files per second created and brought to storage by one `syncfs` for all.
    pub synced_creates_per_s: Estimate,
    /// What is concluded. The document has it in words too, in a list of its own.
    #[serde(skip)]
    pub findings: Vec<FilesFinding>,
    /// Duration, in seconds.
    pub elapsed_s: f64,
    /// When, where and how.
    pub circumstances: Circumstances,
}

//! Small files: rounds of steps (create, stat, open, read, list, rename, unlink, write with fsync) by several workers.
//!
//! Each round works on fresh files in fresh directories. Worker w has the w-th part of the files, and they lie in the
//! directories in this order, so that with as many directories as workers each has one of its own. Stat, open and read
//! visit a worker's files in random order. A step ends early where its time is over; what was not created is not
//! looked for. Only the steps themselves are timed: making and removing directories, dropping caches and clearing away
//! is not.

mod simulated;

use std::{io, ops::Range};

use iosonde_model::{FileStep, FileStepTimes, FilesRound, Histogram};

pub use crate::platform::small_files::{DropCaches, RealFiles};
pub use simulated::SimulatedFiles;

/// Fewest rounds, however long they take: two give no variance worth the name.
pub const ROUNDS_MIN: usize = 3;
/// Most rounds.
pub const ROUNDS_MAX: usize = 1000;
/// Most workers.
pub const WORKERS_MAX: u32 = 64;
/// Most files of a round.
pub const FILES_MAX: u64 = 1_000_000;
/// Most directories of a round.
pub const DIRECTORIES_MAX: u64 = 10_000;
/// Most bytes of a file: larger ones say nothing of small files.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

/// What failed.
#[derive(Debug)]
pub struct FilesError {
    /// Step that failed; `None` where directories were made or removed, or caches dropped.
    pub step: Option<FileStep>,
    /// Why.
    pub error: io::Error,
}

/// Where files are made.
pub trait FilesPlace {
    /// Begins a round: makes its directories.
    fn begin(&mut self) -> Result<(), FilesError>;

    /// Does a step with each file, as long as its time lasts.
    fn step(&mut self, step: FileStep, most_ns: u64) -> Result<FileStepTimes, FilesError>;

    /// Brings all to storage; returns the time that it took.
    fn sync(&mut self) -> Result<u64, FilesError>;

    /// Ends a round: removes what is left of it.
    fn end(&mut self) -> Result<(), FilesError>;

    /// Nanoseconds since the place was opened.
    fn now_ns(&self) -> u64;
}

/// Measures in so many rounds, at least [`ROUNDS_MIN`]. `time_ns` bounds the steps; `told` hears of each complete
/// round.
pub fn measure(
    place: &mut dyn FilesPlace,
    rounds_most: usize,
    time_ns: u64,
    told: &mut dyn FnMut(usize, usize),
) -> Result<Vec<FilesRound>, FilesError> {
    let mut rounds = Vec::with_capacity(rounds_most);
    while rounds.len() < rounds_most && (rounds.len() < ROUNDS_MIN || place.now_ns() < time_ns) {
        let rounds_left = (rounds_most - rounds.len()) as u64;
        // Making and removing folders takes its time, too. What earlier rounds took more of is missing here, up to
        // half.
        let round_ns = time_ns.saturating_sub(place.now_ns()) / rounds_left;
        let round_ns = round_ns.clamp(time_ns / rounds_most as u64 / 2, time_ns / rounds_most as u64);
        place.begin()?;
        let mut steps = Vec::with_capacity(FileStep::ALL.len());
        let (mut sync_ns, mut left_ns, mut left_parts) = (0, round_ns, PARTS);
        for step in FileStep::ALL {
            if step == FileStep::WriteFsync {
                // What other steps left to write would be written by the first flush.
                place.sync()?;
            }
            let begin_ns = place.now_ns();
            // Of what bringing files to storage took, a later step bears half at most.
            let least_ns = round_ns * parts(step) / PARTS / 2;
            steps.push(place.step(step, (left_ns * parts(step) / left_parts).max(least_ns))?);
            if step == FileStep::Create {
                sync_ns = place.sync()?;
            }
            left_ns = left_ns.saturating_sub(place.now_ns() - begin_ns);
            left_parts -= parts(step);
        }
        place.end()?;
        rounds.push(FilesRound { steps, sync_ns });
        told(rounds.len(), rounds_most);
    }
    Ok(rounds)
}

/// Parts of a round's time. What a step leaves is for those after it; the last one is the slowest.
pub const PARTS: u64 = 12;

/// Those of a step: making files takes longest.
fn parts(step: FileStep) -> u64 {
    if matches!(step, FileStep::Create | FileStep::WriteFsync) { 3 } else { 1 }
}

/// The w-th of so many equal parts of `0..whole`.
pub(crate) fn part(whole: u64, parts: u64, nth: u64) -> Range<u64> {
    whole * nth / parts..whole * (nth + 1) / parts
}

/// What one worker did in a step.
pub(crate) struct Worked {
    /// How many it did.
    pub(crate) done: u64,
    /// When it began.
    pub(crate) begin_ns: u64,
    /// When it had done the last one.
    pub(crate) end_ns: u64,
    /// Times of each.
    pub(crate) latency: Histogram,
}

/// What all workers did.
pub(crate) fn together(step: FileStep, worked: &[Worked], fetched_bytes: Option<u64>) -> FileStepTimes {
    let begin_ns = worked.iter().map(|one| one.begin_ns).min().unwrap_or(0);
    let end_ns = worked.iter().map(|one| one.end_ns).max().unwrap_or(0);
    let mut latency = Histogram::new();
    worked.iter().for_each(|one| latency.merge(&one.latency));
    let done = worked.iter().map(|one| one.done).sum();
    FileStepTimes { step, done, elapsed_ns: end_ns - begin_ns, latency: latency.packed(), fetched_bytes }
}

//! The notebook of a run under way, and the run's lock in it.
//!
//! Before anything is written down, the notebook's path is looked at: a file that somebody removed takes every write
//! and is gone when the process ends. The run is then kept in a new notebook in the same place, or where that cannot
//! be, beside it or in the folder for temporary files. So is one whose notebook somebody damaged, but beside it.

use std::path::{Path, PathBuf};

use iosonde_model::{Run, Trial};
use iosonde_store::{Notebook, RunLock, StoreError};

use crate::screen::Screen;

/// A run's notebook and lock.
pub struct Book {
    pub notebook: Notebook,
    /// Nobody else goes on with the run meanwhile.
    lock: Option<RunLock>,
}

impl Book {
    /// The notebook in which the run has begun.
    pub fn new(notebook: Notebook, lock: RunLock) -> Self {
        Self { notebook, lock: Some(lock) }
    }

    /// Makes sure that the notebook is there; otherwise keeps the run elsewhere, with those of its trials that it has
    /// not come to again.
    pub fn keep_in_place(&mut self, run: &Run, later: &[&Trial]) -> Result<(), StoreError> {
        if self.notebook.is_in_place() {
            return Ok(());
        }
        let places = places(self.notebook.path(), &run.info.id);
        self.keep_in(&places, "was removed or replaced", run, later)
    }

    /// Keeps the run in a notebook beside one that is damaged.
    pub fn keep_beside(&mut self, run: &Run, later: &[&Trial]) -> Result<(), StoreError> {
        let places = places(self.notebook.path(), &run.info.id);
        self.keep_in(&places[1..], "could no longer be read and written", run, later)
    }

    fn keep_in(
        &mut self,
        places: &[PathBuf],
        how: &str,
        run: &Run,
        later: &[&Trial],
    ) -> Result<(), StoreError> {
        let lost = self.notebook.path().to_owned();
        // Released first: where only the notebook was removed, this lock would block the new one.
        self.lock = None;
        let mut refused = None;
        for place in places {
            match self.take_over(place, run, later) {
                Ok(()) => {
                    say(&lost, how, self.notebook.path(), run);
                    return Ok(());
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    fn take_over(&mut self, place: &Path, run: &Run, later: &[&Trial]) -> Result<(), StoreError> {
        let mut notebook = Notebook::open(place)?;
        let lock = notebook.adopt(&run.info, run.trials.iter().chain(later.iter().copied()))?;
        // The removed file can still be read: its list of files that a kill would leave.
        for stray in self.notebook.strays().unwrap_or_default() {
            notebook.record_stray(&stray)?;
        }
        (self.notebook, self.lock) = (notebook, Some(lock));
        Ok(())
    }
}

/// Where a run is kept whose notebook was lost, in this order.
fn places(lost: &Path, id: &str) -> [PathBuf; 3] {
    let name = format!("iosonde-{id}.db");
    [lost.to_owned(), lost.with_file_name(&name), std::env::temp_dir().join(&name)]
}

fn say(lost: &Path, how: &str, kept: &Path, run: &Run) {
    let (lost, trials) = (lost.display(), run.trials.len());
    Screen::complain(&format!(
        "the notebook {lost} {how} while run {} was under way; {trials} trials are kept in {}, and \
         the run goes on there",
        run.info.id,
        kept.display()
    ));
}

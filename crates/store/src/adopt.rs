//! A notebook that somebody removed or replaced while a run was under way.
//!
//! SQLite goes on writing to the removed file, which is gone as soon as the process ends. So a process that writes asks
//! first, and keeps the run, which it has in memory, in another notebook.

use iosonde_model::{RunInfo, Trial};

use crate::{Notebook, RunLock, StoreError, platform};

impl Notebook {
    /// Returns true while the notebook's path leads to the open file. A path that cannot be looked at now, as on a
    /// server that does not answer, has not been removed.
    pub fn is_in_place(&self) -> bool {
        match platform::identity(&self.path, true) {
            Ok(found) => self.open.is(found),
            Err(error) => {
                !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
            }
        }
    }

    /// Takes over a run that its own notebook has lost, with all of its trials. If this notebook holds the same run (on
    /// file systems whose inode numbers change it is the same file), only the missing trials are added.
    ///
    /// # Errors
    /// Returns [`StoreError::IdTaken`] if another run has this id, or another [`StoreError`] if the notebook cannot be
    /// written.
    pub fn adopt<'a>(
        &mut self,
        info: &RunInfo,
        trials: impl Iterator<Item = &'a Trial>,
    ) -> Result<RunLock, StoreError> {
        let same = |here: &RunInfo| here.seed == info.seed && here.started_at == info.started_at;
        let lock = match self.begin(info) {
            Err(StoreError::IdTaken { .. }) if self.info(&info.id).is_ok_and(|here| same(&here)) => {
                self.claim(&info.id)?
            }
            begun => begun?,
        };
        let kept = self.rows("SELECT count(*) FROM trials WHERE run = ?1", [&info.id], |row| {
            Ok(row.get::<_, i64>(0)?.unsigned_abs())
        })?;
        let kept = kept.first().copied().unwrap_or(0);
        for trial in trials.filter(|trial| trial.id > kept) {
            self.append(&info.id, trial)?;
        }
        Ok(lock)
    }
}

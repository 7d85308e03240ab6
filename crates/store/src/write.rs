//! Writing runs: begin, append, update, claim, remove.

use iosonde_model::{Direction, Phase, RunInfo, RunState, Trial};
use rusqlite::{
    ffi::{SQLITE_CONSTRAINT_FOREIGNKEY, SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE},
    named_params,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Notebook, RunLock, StoreError, lock};

impl Notebook {
    /// Stores a run that begins, with the state `running` whatever `info` says, and takes its lock. Keep the lock
    /// until the run has ended: other processes see by it that the run is alive.
    ///
    /// # Errors
    /// Returns [`StoreError::IdTaken`] if a run has this id already, or another [`StoreError`] if the notebook cannot
    /// be written.
    pub fn begin(&mut self, info: &RunInfo) -> Result<RunLock, StoreError> {
        lock::check_id(&info.id)?;
        let taken = || StoreError::IdTaken { id: info.id.clone() };
        if !self.id_is_free(&info.id)? {
            return Err(taken());
        }
        let lock = lock::take(&self.path, &info.id)?.ok_or_else(taken)?;
        let info = RunInfo { state: RunState::Running, ..info.clone() };
        let text = to_text(&info, || format!("run `{}`", info.id))?;
        let sql = "INSERT INTO runs (id, label, note, study, target, device, host, started_at, elapsed_s, state,
                                     bytes_written, info, kept_at)
                   VALUES (:id, :label, :note, :study, :target, :device, :host, :started_at, :elapsed_s, :state,
                           :bytes_written, :info, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))";
        match self.write_run(sql, &info, &text) {
            Err(error) if is_taken(&error) => Err(taken()),
            Err(error) => Err(self.fail(&error)),
            Ok(_) => Ok(lock),
        }
    }

    /// Stores the present state of a run: state, elapsed time, bytes written, notes.
    ///
    /// # Errors
    /// Returns [`StoreError::NoRun`] if the run was removed meanwhile, or another [`StoreError`] if the notebook
    /// cannot be written.
    pub fn update(&mut self, info: &RunInfo) -> Result<(), StoreError> {
        let text = to_text(info, || format!("run `{}`", info.id))?;
        let sql = "UPDATE runs SET label = :label, note = :note, study = :study, target = :target,
                     device = :device, host = :host, started_at = :started_at, elapsed_s = :elapsed_s,
                     state = :state, bytes_written = :bytes_written, info = :info
                   WHERE id = :id";
        match self.write_run(sql, info, &text) {
            Ok(0) => Err(self.no_run(&info.id)),
            Ok(_) => Ok(()),
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Stores a finished trial. One commit, durable when it returns; never call it while a trial runs.
    ///
    /// # Errors
    /// Returns [`StoreError::TrialTaken`], [`StoreError::NoRun`], or another [`StoreError`] if the notebook cannot be
    /// written.
    pub fn append(&mut self, run_id: &str, trial: &Trial) -> Result<(), StoreError> {
        let text = to_text(trial, || format!("trial {} of run `{run_id}`", trial.id))?;
        match self.write_trial(run_id, trial, &text) {
            Ok(_) => Ok(()),
            Err(error) if is_taken(&error) => {
                Err(StoreError::TrialTaken { id: run_id.to_owned(), trial: trial.id })
            }
            Err(error) if extended_code(&error) == Some(SQLITE_CONSTRAINT_FOREIGNKEY) => {
                Err(self.no_run(run_id))
            }
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Takes the lock of a stored run, to continue it.
    ///
    /// # Errors
    /// Returns [`StoreError::UnderWay`] while another process holds the run, or [`StoreError::NoRun`].
    pub fn claim(&mut self, id: &str) -> Result<RunLock, StoreError> {
        if self.id_is_free(id)? {
            return Err(self.no_run(id));
        }
        lock::take(&self.path, id)?.ok_or_else(|| StoreError::UnderWay { id: id.to_owned() })
    }

    /// Removes runs with their trials, all or none, and returns the space to the file system.
    ///
    /// # Errors
    /// Returns [`StoreError::UnderWay`], [`StoreError::NoRun`], or another [`StoreError`] if the notebook cannot be
    /// written.
    pub fn remove(&mut self, ids: &[impl AsRef<str>]) -> Result<(), StoreError> {
        let _locks: Vec<RunLock> =
            ids.iter().map(|id| self.claim(id.as_ref())).collect::<Result<_, StoreError>>()?;
        let path = self.path.clone();
        let fail = |error: rusqlite::Error| StoreError::sqlite(&path, &error);
        let removal = self.connection.transaction().map_err(fail)?;
        for id in ids {
            removal.execute("DELETE FROM runs WHERE id = ?1", [id.as_ref()]).map_err(fail)?;
        }
        removal.commit().map_err(fail)?;
        // Best effort: a reader may be in the way, and the room is used again anyhow. Each row is one page given
        // back, so the statement has to be stepped to its end.
        let _ = self.rows("PRAGMA incremental_vacuum", [], |_| Ok(()));
        let _ = self.rows("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        Ok(())
    }

    fn write_run(&self, sql: &str, info: &RunInfo, text: &str) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute(named_params! {
            ":id": info.id,
            ":label": info.label,
            ":note": info.note,
            ":study": info.study,
            ":target": info.target,
            ":device": info.device.model.as_ref().or(info.device.name.as_ref()),
            ":host": info.host.name,
            ":started_at": info.started_at,
            ":elapsed_s": info.elapsed_s,
            ":state": state_name(info.state),
            ":bytes_written": integer(info.bytes_written),
            ":info": text,
        })
    }

    fn write_trial(&self, run_id: &str, trial: &Trial, text: &str) -> rusqlite::Result<usize> {
        let mean = |direction: &Option<Direction>| direction.as_ref().and_then(|d| d.latency_ns.mean);
        let p99 = |direction: &Option<Direction>| direction.as_ref().and_then(|d| d.latency_ns.p99);
        let sql = "INSERT INTO trials (run, id, experiment, round, phase, point, started_at, started_s, elapsed_s,
                     rw, block_size_bytes, queue_depth, jobs, engine, direct, iops, bytes_per_s, errors,
                     read_iops, read_latency_ns_mean, read_latency_ns_p99,
                     write_iops, write_latency_ns_mean, write_latency_ns_p99, issued_write_bytes, trial)
                   VALUES (:run, :id, :experiment, :round, :phase, :point, :started_at, :started_s, :elapsed_s,
                     :rw, :block_size_bytes, :queue_depth, :jobs, :engine, :direct, :iops, :bytes_per_s, :errors,
                     :read_iops, :read_latency_ns_mean, :read_latency_ns_p99,
                     :write_iops, :write_latency_ns_mean, :write_latency_ns_p99, :issued_write_bytes, :trial)";
        self.connection.prepare_cached(sql)?.execute(named_params! {
            ":run": run_id,
            ":id": integer(trial.id),
            ":experiment": trial.experiment,
            ":round": trial.round,
            ":phase": phase_name(trial),
            ":point": trial.point.and_then(|point| integer(point as u64)),
            ":started_at": trial.started_at,
            ":started_s": trial.started_s,
            ":elapsed_s": trial.elapsed_s,
            ":rw": trial.spec.rw.name(),
            ":block_size_bytes": integer(trial.spec.block_size_bytes),
            ":queue_depth": trial.spec.queue_depth,
            ":jobs": trial.spec.jobs,
            ":engine": trial.spec.engine,
            ":direct": trial.spec.direct,
            ":iops": trial.iops(),
            ":bytes_per_s": trial.bytes_per_s(),
            ":errors": integer(trial.errors()),
            ":read_iops": trial.read.as_ref().map(|d| d.iops),
            ":read_latency_ns_mean": mean(&trial.read),
            ":read_latency_ns_p99": p99(&trial.read),
            ":write_iops": trial.write.as_ref().map(|d| d.iops),
            ":write_latency_ns_mean": mean(&trial.write),
            ":write_latency_ns_p99": p99(&trial.write),
            ":issued_write_bytes": integer(trial.witnesses.issued_write_bytes),
            ":trial": text,
        })
    }
}

/// SQLite's integers are signed; a count that does not fit is `NULL` in its column and whole in the JSON.
fn integer(value: u64) -> Option<i64> {
    i64::try_from(value).ok()
}

fn phase_name(trial: &Trial) -> &'static str {
    match trial.phase {
        Phase::Prepare => "prepare",
        Phase::Canary => "canary",
        Phase::Measure => "measure",
    }
}

/// A state's name in the `state` column, the same as in JSON.
pub(crate) fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Done => "done",
        RunState::Interrupted => "interrupted",
        RunState::Running => "running",
        RunState::Failed => "failed",
    }
}

fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|e| e.extended_code)
}

fn is_taken(error: &rusqlite::Error) -> bool {
    matches!(extended_code(error), Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE))
}

/// JSON, and proof that it can be read back: JSON writes an infinite or undefined number as `null`, and one such
/// figure would make the whole run unreadable. Reading back takes about a millisecond.
fn to_text<T: Serialize + DeserializeOwned>(
    value: &T,
    what: impl Fn() -> String,
) -> Result<String, StoreError> {
    let written = serde_json::to_string(value);
    let text = written.and_then(|text| serde_json::from_str::<T>(&text).map(|_| text));
    text.map_err(|error| StoreError::Unwritable { what: what(), why: error.to_string() })
}

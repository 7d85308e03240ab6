//! Reading runs: listing them, finding the one that a reference names, loading it whole.

use iosonde_model::{Direction, Flush, Histogram, LatencySummary, Run, RunInfo, RunState, Trial, nearest};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Notebook, StoreError, lock, write::state_name};

/// Summary of a run, as listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// Id, short and unique in this notebook.
    pub id: String,
    /// The user's name for it.
    pub label: Option<String>,
    /// The user's note.
    pub note: Option<String>,
    /// The study's name.
    pub study: String,
    /// The target as it was typed.
    pub target: String,
    /// Model or name of the device.
    pub device: Option<String>,
    /// Start in UTC (RFC 3339), on the run's own clock: a simulated one began in 1970 in earlier versions.
    pub started_at: String,
    /// UTC, RFC 3339: when the run was written down here.
    #[serde(skip)]
    pub kept_at: Option<String>,
    /// Duration on the run's own clock; of a killed run, up to its last trial.
    pub elapsed_s: f64,
    /// State of the run. A run stored as running whose process has ended is interrupted.
    pub state: RunState,
    /// Number of stored trials.
    pub trials: u64,
    /// Bytes written to the target.
    pub bytes_written: u64,
}

/// Query for summaries. The end and the written bytes of a killed run follow from its trials.
const SUMMARIES: &str = "
    SELECT r.id, r.label, r.note, r.study, r.target, r.device, r.started_at, r.elapsed_s, r.state,
           coalesce(r.bytes_written, 0), count(t.id), coalesce(max(t.started_s + t.elapsed_s), 0.0),
           coalesce(sum(t.issued_write_bytes), 0), r.kept_at
    FROM runs r LEFT JOIN trials t ON t.run = r.id
    GROUP BY r.number ORDER BY r.number DESC";

impl Notebook {
    /// Returns a summary of every run, the newest first.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be read.
    pub fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        let summaries = self.rows(SUMMARIES, [], |row| {
            let kept: String = row.get(8)?;
            let state = state_of(&kept);
            let (elapsed_s, last_end_s): (f64, f64) = (row.get(7)?, row.get(11)?);
            let (written, issued): (i64, i64) = (row.get(9)?, row.get(12)?);
            let open = state == RunState::Running;
            Ok(RunSummary {
                id: row.get(0)?,
                label: row.get(1)?,
                note: row.get(2)?,
                study: row.get(3)?,
                target: row.get(4)?,
                device: row.get(5)?,
                started_at: row.get(6)?,
                kept_at: row.get(13)?,
                elapsed_s: if open { elapsed_s.max(last_end_s) } else { elapsed_s },
                state,
                trials: row.get::<_, i64>(10)?.unsigned_abs(),
                bytes_written: (if open { written.max(issued) } else { written }).unsigned_abs(),
            })
        });
        summaries?
            .into_iter()
            .map(|mut summary| {
                summary.state = self.state_now(&summary.id, summary.state)?;
                Ok(summary)
            })
            .collect()
    }

    /// Returns the description of a run without its trials, as stored.
    ///
    /// # Errors
    /// Returns [`StoreError::NoRun`] for an unknown id, or another [`StoreError`] if the notebook cannot be read.
    pub fn info(&self, id: &str) -> Result<RunInfo, StoreError> {
        let texts = self.rows("SELECT info FROM runs WHERE id = ?1", [id], |row| row.get::<_, String>(0))?;
        let text = texts.first().ok_or_else(|| self.no_run(id))?;
        self.parse(text, || format!("run `{id}`"))
    }

    /// Loads a run with its trials in the order of execution, without conclusions. Figures that a killed run could
    /// not store (elapsed time, bytes written, rounds) are computed from its trials.
    ///
    /// # Errors
    /// Returns [`StoreError::NoRun`] for an unknown id, or another [`StoreError`] if the notebook cannot be read.
    pub fn load(&self, id: &str) -> Result<Run, StoreError> {
        let mut info = self.info(id)?;
        let trials = self.rows("SELECT id, trial FROM trials WHERE run = ?1 ORDER BY id", [id], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
        })?;
        let trials = trials.iter().map(|(number, text)| {
            let mut trial: Trial = self.parse(text, || format!("trial {number} of run `{id}`"))?;
            restore_histograms(&mut trial);
            Ok(trial)
        });
        let trials: Vec<Trial> = trials.collect::<Result<_, StoreError>>()?;
        if info.state == RunState::Running {
            info.state = self.state_now(id, info.state)?;
            let ends_s = trials.iter().map(|trial| trial.started_s + trial.elapsed_s);
            info.elapsed_s = ends_s.fold(info.elapsed_s, f64::max);
            let issued: u64 = trials.iter().map(|trial| trial.witnesses.issued_write_bytes).sum();
            info.bytes_written = info.bytes_written.max(issued);
            // Whether the last round that was begun is whole is not known here.
            let begun = trials.iter().map(|trial| trial.round).max().unwrap_or(0);
            info.rounds = info.rounds.max(begun.saturating_sub(1));
        }
        Ok(Run::new(info, trials))
    }

    /// Returns the id of the run that a reference means: an id, the start of one, a label, `last` or `last~1`; the
    /// newest run for `None`.
    ///
    /// # Errors
    /// Returns [`StoreError::NoRun`], [`StoreError::NotSoMany`] or [`StoreError::Empty`] if no run matches, and
    /// [`StoreError::Ambiguous`], which lists them, if several do.
    pub fn resolve(&self, reference: Option<&str>) -> Result<String, StoreError> {
        let reference = reference.unwrap_or("last").trim();
        let runs = self.list()?;
        if runs.is_empty() {
            return Err(StoreError::Empty { path: self.path.clone() });
        }
        if let Some(back) = steps_back(reference) {
            let run = usize::try_from(back).ok().and_then(|back| runs.get(back));
            return run.map(|run| run.id.clone()).ok_or_else(|| StoreError::NotSoMany {
                path: self.path.clone(),
                reference: reference.to_owned(),
                back,
                held: runs.len() as u64,
            });
        }
        if let Some(run) = runs.iter().find(|run| run.id == reference) {
            return Ok(run.id.clone());
        }
        let labelled: Vec<_> = runs.iter().filter(|run| run.label.as_deref() == Some(reference)).collect();
        let begun = reference.to_ascii_lowercase();
        let starting = || runs.iter().filter(|run| !begun.is_empty() && run.id.starts_with(&begun)).collect();
        let found: Vec<&RunSummary> = if labelled.is_empty() { starting() } else { labelled };
        match found[..] {
            [run] => Ok(run.id.clone()),
            [] => Err(self.no_run_among(reference, &runs)),
            _ => Err(StoreError::Ambiguous {
                reference: reference.to_owned(),
                matches: found.iter().map(|run| describe(run)).collect(),
            }),
        }
    }

    /// Returns the newest run of a study that can go on, which `resume` continues by default: one that was interrupted,
    /// or failed with trials that are kept. Single points and searches cannot be resumed.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be read.
    pub fn resumable(&self) -> Result<Option<String>, StoreError> {
        let runs = self.list()?;
        let goes_on = |run: &RunSummary| match run.state {
            RunState::Interrupted => true,
            // A full disk, a device that went away: what was measured is worth going on with.
            RunState::Failed => run.trials > 0,
            RunState::Done | RunState::Running => false,
        };
        for run in runs.into_iter().filter(goes_on) {
            if !self.info(&run.id)?.study_source.is_empty() {
                return Ok(Some(run.id));
            }
        }
        Ok(None)
    }

    /// Returns a new id: six hexadecimal characters that no run of this notebook has.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be read.
    pub fn fresh_id(&self) -> Result<String, StoreError> {
        loop {
            // SQLite's generator, which is seeded by the system: an id is no result and need not be repeatable.
            let ids = self.rows("SELECT lower(hex(randomblob(3)))", [], |row| row.get::<_, String>(0))?;
            for id in ids {
                if self.id_is_free(&id)? {
                    return Ok(id);
                }
            }
        }
    }

    /// Reads a run from the file as another program would, and not from what this connection keeps of it.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if a part of it cannot be read any more.
    pub fn reads_back(&self, id: &str) -> Result<(), StoreError> {
        let other = Self::open_existing(&self.path)?;
        other.info(id)?;
        other.rows("SELECT max(length(trial)) FROM trials WHERE run = ?1", [id], |_| Ok(())).map(drop)
    }

    /// Returns true if no run of this notebook has the id.
    ///
    /// # Errors
    /// Returns a [`StoreError`] if the notebook cannot be read.
    pub fn id_is_free(&self, id: &str) -> Result<bool, StoreError> {
        Ok(self.rows("SELECT 1 FROM runs WHERE id = ?1", [id], |_| Ok(()))?.is_empty())
    }

    /// The error for an id that is not kept, with what was probably meant.
    pub(crate) fn no_run(&self, id: &str) -> StoreError {
        // The list only serves the hint; that it cannot be read is not what went wrong first.
        self.no_run_among(id, &self.list().unwrap_or_default())
    }

    fn no_run_among(&self, reference: &str, runs: &[RunSummary]) -> StoreError {
        let names = runs.iter().flat_map(|run| [Some(run.id.as_str()), run.label.as_deref()]).flatten();
        StoreError::NoRun {
            path: self.path.clone(),
            reference: reference.to_owned(),
            nearest: nearest(reference, names),
        }
    }

    /// A run that is written down as running is so only while its lock is held.
    fn state_now(&self, id: &str, kept: RunState) -> Result<RunState, StoreError> {
        let dead = kept == RunState::Running && !lock::is_held(&self.path, id)?;
        Ok(if dead { RunState::Interrupted } else { kept })
    }

    fn parse<T: DeserializeOwned>(&self, text: &str, what: impl Fn() -> String) -> Result<T, StoreError> {
        serde_json::from_str(text).map_err(|error| StoreError::Unreadable {
            path: self.path.clone(),
            what: what(),
            why: error.to_string(),
        })
    }
}

/// `last` is 0, `last~2` is 2; anything else is no such reference.
fn steps_back(reference: &str) -> Option<u64> {
    let rest = reference.strip_prefix("last")?;
    if rest.is_empty() { Some(0) } else { rest.strip_prefix('~')?.parse().ok() }
}

/// An unknown state was written by hand; the run has certainly not ended well.
fn state_of(name: &str) -> RunState {
    let all = [RunState::Done, RunState::Interrupted, RunState::Running, RunState::Failed];
    all.into_iter().find(|state| state_name(*state) == name).unwrap_or(RunState::Failed)
}

fn describe(run: &RunSummary) -> String {
    // The clock of a simulated run began in 1970 in earlier versions, which tells no two of them apart.
    let when = run.kept_at.as_ref().filter(|_| run.target.starts_with("sim:")).unwrap_or(&run.started_at);
    format!("{} ({} on {}, {when})", run.id, run.study, run.target)
}

/// Makes the histograms of a trial that was read whole again.
pub(crate) fn restore_histograms(trial: &mut Trial) {
    let Trial { read, write, trim, flush, streams, .. } = trial;
    restore([read, write, trim], flush);
    for stream in streams {
        restore([&mut stream.read, &mut stream.write, &mut stream.trim], &mut stream.flush);
    }
}

fn restore(directions: [&mut Option<Direction>; 3], flush: &mut Option<Flush>) {
    for direction in directions.into_iter().flatten() {
        restore_histogram(&mut direction.histogram, &direction.latency_ns);
    }
    if let Some(flush) = flush {
        restore_histogram(&mut flush.histogram, &flush.latency_ns);
    }
}

/// The written form of a histogram has lost its exact mean and ends; the summary beside it kept them.
fn restore_histogram(histogram: &mut Histogram, latency_ns: &LatencySummary) {
    let pairs: Vec<_> = histogram.buckets().map(|(_, upper, count)| (upper, count)).collect();
    *histogram = Histogram::from_pairs(&pairs, latency_ns.mean, latency_ns.min, latency_ns.max);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_and_so_many_before_it() {
        assert_eq!(steps_back("last"), Some(0));
        assert_eq!(steps_back("last~3"), Some(3));
        for other in ["last~", "last~-1", "lastly", "las", "7f3a"] {
            assert_eq!(steps_back(other), None, "{other}");
        }
    }
}

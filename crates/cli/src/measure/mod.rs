//! A run under way: prepare, ask the schedule, run, keep, until the schedule is done.

use std::{collections::VecDeque, path::Path, sync::atomic::AtomicBool};

use iosonde_judge::{achieved_rate, estimate::Voids};
use iosonde_model::{DeviceNote, Medium, Phase, Run, RunState, Trial, TrialSpec, units};
use iosonde_rig::{
    drive::Limits,
    interrupt,
    trial::{FinishedTrial, Order},
};
use iosonde_store::{Notebook, StoreError, same_storage};

use book::Book;

use crate::{
    failure::{Failure, INTERRUPTED},
    hosts,
    options::Options,
    screen::Screen,
    session::Session,
};

pub mod book;
pub mod course;
mod cut;
pub mod follow;
pub mod info;
pub mod power;
mod precondition;
pub mod prepare;
pub mod stall;
pub mod write_limit;

/// The experiment that trials are kept under which bring the storage to a state.
const STATE: &str = "state";

/// A run under way.
pub struct Measurement {
    /// Options of every run.
    pub options: Options,
    /// Open target.
    pub session: Session,
    /// Where trials are kept; `None` if the caller keeps the run itself.
    pub book: Option<Book>,
    /// Run with all trials so far.
    pub run: Run,
    /// Raised by Ctrl-C.
    pub stop: &'static AtomicBool,
    /// How messages are shown.
    pub screen: Screen,
    /// Whether the notebook lies on the storage under test: its commits are then waited for.
    pub settle: bool,
    /// What a run that is resumed had prepared when it was measured: its points would not be the same with another
    /// size. Not what its trials addressed, which may be a part.
    pub prepared_before_bytes: Option<u64>,
    /// Stored trials of a simulated run that is resumed: they are run again, since the device's inside is not in
    /// the notebook.
    pub replay: VecDeque<Trial>,
    /// Time that the run took before it was resumed, less what others had of it since.
    pub elapsed_before_s: f64,
    /// When others got their turn, on the run's own clock.
    pub paused_s: Option<f64>,
    /// Holes in what is measured, before its first trial.
    pub holes_bytes: Option<u64>,
}

impl Measurement {
    /// A run that begins.
    pub fn new(options: Options, session: Session, book: Option<Book>, run: Run, screen: Screen) -> Self {
        let real = session.device.medium != Medium::Simulated;
        let here = |book: &Book| real && same_storage(book.notebook.path(), Path::new(&run.info.target));
        Self {
            settle: book.as_ref().is_some_and(here),
            options,
            session,
            book,
            run,
            stop: interrupt::catch(),
            screen,
            prepared_before_bytes: None,
            replay: VecDeque::new(),
            elapsed_before_s: 0.0,
            paused_s: None,
            holes_bytes: None,
        }
    }

    /// Time that the run has taken, on its own clock.
    fn elapsed_s(&self) -> f64 {
        self.elapsed_before_s + self.paused_s.unwrap_or_else(|| self.session.bed.clock.now_s())
    }

    /// Others have their turn: their time is not this run's.
    pub fn pause(&mut self) {
        self.paused_s = Some(self.session.bed.clock.now_s());
    }

    /// Its own turn again.
    pub fn unpause(&mut self) {
        if let Some(paused_s) = self.paused_s.take() {
            self.elapsed_before_s -= self.session.bed.clock.now_s() - paused_s;
        }
    }

    /// Runs one trial; a raised stop becomes the end of the run.
    pub fn trial(
        &mut self,
        spec: &TrialSpec,
        limits: Limits,
        phase: Phase,
        seed: u64,
    ) -> Result<Trial, Failure> {
        self.trial_each(Order { spec, limits, phase, seed }, &[])
    }

    /// Sends the streams that have limits of their own.
    pub fn trial_each(&mut self, order: Order, own: &[Limits]) -> Result<Trial, Failure> {
        let Order { spec, phase, .. } = order;
        // What is prepared is prepared by all, however many hosts measure.
        let by_all = (phase == Phase::Prepare).then(|| spec.clone().on_hosts(self.session.hosts.count()));
        let order = Order { spec: by_all.as_ref().unwrap_or(spec), ..order };
        if self.settle {
            // Before each trial, not after: the run's own beginning is a commit too, and so is another's turn.
            self.write_down(Notebook::settle)?;
        }
        self.look_at_the_file(phase);
        let watching = self.watch_for_stalls(phase);
        let FinishedTrial { mut trial, notes, .. } =
            self.session.run(&order, own, self.stop).map_err(|e| {
                let failure = hosts::failure_of(e);
                let text = format!("{}: {}: {}", self.run.info.target, spec.describe(), failure.text);
                if failure.code == INTERRUPTED { failure } else { Failure::failed(text) }
            })?;
        if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
            // The trial is lost, and what it wrote was written.
            self.run.info.bytes_written += trial.witnesses.issued_write_bytes;
            return Err(Failure { code: INTERRUPTED, text: String::new() });
        }
        trial.witnesses.note_stop(watching.map_or(0.0, |watching| watching.stopped_s()));
        // A write that the storage has not answered holds the file's lock in the kernel (FUSE), and asking for holes
        // would wait for it.
        let looked = if trial.hung == 0 { self.refuse_a_cut_file(spec, phase) } else { Ok(()) };
        if let Err(failure) = looked {
            self.run.info.bytes_written += trial.witnesses.issued_write_bytes;
            return Err(failure);
        }
        trial.started_s += self.elapsed_before_s;
        trial.achieved_rate_interval = achieved_rate::interval(&trial);
        for note in notes.into_iter().map(DeviceNote::Loop) {
            if !self.run.info.device.notes.contains(&note) {
                // Engines and witnesses speak at their first trial, which is the fill: no bar is drawn yet.
                self.screen.say(&format!("note          {}", iosonde_report::note(&note)));
                self.run.info.device.notes.push(note.clone());
                self.session.device.notes.push(note);
            }
        }
        Ok(trial)
    }

    /// Keeps a trial before anything else happens.
    pub fn keep(&mut self, mut trial: Trial) -> Result<(), Failure> {
        trial.id = self.run.trials.len() as u64 + 1;
        // Room was made for as many as there might have been.
        trial.windows.shrink_to_fit();
        trial.stalls.shrink_to_fit();
        self.run.info.bytes_written += trial.witnesses.issued_write_bytes;
        self.run.info.elapsed_s = self.elapsed_s();
        match self.replay.pop_front() {
            Some(stored) => trial = self.replayed(trial, stored)?,
            None => {
                let id = self.run.info.id.clone();
                self.write_down(|notebook| notebook.append(&id, &trial))?;
            }
        }
        if self.screen.verbose {
            let what = if trial.phase == Phase::Prepare { "filling" } else { &trial.experiment };
            self.screen.say(&format!(
                "trial {:>4}    {what}: {}: {} IOPS, {}",
                trial.id,
                trial.spec.describe(),
                units::count(trial.iops()),
                units::rate(trial.bytes_per_s())
            ));
        }
        self.run.trials.push(trial);
        Ok(())
    }

    /// A stored trial of a simulated run must come out the same again, or the run cannot be continued.
    fn replayed(&self, again: Trial, stored: Trial) -> Result<Trial, Failure> {
        let workload = again.spec == stored.spec && again.witnesses == stored.witnesses;
        let sides = again.read == stored.read && again.write == stored.write && again.trim == stored.trim;
        if workload && sides && again.flush == stored.flush {
            return Ok(stored);
        }
        Err(Failure::failed(format!(
            "run {} cannot be resumed: trial {} came out differently when it was simulated again; the simulated \
             device or iosonde has changed since. Start it anew with `iosonde run`",
            self.run.info.id, stored.id
        )))
    }

    /// What --max-write leaves.
    fn left_to_write_bytes(&self) -> u64 {
        self.options.max_write_bytes.map_or(u64::MAX, |max| max.saturating_sub(self.run.info.bytes_written))
    }

    /// What is left of the time when measuring begins: preparation, its flush included, is taken off once. The time
    /// begins with the first byte that is prepared. A resumed run has what it had at first, since the trials' length
    /// follows from it.
    fn budget_s(&self) -> f64 {
        let trials = &self.run.trials;
        let first = trials.iter().position(|trial| trial.round > 0);
        let begun_s = first.map_or_else(|| self.elapsed_s(), |first| trials[first].started_s);
        // A preparation that was interrupted was made anew from its beginning: only the last one counts.
        let prepared = &trials[..first.unwrap_or(trials.len())];
        let begins = |trial: &Trial| trial.experiment.is_empty() && trial.spec.offset_bytes == 0;
        let prepared = &prepared[prepared.iter().rposition(begins).unwrap_or(0)..];
        let lost_s = prepared.first().map_or(begun_s, |trial| trial.started_s);
        // A state takes as long as it takes, and its time is its own.
        let states = prepared.iter().filter(|trial| trial.experiment == STATE);
        let state_s: f64 = states.map(|trial| trial.elapsed_s).sum();
        self.options.time_ns as f64 / 1e9 - (begun_s - lost_s - state_s)
    }

    fn voids(&self) -> Voids {
        iosonde_judge::standing::voids(&self.run)
    }

    /// Writes down how the run stands; one that has ended is read back.
    pub fn note_state(&mut self, state: RunState) -> Result<(), Failure> {
        self.run.info.state = state;
        self.run.info.elapsed_s = self.elapsed_s();
        let info = self.run.info.clone();
        self.write_down(|notebook| {
            notebook.update(&info)?;
            if state == RunState::Running { Ok(()) } else { notebook.reads_back(&info.id) }
        })
    }

    /// Writes to the notebook, which is another one if the run's own was removed or damaged meanwhile.
    pub fn write_down(
        &mut self,
        what: impl Fn(&mut Notebook) -> Result<(), StoreError>,
    ) -> Result<(), Failure> {
        let Some(book) = &mut self.book else { return Ok(()) };
        let later: Vec<&Trial> = self.replay.iter().collect();
        book.keep_in_place(&self.run, &later)?;
        match what(&mut book.notebook) {
            Err(error) if error.is_lasting() => {
                book.keep_beside(&self.run, &later)?;
                Ok(what(&mut book.notebook)?)
            }
            written => Ok(written?),
        }
    }
}

/// Time spent on measuring so far: between the starts of trials that followed each other, so that what a resumed run
/// prepared anew in between is not in it.
pub fn measured_s(trials: &[Trial]) -> f64 {
    let measured = |trial: &Trial| trial.round > 0;
    let step_s = |(at, trial): (usize, &Trial)| match trials.get(at + 1).filter(|next| measured(next)) {
        Some(next) => next.started_s - trial.started_s,
        None => trial.elapsed_s,
    };
    trials.iter().enumerate().filter(|(_, trial)| measured(trial)).map(step_s).sum()
}

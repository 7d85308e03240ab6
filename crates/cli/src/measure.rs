//! A run under way: prepare, ask the schedule, run, keep, until the schedule is done.

use std::{collections::VecDeque, path::Path, sync::atomic::AtomicBool};

use iosonde_lab::{
    between, conclude,
    estimate::{FEWEST_TRIALS, Voids},
    plan,
    schedule::{self, Asked, Schedule, Terms, Visiting},
    sheet::WHOLE_SHARE,
};
use iosonde_model::{
    Closed, DeviceNote, Medium, Op, Phase, Point, Run, RunInfo, RunState, Rw, Study, Trial, TrialSpec, units,
};
use iosonde_rig::{
    drive::Limits,
    interrupt, prepare,
    trial::{Order, Outcome},
};
use iosonde_store::{Notebook, same_storage};

use crate::{
    command::run,
    course::{Course, Stage},
    failure::{Failure, INTERRUPTED},
    screen::Screen,
    session::{Options, Session},
    state::{self, State},
    write_limit,
};

/// The experiment that trials are kept under which bring the storage to a state.
const STATE: &str = "state";
/// Time that each trial needs beside its own: opening the engine, reading the witnesses, keeping the trial.
const OVERHEAD_S: f64 = 0.012;

/// A run under way.
pub struct Measurement<'a> {
    /// Options of every run.
    pub options: &'a Options,
    /// What is measured.
    pub session: Session,
    /// Where trials are kept.
    pub notebook: &'a mut Notebook,
    /// What has been measured.
    pub run: Run,
    /// Raised by Ctrl-C.
    pub stop: &'a AtomicBool,
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
}

impl<'a> Measurement<'a> {
    /// A run that begins.
    pub fn new(
        options: &'a Options,
        session: Session,
        notebook: &'a mut Notebook,
        run: Run,
        screen: Screen,
    ) -> Self {
        let real = session.device.medium != Medium::Simulated;
        Self {
            settle: real && same_storage(notebook.path(), Path::new(&run.info.target)),
            options,
            session,
            notebook,
            run,
            stop: interrupt::catch(),
            screen,
            prepared_before_bytes: None,
            replay: VecDeque::new(),
            elapsed_before_s: 0.0,
            paused_s: None,
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

    /// Fills the working set where it must be filled, and says how large it is.
    /// `round_bytes` is what a round writes at the least.
    pub fn prepare(&mut self, asked_bytes: u64, seconds: f64, round_bytes: u64) -> Result<(), Failure> {
        let room_bytes = self.session.room_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES;
        let wanted_bytes = asked_bytes;
        let may_fill_bytes = write_limit::fill_bytes_max(self.options, round_bytes);
        let asked_bytes =
            asked_bytes.min(room_bytes).min(if self.session.fill { may_fill_bytes } else { u64::MAX });
        self.session.device.working_set_bytes = if self.session.fill {
            self.filled(asked_bytes, seconds)?
        } else {
            // Whole pages: the last part of a file is not worth an exception in every offset.
            asked_bytes.min(self.session.room_bytes) / 4096 * 4096
        };
        let device = &mut self.session.device;
        // Of an existing file or device all is taken; only a wish that was spoken can be missed.
        let wished = self.options.size_bytes.is_some() || device.kind == "directory";
        device.asked_size_bytes = (wished && device.working_set_bytes < wanted_bytes).then_some(wanted_bytes);
        if let Some(watch) = &mut self.session.bed.watch {
            watch.set_span(0..device.working_set_bytes);
        }
        self.run.info.device = device.clone();
        Ok(())
    }

    /// Addresses no more than another target has: the points are then the same on both.
    pub fn address_only(&mut self, bytes: u64, of: &str) {
        let device = &mut self.session.device;
        if device.working_set_bytes <= bytes {
            return;
        }
        let all_bytes = device.working_set_bytes;
        device.notes.push(DeviceNote::PartAddressed { part_bytes: bytes, all_bytes, other: of.to_owned() });
        device.working_set_bytes = bytes;
        if let Some(watch) = &mut self.session.bed.watch {
            watch.set_span(0..bytes);
        }
        self.run.info.device = device.clone();
    }

    /// Fills up to `asked_bytes`, as far as `seconds` go; how much was filled.
    fn filled(&mut self, asked_bytes: u64, seconds: f64) -> Result<u64, Failure> {
        self.screen
            .say(&format!("preparing     filling up to {} with random data", units::size(asked_bytes)));
        let probe = self.fill(0, asked_bytes.min(prepare::PROBE_BYTES), seconds, "")?;
        let target_bytes = prepare::size_bytes(&probe, asked_bytes, seconds);
        let mut filled_bytes = probe.witnesses.issued_write_bytes;
        if target_bytes > filled_bytes {
            let rest = self.fill(filled_bytes, target_bytes - filled_bytes, seconds - probe.elapsed_s, "")?;
            filled_bytes += rest.witnesses.issued_write_bytes;
        }
        prepare::settle(&self.session.bed.storage).map_err(|e| {
            Failure::failed(format!("{}: what was filled could not be flushed: {e}", self.run.info.target))
        })?;
        if filled_bytes < prepare::FILL_BLOCK_BYTES {
            let seconds = units::duration(seconds);
            return Err(Failure::failed(format!(
                "{}: not even 1 MiB could be filled in {seconds}",
                self.run.info.target
            )));
        }
        Ok(filled_bytes)
    }

    fn fill(&mut self, from_bytes: u64, bytes: u64, seconds: f64, what: &str) -> Result<Trial, Failure> {
        let device = &self.session.device;
        let (spec, limits) = prepare::order(&device.engine, device.direct, from_bytes, bytes, seconds);
        // A seed of its own: what is written over it later shall not be the same bytes.
        let trial = self.trial(&spec, limits, Phase::Prepare, !self.options.seed ^ from_bytes)?;
        let write = trial.write.as_ref();
        let short = write.map_or(0, |write| write.short);
        let example = trial.error_examples.first().cloned();
        let hung = (trial.hung > 0).then(|| format!("{} writes never came back", trial.hung));
        let short = (short > 0).then(|| format!("{short} writes were cut short"));
        if let Some(why) = example.or(hung).or(short) {
            return Err(Failure::failed(format!("{}: filling failed: {why}", self.run.info.target)));
        }
        let trial = Trial { experiment: what.to_owned(), ..trial };
        self.keep(trial.clone())?;
        Ok(trial)
    }

    /// Whether a workload reads what was trimmed since it was filled.
    fn must_refill(&self, spec: &TrialSpec) -> bool {
        let trims = |trial: &Trial| trial.spec.has(Op::Trim);
        let fills = |trial: &Trial| trial.phase == Phase::Prepare;
        let latest = self.run.trials.iter().rev().find(|trial| trims(trial) || fills(trial));
        // A hole answers a trim as fast as it answers a read.
        (spec.has(Op::Read) || spec.has(Op::Trim)) && latest.is_some_and(trims)
    }

    /// What was trimmed is filled again before anything is read: storage answers holes without touching its medium.
    fn refill_before(&mut self, spec: &TrialSpec) -> Result<(), Failure> {
        if !self.must_refill(spec) {
            return Ok(());
        }
        let filled_bytes = self.session.device.working_set_bytes;
        // As long as it takes: less than all of it would leave holes.
        self.fill(0, filled_bytes, f64::from(u32::MAX), "")?;
        prepare::settle(&self.session.bed.storage).map_err(|e| {
            Failure::failed(format!(
                "{}: what was filled again could not be flushed: {e}",
                self.run.info.target
            ))
        })
    }

    /// Runs one trial; a raised stop becomes the end of the run.
    pub fn trial(
        &mut self,
        spec: &TrialSpec,
        limits: Limits,
        phase: Phase,
        seed: u64,
    ) -> Result<Trial, Failure> {
        let order = Order { spec, limits, phase, seed };
        let Outcome { mut trial, notes } =
            self.session.bed.run(&order, self.stop).map_err(|e| {
                Failure::failed(format!("{}: {}: {e}", self.run.info.target, spec.describe()))
            })?;
        if self.stop.load(std::sync::atomic::Ordering::Relaxed) {
            // The trial is lost, and what it wrote was written.
            self.run.info.bytes_written += trial.witnesses.issued_write_bytes;
            return Err(Failure { code: INTERRUPTED, text: String::new() });
        }
        trial.started_s += self.elapsed_before_s;
        for note in notes.into_iter().map(DeviceNote::from) {
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
        self.run.info.bytes_written += trial.witnesses.issued_write_bytes;
        self.run.info.elapsed_s = self.elapsed_s();
        match self.replay.pop_front() {
            Some(stored) => trial = self.replayed(trial, stored)?,
            None => {
                self.notebook.append(&self.run.info.id, &trial)?;
                if self.settle {
                    self.notebook.settle()?;
                }
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

    /// Measures until the study is done; the points' fates.
    pub fn measure(&mut self, study: &Study) -> Result<Vec<Option<Closed>>, Failure> {
        let mut course = self.begin(study)?.shown(&self.screen);
        self.follow(&mut course)
    }

    /// A study's course, from where the kept trials have brought it.
    pub fn begin(&mut self, study: &Study) -> Result<Course, Failure> {
        let schedule = self.schedule(study)?;
        if !conclude::otherwise(&self.run.trials, schedule.points()).is_empty() {
            return Err(Failure::failed(format!(
                "run {} was planned by another version of iosonde, whose points are not this one's; its report is as \
                 it was (iosonde show {0}). Measure the same points anew:  iosonde run --like {0}",
                self.run.info.id
            )));
        }
        let begun = |trial: &Trial| trial.round > between::GRID_ROUNDS;
        let mut course = Course::new(schedule, self.before_measuring_s());
        if study.adaptive {
            course.stage = Stage::Grid;
            if self.run.trials.iter().any(begun) {
                self.go_on_to_all(&mut course)?;
            }
        }
        Ok(course)
    }

    /// Brings the storage to the state that was asked for; recorded as preparation, as it is.
    pub fn bring_to_state(&mut self) -> Result<(), Failure> {
        let Some(state) = self.options.state else { return Ok(()) };
        let span_bytes = self.session.device.working_set_bytes;
        let cost_bytes = state.cost_bytes(span_bytes);
        if cost_bytes > self.left_to_write_bytes() {
            return Err(Failure::failed(format!(
                "--state {state} writes up to {}, which --max-write does not allow",
                units::size(cost_bytes)
            )));
        }
        self.screen.say(&format!("state         {}", state.announce(span_bytes)));
        let forever_s = f64::from(u32::MAX);
        let mut steady = true;
        match state {
            State::Fresh => {
                let device = &self.session.device;
                let (mut spec, limits) =
                    prepare::order(&device.engine, device.direct, 0, span_bytes, forever_s);
                spec.rw = Rw::Trim;
                let trial = self.trial(&spec, limits, Phase::Prepare, self.options.seed)?;
                if let Some(why) = trial.error_examples.first() {
                    return Err(Failure::failed(format!(
                        "{}: --state fresh trims first, and that fails here: {why}",
                        self.run.info.target
                    )));
                }
                self.keep(Trial { experiment: STATE.into(), ..trial })?;
                self.fill(0, span_bytes, forever_s, STATE)?;
            }
            State::Filled(_) => {
                let whole_bytes = cost_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES;
                self.fill(0, whole_bytes.max(prepare::FILL_BLOCK_BYTES), forever_s, STATE)?;
            }
            State::Steady => steady = self.stir(span_bytes)?,
        }
        prepare::settle(&self.session.bed.storage)
            .map_err(|e| Failure::failed(format!("{}: cannot be flushed: {e}", self.run.info.target)))?;
        // Flash that was stirred up in one place has the rest of its blocks free all the same.
        let device = &self.session.device;
        let part =
            device.size_bytes.filter(|&whole_bytes| (span_bytes as f64) < WHOLE_SHARE * whole_bytes as f64);
        let part = part.filter(|_| state == State::Steady);
        let note = if steady {
            DeviceNote::StateReached { state: state.to_string(), span_bytes, larger_bytes: part }
        } else {
            DeviceNote::NotSteady
        };
        self.screen.say(&format!("note          {}", iosonde_report::note(&note)));
        let device = &mut self.session.device;
        device.notes.push(note);
        if steady && state == State::Steady {
            let within = part.map(|_| format!(" within {}", units::size(span_bytes)));
            device.state = Some(format!("steady{}", within.unwrap_or_default()));
        }
        self.run.info.device = device.clone();
        Ok(())
    }

    /// Writes at random until the rate no longer changes; whether it came to that.
    fn stir(&mut self, span_bytes: u64) -> Result<bool, Failure> {
        let device = &self.session.device;
        let spec =
            state::stirring(&device.engine, device.direct, span_bytes, plan::is_blocking(&device.engine));
        let ios = state::stirring_ios(span_bytes);
        let mut stirred: Vec<(u64, f64)> = Vec::new();
        while !state::is_stirred(&stirred, span_bytes) {
            let limits = Limits { duration_ns: u64::MAX, warm_up_ns: Some(0), ios: Some(ios) };
            let seed = self.options.seed ^ (stirred.len() as u64 + 1) << 20;
            let trial = self.trial(&spec, limits, Phase::Prepare, seed)?;
            stirred.push((trial.witnesses.issued_write_bytes, trial.bytes_per_s()));
            self.keep(Trial { experiment: STATE.into(), ..trial })?;
        }
        Ok(state::is_steady(&stirred, span_bytes))
    }

    /// Says once that nothing more is written.
    fn note_the_limit(&mut self) {
        let note = DeviceNote::WriteLimitReached { max_bytes: self.options.max_write_bytes.unwrap_or(0) };
        if !self.run.info.device.notes.contains(&note) {
            self.screen.say(&format!("note          {}", iosonde_report::note(&note)));
            self.run.info.device.notes.push(note);
        }
    }

    /// What --max-write leaves.
    fn left_to_write_bytes(&self) -> u64 {
        self.options.max_write_bytes.map_or(u64::MAX, |max| max.saturating_sub(self.run.info.bytes_written))
    }

    /// What may still be written, and whether a trial of this workload fits it, by what such trials wrote before.
    fn may_write(&self, spec: &TrialSpec) -> Option<u64> {
        self.options.max_write_bytes.filter(|_| spec.changes())?;
        let left_bytes = self.left_to_write_bytes();
        let before = self.run.trials.iter().filter(|trial| trial.spec == *spec);
        let usual_bytes =
            before.map(|trial| trial.witnesses.issued_write_bytes).max().unwrap_or(spec.block_size_bytes);
        Some(if usual_bytes > left_bytes { 0 } else { left_bytes })
    }

    /// Measures points that no study planned, in as many rounds as the options ask for.
    pub fn measure_points(&mut self, points: Vec<Point>) -> Result<Vec<Option<Closed>>, Failure> {
        let left_s = self.options.time_ns as f64 / 1e9 - self.elapsed_s();
        let schedule = schedule_of(points, Visiting::default(), self.options, left_s)
            .map_err(|failure| Failure::failed(failure.text))?;
        let mut course = Course::new(schedule, self.before_measuring_s()).shown(&self.screen);
        self.follow(&mut course)
    }

    fn follow(&mut self, course: &mut Course) -> Result<Vec<Option<Closed>>, Failure> {
        while let Some(asked) = self.next(course)? {
            self.carry_out(course, asked)?;
        }
        Ok(std::mem::take(&mut course.closed))
    }

    /// Time that the run took before it began to measure, and in the pauses of a run that was resumed.
    fn before_measuring_s(&self) -> f64 {
        self.elapsed_s() - self.measured_s()
    }

    /// The trial to run now, from stage to stage; none where the study is done, and `course.closed` then says why.
    pub fn next(&mut self, course: &mut Course) -> Result<Option<Asked>, Failure> {
        loop {
            if let Some(asked) = self.next_of_stage(course) {
                return Ok(Some(asked));
            }
            course.end_of_stage();
            match course.stage {
                Stage::Grid => self.go_on_to_all(course)?,
                Stage::All => course.stage = Stage::Added(0),
                Stage::Added(done) => course.stage = Stage::Added(done + 1),
            }
            let Stage::Added(place) = course.stage else { continue };
            let Some(addition) = self.options.additions.get(place) else { return Ok(None) };
            course.schedule = course.schedule.going_on(Terms {
                budget_s: addition.begun_s.unwrap_or_else(|| self.measured_s())
                    + addition.time_ns as f64 / 1e9,
                precision: addition.precision,
                rounds: addition.rounds,
                ..terms(self.options, 0.0)
            });
            course.begun_s = self.before_measuring_s();
        }
    }

    /// Some rounds of the plain grid are done, or the budget is: points between are wanted where they tell more.
    fn go_on_to_all(&mut self, course: &mut Course) -> Result<(), Failure> {
        course.stage = Stage::All;
        course.begun_s = self.before_measuring_s();
        if !between::is_due(&self.run.trials, &self.voids(), &course.schedule) {
            return Ok(());
        }
        let mut info = self.run.info.clone();
        info.device = self.session.device.clone();
        let (added, schedule) =
            between::between(&info, &self.run.trials, &course.schedule).map_err(Failure::failed)?;
        for point in &added {
            self.screen.say(&format!("added         {}: {}", point.experiment, point.spec.describe()));
        }
        course.schedule = schedule;
        Ok(())
    }

    /// The next trial of this stage, with what it may write settled.
    fn next_of_stage(&mut self, course: &mut Course) -> Option<Asked> {
        let (begun_s, grid) = (course.begun_s, course.stage == Stage::Grid);
        let last_round = if grid { between::GRID_ROUNDS } else { u32::MAX };
        loop {
            let (schedule, progress) = course.parts();
            let voids = self.voids();
            let elapsed_s = self.elapsed_s() - begun_s;
            self.run.info.rounds = schedule.rounds(&self.run.trials, &voids);
            let next = schedule.next(&self.run.trials, &voids, elapsed_s);
            let Some(asked) = next.filter(|asked| asked.round <= last_round) else {
                course.closed = schedule.closed(&self.run.trials, &voids, elapsed_s);
                return None;
            };
            self.warn_of_few_rounds(&asked, elapsed_s);
            if let Some(progress) = progress.filter(|progress| progress.is_looked_at(&asked)) {
                let state = schedule.progress(&self.run.trials, &voids, elapsed_s);
                progress.show(schedule, &state, &asked);
            }
            let refilled_bytes =
                if self.must_refill(&asked.spec) { self.session.device.working_set_bytes } else { 0 };
            if self.may_write(&asked.spec) != Some(0) && refilled_bytes <= self.left_to_write_bytes() {
                return Some(asked);
            }
            self.note_the_limit();
            // What was trimmed can neither be read nor filled again.
            let closed = schedule.closed(&self.run.trials, &voids, elapsed_s);
            if course.reading_on.is_some() {
                course.closed = closed.into_iter().map(|closed| closed.or(Some(Closed::Budget))).collect();
                return None;
            }
            course.reading_on = Some(course.schedule.reading_on());
        }
    }

    /// Nobody knows how long requests take before some were made. What the first round took tells whether the time
    /// holds as many as an interval needs, and there is still time to start anew.
    fn warn_of_few_rounds(&self, asked: &Asked, elapsed_s: f64) {
        let first_is_done = asked.round == 2 && self.run.trials.last().is_some_and(|trial| trial.round == 1);
        let (budget_s, fewest) = (self.budget_s(), FEWEST_TRIALS as f64);
        if !first_is_done || self.options.rounds.is_some() || budget_s >= fewest * elapsed_s {
            return;
        }
        let before_s = self.options.time_ns as f64 / 1e9 - budget_s;
        self.screen.say(&format!(
            "note          the first round took {}, and the time holds {} of the {fewest} that an interval takes; \
             --time {} would do",
            units::duration(elapsed_s),
            (budget_s / elapsed_s) as u64,
            run::typed(before_s + fewest * elapsed_s)
        ));
    }

    /// Runs a trial that the course asked for, and keeps it.
    pub fn carry_out(&mut self, course: &mut Course, asked: Asked) -> Result<(), Failure> {
        let (spec, phase, seed) = (&asked.spec, asked.phase, asked.seed);
        let may_write_bytes = self.may_write(spec);
        self.refill_before(spec)?;
        self.session.go_through_page_cache(!spec.direct)?;
        // Said whether or not the requests are limited: a limit alone would take the warm-up away.
        let warm_up_ns = Some(asked.warm_up_ns());
        // Of each job: what is left is shared, and a last trial may end early.
        let requests = u64::max(1, spec.streams().map(|s| s.block_size_bytes * u64::from(s.jobs)).sum());
        let ios = may_write_bytes.map(|bytes| u64::max(1, bytes / requests));
        let limits = Limits { warm_up_ns, ios, ..Limits::time(asked.duration_ns) };
        let passed_bytes = asked.pass_first.then(|| self.pass(spec, seed)).transpose();
        let outcome = passed_bytes.and_then(|passed| Ok((self.trial(spec, limits, phase, seed)?, passed)));
        let (mut trial, passed_bytes) = outcome.inspect_err(|_| course.end_of_stage())?;
        trial.passed_bytes = passed_bytes;
        asked.mark(&mut trial);
        self.keep(trial)
    }

    /// Reads a workload's span once, and says how many bytes that were.
    fn pass(&mut self, spec: &TrialSpec, seed: u64) -> Result<u64, Failure> {
        let (whole, limits) = prepare::pass(spec);
        Ok(self.trial(&whole, limits, Phase::Prepare, seed)?.witnesses.issued_read_bytes)
    }

    /// How the run stands on a course, for whoever shows it.
    pub fn standing(&self, course: &Course) -> schedule::Progress {
        let schedule = course.followed();
        schedule.progress(&self.run.trials, &self.voids(), self.elapsed_s() - course.begun_s)
    }

    /// The schedule of a study for what is left of the budget.
    pub fn schedule(&mut self, study: &Study) -> Result<Schedule, Failure> {
        let plan = plan::points(study, &self.session.device).map_err(Failure::usage)?;
        let mut sentences = plan.left_out;
        let buffered = |point: &Point| !point.spec.direct;
        if self.session.device.direct && !self.session.has_page_cache && plan.points.iter().any(buffered) {
            sentences.push(
                "the page cache: this simulated device has none, and buffered points go past it".into(),
            );
        }
        for sentence in sentences {
            self.screen.say(&format!("left out      {sentence}"));
            let note = DeviceNote::from(sentence);
            if !self.run.info.device.notes.contains(&note) {
                self.run.info.device.notes.push(note);
            }
        }
        // Whether the time suffices was asked before anything was written; now it is the storage that was slow.
        schedule_of(plan.points, plan.visiting, self.options, self.budget_s())
            .map_err(|failure| Failure::failed(failure.text))
    }

    fn measured_s(&self) -> f64 {
        measured_s(&self.run.trials)
    }

    /// What is left of the time when measuring begins: preparation, its flush included, is taken off once. A
    /// resumed run has what it had at first, since the trials' length follows from it.
    fn budget_s(&self) -> f64 {
        let first = self.run.trials.iter().find(|trial| trial.round > 0);
        let begun_s = first.map_or_else(|| self.elapsed_s(), |trial| trial.started_s);
        // A state takes as long as it takes, and its time is its own.
        let before = |trial: &&Trial| trial.experiment == STATE && trial.started_s < begun_s;
        let state_s: f64 = self.run.trials.iter().filter(before).map(|trial| trial.elapsed_s).sum();
        self.options.time_ns as f64 / 1e9 - (begun_s - state_s)
    }

    fn voids(&self) -> Voids {
        conclude::voids(&self.run)
    }

    /// Writes down how the run stands.
    pub fn note_state(&mut self, state: RunState) -> Result<(), Failure> {
        self.run.info.state = state;
        self.run.info.elapsed_s = self.elapsed_s();
        Ok(self.notebook.update(&self.run.info)?)
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

/// A schedule for points and a budget.
fn schedule_of(
    points: Vec<Point>,
    visiting: Visiting,
    options: &Options,
    budget_s: f64,
) -> Result<Schedule, Failure> {
    Schedule::visiting(points, visiting, terms(options, budget_s)).map_err(Failure::usage)
}

/// The terms of a run.
pub fn terms(options: &Options, budget_s: f64) -> Terms {
    Terms {
        seed: options.order_seed.unwrap_or(options.seed),
        precision: options.precision,
        confidence: options.confidence,
        budget_s,
        rounds: options.rounds,
        overhead_s: OVERHEAD_S,
    }
}

/// A run's beginning, as it is written down.
pub fn new_info(id: String, study: &Study, target: &str, options: &Options, session: &Session) -> RunInfo {
    RunInfo {
        id,
        label: None,
        note: None,
        study: study.name.clone(),
        series: None,
        repeat: None,
        in_turn_with: Vec::new(),
        study_source: study.source.clone(),
        target: target.to_owned(),
        seed: options.order_seed.unwrap_or(options.seed),
        started_at: session.bed.clock.utc(),
        elapsed_s: 0.0,
        state: RunState::Running,
        command: command_line(),
        bytes_written: 0,
        budget_s: Some(options.time_ns as f64 / 1e9),
        precision: options.precision,
        confidence: options.confidence,
        rounds: 0,
        device: session.device.clone(),
        host: session.host.clone(),
        options: serde_json::to_value(Options { destroyed: session.identity.clone(), ..options.clone() })
            .expect("options are plain data"),
    }
}

/// The command as it was typed, with quotes where a shell needs them.
fn command_line() -> String {
    let quote = |word: String| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,%~+@".contains(c));
        if plain && !word.is_empty() { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let words = std::env::args_os().skip(1).map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once("iosonde".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

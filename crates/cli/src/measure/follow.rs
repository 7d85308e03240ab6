//! Following a schedule: which trial is next, what it may write, and when the study is done.

use iosonde_infer::adaptive;
use iosonde_infer::conclude;
use iosonde_judge::estimate::FEWEST_TRIALS;
use iosonde_model::{
    Closed, DeviceNote, HostLayout, LeftOut, Medium, Phase, Point, Study, Trial, TrialSpec, Window, typed,
    units,
};
use iosonde_plan::schedule;
use iosonde_plan::schedule::Schedule;
use iosonde_plan::schedule::ScheduledTrial;
use iosonde_plan::schedule::Terms;
use iosonde_plan::schedule::Unplannable;
use iosonde_plan::schedule::Visiting;
use iosonde_rig::{WINDOW_NS, drive::Limits, memory, prepare};

use super::{
    Measurement,
    course::{Course, Stage},
    measured_s, write_limit,
};
use crate::{failure::Failure, options::Options, studies};

/// Share of a trial that is warm-up.
const WARM_UP_SHARE: f64 = 0.1;
/// Time that each trial needs beside its own: opening the engine, reading the witnesses, keeping the trial.
pub const OVERHEAD_S: f64 = 0.012;
/// Memory of a trial beside its own fields and windows: histograms and names. 1 KB on a virtual disk, and three times
/// that where latencies spread over more buckets.
const BESIDE_BYTES: usize = 2048;

impl Measurement {
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
        self.reserve_memory(&schedule, adaptive::grid_rounds(study.adaptive).is_some());
        let mut course = Course::new(schedule, self.before_measuring_s());
        if let Some(grid_rounds) = adaptive::grid_rounds(study.adaptive) {
            (course.stage, course.grid_rounds) = (Stage::Grid, grid_rounds);
            let begun = |trial: &Trial| trial.round > grid_rounds;
            if self.run.trials.iter().any(begun) {
                self.go_on_to_all(&mut course)?;
            }
        }
        Ok(course)
    }

    /// Takes the memory that the trials will need before the first of them is measured; twice as much where conclusions
    /// from the first rounds, on a copy of them, decide what follows.
    fn reserve_memory(&mut self, schedule: &Schedule, copied: bool) {
        if self.session.device.medium == Medium::Simulated {
            return;
        }
        let expected = schedule.forecast();
        let trials = expected.rounds_expected as usize * (expected.points + 1);
        let trials = trials.saturating_sub(self.run.trials.len());
        let windows = (expected.trial_s * 1e9 / WINDOW_NS as f64).ceil() as usize;
        let each_bytes = size_of::<Trial>() + windows * size_of::<Window>() + BESIDE_BYTES;
        memory::reserve(trials.saturating_mul(each_bytes).saturating_mul(1 + usize::from(copied)));
        self.run.trials.reserve_exact(trials);
    }

    /// Measures points that no study planned, in as many rounds as the options ask for.
    pub fn measure_points(&mut self, points: Vec<Point>) -> Result<Vec<Option<Closed>>, Failure> {
        let left_s = self.options.time_ns as f64 / 1e9 - self.elapsed_s();
        let schedule = schedule_of(points, Visiting::default(), &self.options, left_s)
            .map_err(|failure| Failure::failed(failure.text))?;
        let mut course = Course::new(schedule, self.before_measuring_s()).shown(&self.screen);
        self.follow(&mut course)
    }

    /// Measures until the study is done, and returns why each point was closed.
    pub fn follow(&mut self, course: &mut Course) -> Result<Vec<Option<Closed>>, Failure> {
        while let Some(asked) = self.next(course)? {
            self.carry_out(course, asked)?;
        }
        Ok(std::mem::take(&mut course.closed))
    }

    /// Time that the run took before it began to measure, and in the pauses of a run that was resumed.
    fn before_measuring_s(&self) -> f64 {
        self.elapsed_s() - measured_s(&self.run.trials)
    }

    /// The trial to run now, from stage to stage; none where the study is done, and `course.closed` then says why.
    pub fn next(&mut self, course: &mut Course) -> Result<Option<ScheduledTrial>, Failure> {
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
                budget_s: addition.begun_s.unwrap_or_else(|| measured_s(&self.run.trials))
                    + addition.time_ns as f64 / 1e9,
                precision: addition.precision,
                rounds: addition.rounds,
                ..terms(&self.options, 0.0)
            });
            course.begun_s = self.before_measuring_s();
        }
    }

    /// Some rounds of the plain grid are done, or the budget is: points between are wanted where they tell more.
    fn go_on_to_all(&mut self, course: &mut Course) -> Result<(), Failure> {
        course.stage = Stage::All;
        course.begun_s = self.before_measuring_s();
        if !adaptive::is_due(&self.run.trials, &self.voids(), &course.schedule, course.grid_rounds) {
            return Ok(());
        }
        let mut info = self.run.info.clone();
        info.device = self.session.device.clone();
        // What was left when the first rounds were done: a run that was resumed adds the same points.
        let (early, later): (Vec<&Trial>, Vec<&Trial>) =
            self.run.trials.iter().partition(|trial| trial.round <= course.grid_rounds);
        let later_bytes: u64 = later.iter().map(|trial| trial.witnesses.issued_write_bytes).sum();
        let left_bytes = self.left_to_write_bytes().saturating_add(later_bytes);
        // A trial writes up to an eighth more than its minimum, with the requests that end its warm-up.
        let left_bytes = left_bytes / 8 * 7;
        let planned_bytes = write_limit::needed_bytes(course.schedule.points(), &early);
        let mut spare_bytes = left_bytes.saturating_sub(planned_bytes);
        let is_affordable = |spec: &TrialSpec| {
            let left_bytes = spare_bytes.checked_sub(write_limit::interval_bytes(spec));
            spare_bytes = left_bytes.unwrap_or(spare_bytes);
            left_bytes.is_some()
        };
        let (added, schedule) = adaptive::added(&info, &self.run.trials, &course.schedule, is_affordable)
            .map_err(Failure::failed)?;
        for point in &added {
            let what = point.spec.describe();
            self.screen.say(&format!("added         {what}"));
        }
        course.schedule = schedule;
        Ok(())
    }

    /// The next trial of this stage, within the write limit.
    fn next_of_stage(&mut self, course: &mut Course) -> Option<ScheduledTrial> {
        let (begun_s, grid) = (course.begun_s, course.stage == Stage::Grid);
        let last_round = if grid { course.grid_rounds } else { u32::MAX };
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
    fn warn_of_few_rounds(&self, asked: &ScheduledTrial, elapsed_s: f64) {
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
            // Later rounds may take longer than the first, as its last trials did.
            typed::time(before_s + (fewest + 1.0) * elapsed_s)
        ));
    }

    /// Runs a trial of the course, and keeps it.
    pub fn carry_out(&mut self, course: &mut Course, asked: ScheduledTrial) -> Result<(), Failure> {
        let (spec, phase, seed) = (&asked.spec, asked.phase, asked.seed);
        let points = course.schedule.points();
        let may_write_bytes = self
            .may_write(spec)
            .map(|left_bytes| write_limit::share_bytes(left_bytes, spec, points, &self.run.trials));
        self.refill_before(spec)?;
        self.session.go_through_page_cache(!spec.direct)?;
        // Said whether or not the requests are limited: a limit alone would take the warm-up away.
        let warm_up_ns = Some(asked.warm_up_ns().min(self.warm_up_ns_max(may_write_bytes)));
        // Of each job: what is left is shared, and a last trial may end early.
        let of_all = |s: &TrialSpec| s.block_size_bytes * u64::from(s.jobs) * u64::from(s.hosts);
        let requests = u64::max(1, spec.streams().map(of_all).sum());
        let ios = may_write_bytes.map(|bytes| u64::max(1, bytes / requests));
        let limits = Limits { warm_up_ns, ios, ..Limits::time(asked.duration_ns) };
        let limits = if asked.one_pass { one_pass(spec, limits) } else { limits };
        let passed_bytes = asked.pass_first.then(|| self.pass(spec, seed)).transpose();
        let outcome = passed_bytes.and_then(|passed| Ok((self.trial(spec, limits, phase, seed)?, passed)));
        let (mut trial, passed_bytes) = outcome.inspect_err(|_| course.end_of_stage())?;
        trial.passed_bytes = passed_bytes;
        asked.mark(&mut trial);
        self.keep(trial)
    }

    /// Reads a workload's span once, and says how many bytes that were.
    fn pass(&mut self, spec: &TrialSpec, seed: u64) -> Result<u64, Failure> {
        let placement = self.session.bed.place.placement;
        let whole = prepare::pass(spec);
        let block_bytes = whole.0.block_size_bytes;
        let (whole, limits) = match placement.layout {
            HostLayout::FilePerWorker if placement.files > 1 => {
                prepare::side_by_side(whole, block_bytes, spec.jobs)
            }
            // Each host reads the blocks that it will read again.
            HostLayout::SharedStrided => prepare::side_by_side(whole, spec.block_size_bytes, spec.jobs),
            _ => whole,
        };
        Ok(self.trial(&whole, limits, Phase::Prepare, seed)?.witnesses.issued_read_bytes)
    }

    /// State of the run on a course, for the progress line.
    pub fn standing(&self, course: &Course) -> schedule::Progress {
        let schedule = course.followed();
        schedule.progress(&self.run.trials, &self.voids(), self.elapsed_s() - course.begun_s)
    }

    /// The schedule of a study for what is left of the budget.
    pub fn schedule(&mut self, study: &Study) -> Result<Schedule, Failure> {
        let plan = studies::plan(study, &self.session.device)?;
        let mut left_out = plan.left_out;
        let buffered = |point: &Point| !point.spec.direct;
        if self.session.device.direct && !self.session.has_page_cache && plan.points.iter().any(buffered) {
            left_out.push(LeftOut::NoPageCache);
        }
        for note in left_out.into_iter().map(DeviceNote::LeftOut) {
            self.screen.say(&format!("left out      {}", iosonde_report::note(&note)));
            if !self.run.info.device.notes.contains(&note) {
                self.run.info.device.notes.push(note);
            }
        }
        // Whether the time suffices was asked before anything was written. Now it was the storage that was slow, and
        // what was written shall not have been for nothing: the fewest and shortest trials are measured beyond the
        // time.
        let (points, visiting) = (plan.points, plan.visiting);
        let schedule =
            |budget_s| Schedule::visiting(points.clone(), visiting.clone(), terms(&self.options, budget_s));
        let fitted = match schedule(self.budget_s()) {
            Err(Unplannable::TooShort { needed_s, .. }) => {
                self.screen.say(&format!(
                    "note          preparing took too much of --time; measuring takes another {}",
                    units::duration(needed_s)
                ));
                schedule(needed_s)
            }
            fitted => fitted,
        };
        fitted.map_err(Failure::failed)
    }

    /// Says once that nothing more is written.
    fn note_the_limit(&mut self) {
        let note = DeviceNote::WriteLimitReached { max_bytes: self.options.max_write_bytes.unwrap_or(0) };
        if !self.run.info.device.notes.contains(&note) {
            self.screen.say(&format!("note          {}", iosonde_report::note(&note)));
            self.run.info.device.notes.push(note);
        }
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

    /// Warm-up that leaves something to measure where so many bytes end a trial: its usual share of the time in which
    /// the fastest writes of this run would have written them.
    fn warm_up_ns_max(&self, may_write_bytes: Option<u64>) -> u64 {
        let Some(bytes) = may_write_bytes else { return u64::MAX };
        let rate = |trial: &Trial| trial.witnesses.issued_write_bytes as f64 / trial.elapsed_s.max(1e-9);
        let fastest = self.run.trials.iter().map(rate).fold(1.0, f64::max);
        (bytes as f64 / fastest * 1e9 * WARM_UP_SHARE) as u64
    }
}

/// The limits of a trial that is one pass, however long it takes: one that is cut off says nothing.
fn one_pass(spec: &TrialSpec, limits: Limits) -> Limits {
    let pass = prepare::requests_of_a_pass(spec);
    let ios = Some(limits.ios.map_or(pass, |ios| ios.min(pass)));
    Limits { ios, duration_ns: u64::MAX, ..limits }
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

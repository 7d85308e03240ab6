//! One session of a campaign: an active run, its position in the study, and its next step.

use iosonde_model::{RunInfo, RunState, Study};
use iosonde_plan::schedule::Progress;
use iosonde_plan::schedule::ScheduledTrial;

use crate::{
    failure::{Failure, INTERRUPTED},
    measure::{Measurement, course::Course},
    screen::Screen,
};

/// A session under way.
pub struct Turn {
    pub measurement: Measurement,
    /// Its next trial.
    pub next: Option<ScheduledTrial>,
    pub state: RunState,
    study: Study,
    course: Option<Course>,
    /// Whether it has the campaign for itself.
    alone: bool,
    /// How the run stood before it went on, and how many trials it had.
    before: Option<(RunInfo, usize)>,
}

impl Turn {
    /// A session that waits for its turn.
    pub fn new(
        mut measurement: Measurement,
        study: Study,
        alone: bool,
        before: Option<(RunInfo, usize)>,
    ) -> Self {
        if !alone {
            measurement.pause();
        }
        let (next, course, state) = (None, None, RunState::Running);
        Self { measurement, next, state, study, course, alone, before }
    }

    pub fn id(&self) -> &str {
        &self.measurement.run.info.id
    }

    pub fn target(&self) -> &str {
        &self.measurement.run.info.target
    }

    /// The round of its next trial.
    pub fn round(&self) -> Option<u32> {
        self.next.as_ref().map(|asked| asked.round)
    }

    /// State of the turn, while it has work left.
    pub fn standing(&self) -> Option<Progress> {
        self.next.as_ref()?;
        self.course.as_ref().map(|course| self.measurement.standing(course))
    }

    /// Does something on the target's own time. What goes wrong ends its run and no other; an interruption ends all.
    pub fn act(&mut self, what: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        if self.state != RunState::Running {
            return Ok(());
        }
        if self.alone {
            return what(self);
        }
        self.measurement.unpause();
        let outcome = what(self);
        self.measurement.pause();
        let Err(failure) = outcome else { return Ok(()) };
        if failure.code == INTERRUPTED {
            return Err(failure);
        }
        self.next = None;
        self.end(RunState::Failed)?;
        Screen::complain(&failure.text);
        Ok(())
    }

    /// Prepares what is measured.
    pub fn prepare(&mut self) -> Result<(), Failure> {
        self.measurement.prepare_for(&self.study)
    }

    /// Begins with the study, or goes on with it.
    pub fn begin(&mut self) -> Result<(), Failure> {
        let course = self.measurement.begin(&self.study)?;
        self.course = Some(if self.alone { course.shown(&self.measurement.screen) } else { course });
        self.look_ahead()
    }

    /// Runs its next trial.
    pub fn step(&mut self) -> Result<(), Failure> {
        let (Some(course), Some(asked)) = (&mut self.course, self.next.take()) else { return Ok(()) };
        self.measurement.carry_out(course, asked)?;
        self.look_ahead()
    }

    /// What comes next; a run of which nothing does is done.
    fn look_ahead(&mut self) -> Result<(), Failure> {
        let Some(course) = &mut self.course else { return Ok(()) };
        self.next = self.measurement.next(course)?;
        if self.next.is_some() {
            return Ok(());
        }
        // Why each point was closed is the schedule's knowledge: it is kept, so that a report of a year later says the
        // same.
        let closed = serde_json::to_value(&course.closed).map_err(Failure::failed)?;
        self.measurement.run.info.options["closed"] = closed;
        self.end(RunState::Done)
    }

    /// Writes down how the run ended. One that went on and failed before it had anything new stays as it was.
    pub fn end(&mut self, state: RunState) -> Result<(), Failure> {
        self.state = state;
        self.measurement.note_state(state)?;
        let trials = self.measurement.run.trials.len();
        let as_it_was =
            self.before.as_ref().filter(|(_, before)| state == RunState::Failed && trials <= *before);
        let Some((info, _)) = as_it_was.cloned() else { return Ok(()) };
        self.measurement.write_down(|notebook| notebook.update(&info))
    }
}

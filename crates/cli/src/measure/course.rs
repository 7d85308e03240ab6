//! Where a run stands in its study: the schedule that it follows, and what comes after that.

use iosonde_model::Closed;
use iosonde_plan::schedule::Schedule;

use crate::{progress::ProgressLine, screen::Screen};

/// Purpose of a course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Some rounds of the plain grid, before points between are added.
    Grid,
    /// All points, until the study's own end.
    All,
    /// More of a finished run: which of the additions.
    Added(usize),
}

/// A study under way.
pub struct Course {
    /// Schedule that is followed.
    pub schedule: Schedule,
    /// Schedule without points that write, for when nothing more may be written.
    pub reading_on: Option<Schedule>,
    /// Purpose.
    pub stage: Stage,
    /// Rounds of the plain grid before points are added.
    pub grid_rounds: u32,
    /// Time of the run that is not measuring.
    pub begun_s: f64,
    /// The points' fates, once it is done.
    pub closed: Vec<Option<Closed>>,
    screen: Option<Screen>,
    progress: Option<ProgressLine>,
}

impl Course {
    /// A course that begins.
    pub fn new(schedule: Schedule, begun_s: f64) -> Self {
        let (reading_on, closed) = (None, Vec::new());
        let stage = Stage::All;
        Self { schedule, reading_on, stage, grid_rounds: 0, begun_s, closed, screen: None, progress: None }
    }

    /// Shows the progress of the course on the screen.
    pub fn shown(self, screen: &Screen) -> Self {
        Self { screen: Some(*screen), ..self }
    }

    /// Current schedule, and the progress line if the course is shown.
    pub fn parts(&mut self) -> (&Schedule, Option<&mut ProgressLine>) {
        let Self { schedule, reading_on, screen, progress, .. } = self;
        let schedule = reading_on.as_ref().unwrap_or(schedule);
        if let (Some(screen), None) = (screen, &progress) {
            *progress = Some(ProgressLine::new(screen, schedule.points().len()));
        }
        (schedule, progress.as_mut())
    }

    /// Current schedule.
    pub fn followed(&self) -> &Schedule {
        self.reading_on.as_ref().unwrap_or(&self.schedule)
    }

    /// Takes the live line away; writing has its chance again where more is allowed.
    pub fn end_of_stage(&mut self) {
        self.progress = None;
        self.reading_on = None;
    }
}

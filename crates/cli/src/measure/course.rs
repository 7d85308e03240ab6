//! Where a run stands in its study: the schedule that it follows, and what comes after that.

use iosonde_model::Closed;
use iosonde_plan::schedule::Schedule;

use crate::{progress::Progress, screen::Screen};

/// What a course is about.
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
    /// What is being followed.
    pub schedule: Schedule,
    /// The same without points that write, once nothing more may be written.
    pub reading_on: Option<Schedule>,
    /// What it is about.
    pub stage: Stage,
    /// Time of the run that is not measuring.
    pub begun_s: f64,
    /// The points' fates, once it is done.
    pub closed: Vec<Option<Closed>>,
    screen: Option<Screen>,
    progress: Option<Progress>,
}

impl Course {
    /// A course that begins.
    pub fn new(schedule: Schedule, begun_s: f64) -> Self {
        let (reading_on, closed) = (None, Vec::new());
        Self { schedule, reading_on, stage: Stage::All, begun_s, closed, screen: None, progress: None }
    }

    /// The same, shown as it goes.
    pub fn shown(self, screen: &Screen) -> Self {
        Self { screen: Some(*screen), ..self }
    }

    /// What is followed now, and what shows it where anybody looks.
    pub fn parts(&mut self) -> (&Schedule, Option<&mut Progress>) {
        let Self { schedule, reading_on, screen, progress, .. } = self;
        let schedule = reading_on.as_ref().unwrap_or(schedule);
        if let (Some(screen), None) = (screen, &progress) {
            *progress = Some(Progress::new(screen, schedule.points().len()));
        }
        (schedule, progress.as_mut())
    }

    /// What is followed now.
    pub fn followed(&self) -> &Schedule {
        self.reading_on.as_ref().unwrap_or(&self.schedule)
    }

    /// Takes the live line away; writing has its chance again where more is allowed.
    pub fn end_of_stage(&mut self) {
        self.progress = None;
        self.reading_on = None;
    }
}

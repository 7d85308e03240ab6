//! Ends the program where a call on the storage never returns: the run then stands as after a kill.

use std::time::Duration;

use iosonde_model::{Medium, Phase, units};
use iosonde_rig::{
    leave,
    stall::{STALLED_AFTER, StallWatch},
};

use super::Measurement;
use crate::{failure::FAILED, notebook, screen::Screen};

/// Flushing what was filled may take long on a slow disk.
pub const STALLED_FILLING_AFTER: Duration = Duration::from_secs(600);

impl Measurement {
    /// Looks on while a trial runs.
    pub fn watch_for_stalls(&self, phase: Phase) -> Option<StallWatch> {
        if self.session.device.medium == Medium::Simulated {
            return None;
        }
        let after = if phase == Phase::Prepare { STALLED_FILLING_AFTER } else { STALLED_AFTER };
        let info = &self.run.info;
        let target = info.target.clone();
        let mut kept = String::new();
        if let Some(book) = self.book.as_ref().filter(|_| !info.study_source.is_empty()) {
            let (trials, option) = (self.run.trials.len(), notebook::option(book.notebook.path()));
            kept = format!("\n  {trials} trials are kept; to go on:  iosonde resume {}{option}", info.id);
        }
        Some(watch(after, target, kept))
    }
}

/// Looks on from now until it is dropped, and ends the program where no thread runs for so long.
pub fn watch(after: Duration, target: String, kept: String) -> StallWatch {
    StallWatch::start(after, move |idle| {
        let idle = units::duration(idle.as_secs_f64());
        Screen::complain(&format!(
            "{target}: a call has not returned for {idle}: the storage or its server hangs, and the program with \
             it{kept}"
        ));
        leave::with_code(FAILED);
        // The thread that measures cannot come back to say how it went.
        #[allow(clippy::exit)]
        std::process::exit(FAILED.into());
    })
}

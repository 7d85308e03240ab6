//! What a person sees while a run is under way: one live line on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iosonde_model::{Phase, units};
use iosonde_plan::schedule::{ExperimentProgress, Progress, Schedule, ScheduledTrial};
use iosonde_report::text;

use crate::screen::Screen;

/// Experiments that are shown while a run is under way: a screen has 24 lines.
const LINES_MAX: usize = 16;
/// Rounds that have a line each without a terminal.
const EACH_UP_TO: u32 = 10;
/// Steps of the bar.
const STEPS: u64 = 1000;

/// The progress of one run.
pub struct ProgressLine {
    screen: Screen,
    bar: Option<ProgressBar>,
    of: usize,
    round_said: u32,
    /// Time left when measuring began: the bar shows time, since on a noisy disk no point settles for long.
    total_s: Option<f64>,
}

impl ProgressLine {
    /// Progress over so many points.
    pub fn new(screen: &Screen, points: usize) -> Self {
        let bar = screen.live.then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{prefix:9} {bar:24.cyan/dim}  {msg}");
            bar.set_style(style.expect("the template is well formed").progress_chars("━╸━"));
            bar
        });
        Self { screen: *screen, bar, of: points, round_said: 0, total_s: None }
    }

    /// Whether anybody sees what [`ProgressLine::show`] shows: without a terminal, some of the rounds.
    pub fn is_looked_at(&self, asked: &ScheduledTrial) -> bool {
        self.bar.is_some() || self.is_said(asked)
    }

    /// Whether a trial begins a round that has a line: the first ten, then every tenth. A check has eighty rounds.
    fn is_said(&self, asked: &ScheduledTrial) -> bool {
        let is_new = match asked.round {
            early @ ..=EACH_UP_TO => early > self.round_said,
            late => late / EACH_UP_TO > self.round_said / EACH_UP_TO,
        };
        is_new && asked.phase != Phase::Prepare
    }

    /// Shows how the run stands before a trial.
    pub fn show(&mut self, schedule: &Schedule, state: &Progress, asked: &ScheduledTrial) {
        let converged = converged(state.converged, self.of).map_or_else(String::new, |text| text + ", ");
        let left = text::time_left(state.left);
        match &self.bar {
            Some(bar) => {
                bar.set_prefix(format!("round {}", asked.round));
                let total_s = *self.total_s.get_or_insert(state.left.likely_s.max(f64::MIN_POSITIVE));
                let by_time = 1.0 - state.left.likely_s / total_s;
                let by_points = state.converged as f64 / self.of.max(1) as f64;
                bar.set_position((by_time.max(by_points).clamp(0.0, 1.0) * STEPS as f64) as u64);
                let lines: String =
                    state.experiments.iter().take(LINES_MAX).map(|one| line(schedule, one)).collect();
                bar.set_message(format!("{converged}{left} left{lines}"));
            }
            None if self.is_said(asked) => {
                self.round_said = asked.round;
                self.screen.say(&format!("round {:<3}     {converged}{left} left", asked.round));
            }
            None => {}
        }
    }

    /// Takes the live line away.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// How many points have converged. Nothing is said of none: before 80 trials no point may, and many a study ends by
/// its time.
pub fn converged(converged: usize, of: usize) -> Option<String> {
    (converged > 0).then(|| format!("{converged} of {of} converged"))
}

/// One experiment: its points that are converged, and the one measured last with its present interval.
fn line(schedule: &Schedule, one: &ExperimentProgress) -> String {
    let latest = one.latest.as_ref().map_or_else(String::new, |latest| {
        let what = schedule.points()[latest.point].spec.describe();
        let share = latest.half_width.map_or_else(String::new, |half| format!(" ± {}", units::percent(half)));
        format!("   {what}   {} IOPS{share}", units::count(latest.iops))
    });
    format!("\n  {:20} {:>3} of {:<3}{latest}", one.name, one.converged, one.of)
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.end();
    }
}

/// The progress of something that moves a known number of bytes, or takes a known number of rounds.
pub struct TransferProgress {
    bar: Option<ProgressBar>,
    what: &'static str,
}

impl TransferProgress {
    /// Nothing has been moved.
    pub fn of_bytes(screen: &Screen) -> Self {
        Self::counting(screen, "{decimal_bytes} of {decimal_total_bytes}")
    }

    /// No round is complete.
    pub fn of_rounds(screen: &Screen) -> Self {
        Self::counting(screen, "{pos} of {len}")
    }

    fn counting(screen: &Screen, count: &str) -> Self {
        let bar = screen.live.then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = format!("{{prefix:9}} {{bar:24.cyan/dim}}  {count}, {{eta}} left");
            let style = ProgressStyle::with_template(&style).expect("the template is well formed");
            bar.set_style(style.progress_chars("━╸━"));
            bar
        });
        Self { bar, what: "" }
    }

    /// Shows how much of it is done. With other words it begins again.
    pub fn show(&mut self, what: &'static str, done: u64, all: u64) {
        let Some(bar) = &self.bar else { return };
        if self.what != what {
            self.what = what;
            bar.set_prefix(what);
            bar.set_length(all);
            bar.reset_eta();
        }
        bar.set_position(done);
    }

    /// Takes the line away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

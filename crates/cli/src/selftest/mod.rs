//! The program against simulated devices whose truth is set: how often each check speaks where it should, and where
//! it should not.

mod bars;
mod cells;
mod kept;
mod table;
mod trial_run;
mod work;

use std::collections::BTreeMap;

use iosonde_model::{CheckName, Judgement, Outcome, Run};
use serde::{Deserialize, Serialize};

pub use bars::missed;
pub use cells::{Cell, cells};
pub use kept::Kept;
pub use table::table;
pub use work::scores;

/// Result of one cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Runs.
    pub runs: usize,
    /// Runs of which the check said what it should.
    pub caught: usize,
    /// Runs of which some other check said something, or, of a clean cell, any.
    pub others: usize,
    /// Invalid trials.
    pub void_trials: usize,
    /// Which check spoke first in those, and how often.
    pub wrong: BTreeMap<String, usize>,
    /// One sentence of a check that should not have spoken, or of the one that did.
    pub example: Option<String>,
}

/// What counts of a run: every warning and invalid verdict. A short run has too few samples, correctly.
fn troubles(run: &Run) -> impl Iterator<Item = &Judgement> {
    run.verdicts
        .iter()
        .filter(|line| line.verdict >= Outcome::Warning && line.check != CheckName::TooFewSamples)
}

impl Score {
    /// Result of one run.
    fn of(cell: &Cell, run: &Run) -> Self {
        let mut score = Self::default();
        score.count(cell, run);
        score
    }

    fn count(&mut self, cell: &Cell, run: &Run) {
        let own = |line: &&Judgement| {
            Some(line.check) == cell.check && (!cell.void || line.verdict == Outcome::Invalid)
        };
        let known = |line: &Judgement| cell.check == Some(line.check) || cell.also.contains(&line.check);
        let caught = troubles(run).find(own);
        let wrong = troubles(run).find(|line| !known(line));
        let void = |line: &&Judgement| line.verdict == Outcome::Invalid && line.scope == "trial";
        self.runs += 1;
        self.caught += usize::from(caught.is_some());
        self.others += usize::from(wrong.is_some());
        self.void_trials += run.verdicts.iter().filter(void).count();
        if let Some(line) = wrong {
            *self.wrong.entry(line.check.to_string()).or_default() += 1;
        }
        if self.example.is_none() {
            self.example =
                wrong.or(caught).map(|line| format!("{}: {}", line.check, iosonde_report::text::why(line)));
        }
    }

    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.caught += other.caught;
        self.others += other.others;
        self.void_trials += other.void_trials;
        for (check, count) in other.wrong {
            *self.wrong.entry(check).or_default() += count;
        }
        self.example = self.example.take().or(other.example);
    }
}

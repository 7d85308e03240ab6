//! The program against simulated devices whose truth is set: how often each check speaks where it should, and where
//! it should not.

mod bars;
mod cells;
mod kept;
mod table;
mod trial_run;

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use iosonde_model::{CheckName, Judgement, Outcome, Run};
use serde::{Deserialize, Serialize};

pub use bars::missed;
pub use cells::{Cell, cells};
pub use kept::Kept;
pub use table::table;

use crate::failure::Failure;

/// What a cell came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Runs.
    pub runs: usize,
    /// Runs of which the check said what it should.
    pub caught: usize,
    /// Runs of which some other check said something, or, of a clean cell, any.
    pub others: usize,
    /// Trials that were void.
    pub void_trials: usize,
    /// Which check spoke first in those, and how often.
    pub wrong: BTreeMap<String, usize>,
    /// One sentence of a check that should not have spoken, or of the one that did.
    pub example: Option<String>,
}

/// Runs every cell for seeds `seed`, `seed + 1`, .., on all processors, but for what is kept of an earlier selftest.
/// Cells of one device follow each other.
pub fn scores(cells: &[Cell], seeds: usize, seed: u64, kept: Option<&Kept>) -> Result<Vec<Score>, Failure> {
    let families: Vec<&[Cell]> = cells.chunk_by(Cell::shares_its_run).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    // Seed after seed over all devices, so that no processor waits at a device's end.
    let work = || -> Result<Vec<Vec<Score>>, Failure> {
        let mut tallies: Vec<Vec<Score>> =
            families.iter().map(|family| vec![Score::default(); family.len()]).collect();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let (family, turn) = (place % families.len(), place / families.len());
            if turn >= seeds {
                return Ok(tallies);
            }
            let known = kept.and_then(|kept| kept.known(family, turn));
            let fresh = || -> Result<Vec<Score>, Failure> {
                let members: Vec<&Cell> = families[family].iter().collect();
                let runs = trial_run::runs(&members, seed.wrapping_add(turn as u64))?;
                let scores: Vec<Score> =
                    members.iter().zip(&runs).map(|(cell, run)| Score::of(cell, run)).collect();
                kept.map_or(Ok(()), |kept| kept.keep(family, turn, &scores))?;
                Ok(scores)
            };
            let scores = known.map_or_else(fresh, Ok)?;
            tallies[family].iter_mut().zip(scores).for_each(|(tally, score)| tally.add(score));
        }
    };
    let done: Vec<Result<Vec<Vec<Score>>, Failure>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let mut total = vec![Score::default(); cells.len()];
    for tallies in done {
        total.iter_mut().zip(tallies?.into_iter().flatten()).for_each(|(sum, part)| sum.add(part));
    }
    Ok(total)
}

/// What counts of a run: every doubt and void about its validity. Too few samples is said of a short run, and true.
fn troubles(run: &Run) -> impl Iterator<Item = &Judgement> {
    run.verdicts
        .iter()
        .filter(|line| line.verdict >= Outcome::Warning && line.check != CheckName::TooFewSamples)
}

impl Score {
    /// Of one run.
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
            self.example = wrong.or(caught).map(|line| format!("{}: {}", line.check, iosonde_report::text::why(line)));
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

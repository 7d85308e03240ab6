//! The program against simulated devices whose truth is set: how often each check speaks where it should, and where
//! it should not.

mod cells;
mod table;
mod trial_run;

use std::sync::atomic::{AtomicUsize, Ordering};

use iosonde_model::{Outcome, Run};

pub use cells::{Cell, cells};
pub use table::table;

use crate::failure::Failure;

/// What a cell came to.
#[derive(Debug, Clone)]
pub struct Score {
    /// Runs.
    pub runs: usize,
    /// Runs of which the check said what it should.
    pub caught: usize,
    /// Runs of which some other check said something, or, of a clean cell, any.
    pub others: usize,
    /// Trials that were void.
    pub void_trials: usize,
    /// One sentence of a check that should not have spoken, or of the one that did.
    pub example: Option<String>,
}

/// Runs every cell for seeds `seed`, `seed + 1`, ..
pub fn scores(cells: &[Cell], seeds: usize, seed: u64) -> Result<Vec<Score>, Failure> {
    let each = |cell: &Cell| -> Result<Score, Failure> {
        let next = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || -> Result<Vec<Run>, Failure> {
            let mut runs = Vec::new();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= seeds {
                    return Ok(runs);
                }
                let mut run = trial_run::run(cell, seed.wrapping_add(place as u64))?;
                // What is counted needs no course of the rates.
                run.trials.iter_mut().for_each(|trial| trial.windows.clear());
                runs.push(run);
            }
        };
        let done: Vec<Result<Vec<Run>, Failure>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
        });
        let runs = done.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(score(cell, &runs.concat()))
    };
    cells.iter().map(each).collect()
}

/// What counts of a run: every doubt and void about its validity. Too few samples is said of a short run, and true.
fn troubles(run: &Run) -> impl Iterator<Item = &iosonde_model::Judgement> {
    run.verdicts.iter().filter(|line| line.verdict >= Outcome::Doubt && line.check != "too-few-samples")
}

fn score(cell: &Cell, runs: &[Run]) -> Score {
    let own = |line: &&iosonde_model::Judgement| {
        line.check == cell.check && (!cell.void || line.verdict == Outcome::Void)
    };
    let known = |line: &iosonde_model::Judgement| {
        cell.check == line.check || cell.also.contains(&line.check.as_str())
    };
    let caught: Vec<_> = runs.iter().filter_map(|run| troubles(run).find(own)).collect();
    let wrong: Vec<_> = runs.iter().filter_map(|run| troubles(run).find(|line| !known(line))).collect();
    let void = runs.iter().flat_map(|run| &run.verdicts);
    let void = void.filter(|line| line.verdict == Outcome::Void && line.scope == "trial");
    let told = wrong.first().or(caught.first()).map(|line| format!("{}: {}", line.check, line.why));
    Score {
        runs: runs.len(),
        caught: caught.len(),
        others: wrong.len(),
        void_trials: void.count(),
        example: told,
    }
}

//! The work of a selftest: every cell's runs, on all processors.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Cell, Kept, Score, trial_run};
use crate::failure::Failure;

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

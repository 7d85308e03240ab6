//! `iosonde selftest`: the program's own error rates, on simulated devices whose truth is known.

use crate::{args::SelftestArgs, failure::Failure, screen::Screen, selftest};

/// Seeds of a cell in the quick form: enough to see a check that has gone blind, or one that cries wolf.
const QUICK_SEEDS: usize = 2;
/// Of the effects that must be caught in 95 %; a quick form of a few runs a cell allows this share over all.
const CAUGHT_MIN: f64 = 0.9;
/// Of clean runs.
const FALSE_MAX: f64 = 0.1;

/// Runs the cells, prints the table, and fails where the bars are missed.
pub fn run(args: &SelftestArgs, screen: Screen) -> Result<(), Failure> {
    let seeds = args.seeds.unwrap_or(QUICK_SEEDS);
    let mut cells = selftest::cells(args.seeds.is_some());
    if let Some(text) = &args.cells {
        cells.retain(|cell| cell.check.contains(text.as_str()) || cell.name.contains(text.as_str()));
    }
    if cells.is_empty() {
        let text = args.cells.as_deref().unwrap_or_default();
        return Err(Failure::usage(format!("no cell of the selftest has `{text}` in its check or name")));
    }
    screen.say(&format!("selftest      {} cells of {seeds} runs each, seed {}", cells.len(), args.seed));
    let scores = selftest::scores(&cells, seeds, args.seed)?;
    screen.result(&selftest::table(&cells, &scores))?;
    let sum = |clean: bool, count: fn(&selftest::Score) -> usize| -> f64 {
        let own = cells.iter().zip(&scores).filter(|(cell, _)| cell.check.is_empty() == clean && cell.stated);
        own.map(|(_, score)| count(score)).sum::<usize>() as f64
    };
    if screen.verbose {
        for (cell, score) in cells.iter().zip(&scores) {
            screen.say(&format!(
                "{:14}{}",
                cell.name,
                score.example.as_deref().unwrap_or("nothing was said")
            ));
        }
    }
    let (clean, stated) = (sum(true, |score| score.runs), sum(false, |score| score.runs));
    let false_share = sum(true, |score| score.others) / clean.max(1.0);
    let caught_share = sum(false, |score| score.caught) / stated.max(1.0);
    if (clean > 0.0 && false_share > FALSE_MAX) || (stated > 0.0 && caught_share < CAUGHT_MIN) {
        let (false_share, caught_share) = (100.0 * false_share, 100.0 * caught_share);
        return Err(Failure::failed(format!(
            "the checks are not what they should be: {false_share:.1} % of clean runs are doubted, {caught_share:.1} % \
             of effects are caught; --verbose tells of each"
        )));
    }
    Ok(())
}

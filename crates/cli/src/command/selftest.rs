//! `iosonde selftest`: the program's own error rates, on simulated devices whose truth is known.

use crate::{
    args::SelftestArgs,
    failure::Failure,
    screen::Screen,
    selftest::{self, Kept},
};

/// Seeds of a cell in the quick form: enough to see a check that has gone blind, or one that cries wolf.
const QUICK_SEEDS: usize = 8;

/// Runs the cells, prints the table, and fails where the bars are missed.
pub fn run(args: &SelftestArgs, screen: Screen) -> Result<(), Failure> {
    let seeds = args.seeds.unwrap_or(QUICK_SEEDS);
    let mut cells = selftest::cells(args.seeds.is_some());
    if let Some(text) = &args.cells {
        let named = |name: &str| name.contains(text.as_str());
        // Clean devices have no check that must speak.
        let clean = text == "clean";
        cells.retain(|cell| named(cell.check_name()) || named(&cell.name) || clean && cell.check.is_none());
    }
    if cells.is_empty() {
        let text = args.cells.as_deref().unwrap_or_default();
        return Err(Failure::usage(format!("no cell of the selftest has `{text}` in its check or name")));
    }
    screen.say(&format!("selftest      {} cells of {seeds} runs each, seed {}", cells.len(), args.seed));
    let kept = args.keep.as_ref().map(|path| Kept::open(path, &cells, args.seed)).transpose()?;
    if let Some(kept) = kept.as_ref().filter(|kept| kept.count() > 0) {
        screen.say(&format!("goes on       {} runs were kept", kept.count()));
    }
    let scores = selftest::scores(&cells, seeds, args.seed, kept.as_ref())?;
    screen.result(&selftest::table(&cells, &scores))?;
    if screen.verbose {
        for (cell, score) in cells.iter().zip(&scores) {
            screen.say(&format!(
                "{:14}{}",
                cell.name,
                score.example.as_deref().unwrap_or("nothing was said")
            ));
        }
    }
    match selftest::missed(&cells, &scores) {
        missed if missed.is_empty() => Ok(()),
        missed => Err(Failure::failed(format!(
            "the checks are not what they should be; --verbose tells of each:\n{}",
            missed.join("\n")
        ))),
    }
}

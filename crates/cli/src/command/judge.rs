//! `iosonde judge`: another tool's results, and what is wrong with them. Keeps nothing.

use iosonde_model::Outcome;
use iosonde_report::judged;

use crate::{
    args::JudgeArgs,
    failure::{DOUBT, Failure},
    output::{self, result},
    results,
    screen::Screen,
};

/// Judges results.
pub fn run(args: &JudgeArgs, screen: Screen) -> Result<(), Failure> {
    output::check_beside(args.json.as_deref(), args.files.iter().filter_map(|file| file.to_str()), screen)?;
    let (sources, notes) = results::read_all(&args.files)?;
    notes.iter().for_each(|note| screen.say(&format!("note          {note}")));
    let run = results::run_of("judged", sources, "iosonde judge")?;
    match &args.json {
        Some(path) => {
            let text = iosonde_report::json(&run).map_err(Failure::failed)?;
            result(path, &text, screen)?
        }
        None => screen.result(&judged(&run, screen.paint()))?,
    }
    if args.strict && run.verdicts.iter().any(|verdict| verdict.verdict >= Outcome::Warning) {
        return Err(Failure { code: DOUBT, text: "--strict: a verdict is a warning or invalid".into() });
    }
    Ok(())
}

//! `iosonde judge`: another tool's results, and what is wrong with them. Keeps nothing.

use iosonde_model::Outcome;
use iosonde_report::{judged, results_junit};

use crate::{
    args::JudgeArgs,
    failure::{DOUBT, Failure},
    output::{self, result},
    results,
    screen::Screen,
};

/// Judges results.
pub fn run(args: &JudgeArgs, screen: Screen) -> Result<(), Failure> {
    let out = args.json.as_deref().or(args.junit.as_deref());
    output::check_beside(out, args.files.iter().filter_map(|file| file.to_str()), screen)?;
    let (sources, left) = results::read_all(&args.files)?;
    results::say_left(&left, screen);
    let run = results::run_of("judged", sources, "iosonde judge")?;
    let unread = left.iter().map(|file| (file.name.as_str(), file.why.as_str()));
    match (&args.json, &args.junit) {
        (Some(path), _) => {
            let text = iosonde_report::json(&run).map_err(Failure::failed)?;
            result(path, &text, screen)?
        }
        (_, Some(path)) => result(path, &results_junit(&run, args.strict, unread), screen)?,
        _ => screen.result(&judged(&run, screen.paint()))?,
    }
    if let Some(first) = left.first().filter(|_| args.strict) {
        let more = match left.len() {
            1 => String::new(),
            count => format!(" (the first of {count} files)"),
        };
        return Err(Failure::usage(format!("--strict: left aside: {}{more}", first.why)));
    }
    if args.strict && run.verdicts.iter().any(|verdict| verdict.verdict >= Outcome::Warning) {
        return Err(Failure { code: DOUBT, text: "--strict: a verdict is a warning or invalid".into() });
    }
    Ok(())
}

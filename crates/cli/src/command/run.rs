//! `iosonde run`: a study on targets that take turns, kept, judged, concluded and reported.

use std::path::Path;

use iosonde_model::RunState;

use crate::{
    args::{ROUNDS_MIN, RunArgs},
    campaign::{Campaign, plan, repeats, resume::Continued},
    destination::Destination,
    failure::Failure,
    measure, notebook,
    options::Addition,
    output,
    screen::Screen,
};

mod parse;

/// Runs it.
pub fn run(args: &RunArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let destination = Destination {
        out: args.out.clone(),
        json: args.target.json.clone(),
        junit: None,
        strict: args.target.strict,
        // The command that began the repeats shows what they say.
        kept_only: args.part.is_some(),
    };
    if let (Some(repeats), None) = (args.repeats, &args.part) {
        return repeats::run(args, repeats, &destination, store, screen);
    }
    let words = args.words.iter().chain(&args.sheet).chain(&args.like).map(String::as_str);
    destination.check(&output::inputs(words), screen)?;
    if let Some(reference) = &args.add {
        return add(args, reference, &destination, store, screen);
    }
    if let Some(rounds) = args.rounds.filter(|rounds| *rounds < ROUNDS_MIN) {
        return Err(Failure::usage(format!(
            "--rounds lies between {ROUNDS_MIN} and 1000, not {rounds}: an interval needs {ROUNDS_MIN}; fewer can only \
             be added to a finished run, with --add"
        )));
    }
    let spec = parse::campaign(args, &destination, store, &screen)?;
    if args.dry_run {
        return plan::dry_run(&spec, screen);
    }
    Campaign::begin(spec, store, screen)?.run(&destination)
}

/// Further rounds of a finished run.
fn add(
    args: &RunArgs,
    reference: &str,
    destination: &Destination,
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let mut book = notebook::open_to_change(store, &screen)?;
    let id = book.resolve(Some(reference)).map_err(Failure::usage)?;
    // Claimed before it is read: another process that adds to it would otherwise add the same trials.
    let claim = book.claim(&id)?;
    let kept = book.load(&id)?;
    let mut options = parse::options_kept(&kept)?;
    if kept.info.state != RunState::Done {
        return Err(Failure::usage(format!("run {id} is not finished; go on with:  iosonde resume {id}")));
    }
    // As long as the rounds take, where they say how much more.
    let day_ns = 86_400_000_000_000;
    let usual_ns = if args.rounds.is_some() { day_ns } else { options.time_ns };
    let precision = args.precision.unwrap_or(kept.info.precision);
    options.additions.push(Addition {
        time_ns: args.time.unwrap_or(usual_ns),
        precision,
        rounds: args.rounds.map(|rounds| kept.info.rounds + rounds),
        begun_s: Some(measure::measured_s(&kept.trials)),
    });
    screen.say(&format!("adding to     run {id}: {} trials are kept", kept.trials.len()));
    let one = Continued { kept, options, precision, claim };
    Campaign::go_on(&book, one, destination, screen)?.run(destination)
}

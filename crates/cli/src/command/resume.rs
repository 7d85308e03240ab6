//! `iosonde resume`: goes on where a run stopped, with the same seed and so in the same order.

use std::{collections::VecDeque, path::Path};

use iosonde_model::{Medium, Run, RunState, Study};
use iosonde_rig::interrupt;
use iosonde_store::{Notebook, same_storage};

use super::run::{Destination, carry_out, conclude_and_report};
use crate::{
    args::ResumeArgs,
    failure::Failure,
    measure::Measurement,
    notebook,
    screen::Screen,
    session::{self, Asked, Options},
    studies,
};

/// Resumes a run.
pub fn run(args: &ResumeArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let destination =
        Destination { out: args.out.clone(), json: args.json.clone(), strict: args.strict, kept_only: false };
    destination.check()?;
    let mut book = notebook::open_to_change(store, &screen)?;
    let id = match &args.run {
        Some(reference) => book.resolve(Some(reference)).map_err(Failure::usage)?,
        None => book
            .resumable()?
            .ok_or_else(|| Failure::usage("no run was interrupted; `iosonde ls` lists them all"))?,
    };
    let kept = book.load(&id)?;
    if kept.info.state == RunState::Done {
        screen.say(&format!("run {id} is complete; nothing is left to measure"));
        let mut run = notebook::load(&book, Some(&id))?;
        return conclude_and_report(&mut run, None, &destination, screen);
    }
    if kept.info.is_single() {
        return Err(Failure::usage(format!(
            "{id} is a single point, which has nothing to go on with; run it again:  {}",
            kept.info.command
        )));
    }
    let options: Options = serde_json::from_value(kept.info.options.clone()).map_err(|e| {
        Failure::failed(format!("run {id} was kept by another version of iosonde and cannot go on: {e}"))
    })?;
    screen.say(&format!("resuming      run {id}: {} trials are kept", kept.trials.len()));
    go_on(&mut book, kept, &options, &destination, screen)
}

/// Goes on with a kept run, as its options say.
pub fn go_on(
    book: &mut Notebook,
    mut kept: Run,
    options: &Options,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    let lock = book.claim(&kept.info.id)?;
    let study = Study::parse(&kept.info.study_source, &kept.info.study).map_err(Failure::failed)?;
    let target = kept.info.target.clone();
    let asked = Asked { command: "iosonde run", writes: studies::writes(&study)? };
    let session = session::open(&target, options, asked, &mut notebook::Strays(book))?;
    let simulated = session.device.medium == Medium::Simulated;
    let settle = !simulated && same_storage(book.path(), Path::new(&target));
    let (replay, elapsed_before_s) = if simulated {
        (VecDeque::from(std::mem::take(&mut kept.trials)), 0.0)
    } else {
        (VecDeque::new(), kept.info.elapsed_s)
    };
    if simulated {
        kept.info.bytes_written = 0;
    }
    kept.info.device = session.device.clone();
    kept.info.host = session.host.clone();
    let mut measurement = Measurement {
        options,
        session,
        notebook: book,
        run: Run::new(kept.info, kept.trials),
        stop: interrupt::catch(),
        screen,
        settle,
        replay,
        elapsed_before_s,
    };
    measurement.note_state(RunState::Running)?;
    let outcome = carry_out(&mut measurement, &study, destination);
    drop(lock);
    outcome
}

//! `iosonde resume`: goes on where a run stopped, with the same seed and so in the same order.

use std::{collections::VecDeque, path::Path};

use iosonde_model::{Medium, Run, RunInfo, RunState, Study};
use iosonde_store::{Notebook, RunLock};

use super::run::{Destination, carry_out, conclude_and_report};
use crate::{
    args::ResumeArgs,
    failure::{Failure, INTERRUPTED},
    measure::Measurement,
    notebook,
    screen::Screen,
    session::{self, Asked, Options, Session},
    studies,
};

/// Resumes a run.
pub fn run(args: &ResumeArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let destination =
        Destination { out: args.out.clone(), json: args.json.clone(), strict: args.strict, kept_only: false };
    destination.check(None)?;
    let mut book = notebook::open_to_change(store, &screen)?;
    let id = match &args.run {
        Some(reference) => book.resolve(Some(reference)).map_err(Failure::usage)?,
        None => book
            .resumable()?
            .ok_or_else(|| Failure::usage("no run was interrupted; `iosonde ls` lists them all"))?,
    };
    if !book.info(&id)?.in_turn_with.is_empty() {
        return super::targets::resume(&mut book, &id, &destination, screen);
    }
    // Claimed before it is read, or another process might go on with the same trials.
    let claim = book.claim(&id)?;
    let kept = book.load(&id)?;
    if kept.info.state == RunState::Done {
        screen.say(&format!("run {id} is complete; nothing is left to measure"));
        let mut run = notebook::load(&book, Some(&id))?;
        return conclude_and_report(&mut run, None, &destination, screen);
    }
    if kept.info.study_source.is_empty() {
        return Err(Failure::usage(format!(
            "{id} is a single point or a search, which has nothing to go on with; run it again:  {}",
            kept.info.command
        )));
    }
    let options: Options = serde_json::from_value(kept.info.options.clone()).map_err(|e| {
        Failure::failed(format!("run {id} was kept by another version of iosonde and cannot go on: {e}"))
    })?;
    screen.say(&format!("resuming      run {id}: {} trials are kept", kept.trials.len()));
    let precision = kept.info.precision;
    go_on(&mut book, Continued { kept, options, precision, claim }, &destination, screen)
}

/// A kept run that goes on.
pub struct Continued {
    /// The run as it was kept.
    pub kept: Run,
    /// How it goes on.
    pub options: Options,
    /// Half an interval's width, as a share.
    pub precision: f64,
    /// Nobody else goes on with it meanwhile.
    pub claim: RunLock,
}

/// Goes on with a kept run, as its options say. Where nothing comes of it, the run stays as it was.
pub fn go_on(
    book: &mut Notebook,
    continued: Continued,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    let Continued { kept, options, precision, claim } = continued;
    destination.check(Some(&kept.info.target))?;
    let (before, trials_before) = (kept.info.clone(), kept.trials.len());
    let study = Study::parse(&kept.info.study_source, &kept.info.study).map_err(Failure::failed)?;
    let mut measurement = opened_again(book, kept, &options, precision, screen)?;
    measurement.note_state(RunState::Running)?;
    let outcome = carry_out(&mut measurement, &study, destination);
    let nothing_new = measurement.run.trials.len() <= trials_before;
    if outcome.as_ref().is_err_and(|failure| failure.code != INTERRUPTED) && nothing_new {
        measurement.notebook.update(&before)?;
    }
    drop(claim);
    outcome
}

/// A kept run on its target, as it stood.
pub(super) fn opened_again<'a>(
    book: &'a mut Notebook,
    mut kept: Run,
    options: &'a Options,
    precision: f64,
    screen: Screen,
) -> Result<Measurement<'a>, Failure> {
    let study = Study::parse(&kept.info.study_source, &kept.info.study).map_err(Failure::failed)?;
    let asked = Asked { command: "iosonde run", writes: studies::writes(&study)? };
    let session = session::open(&kept.info.target, options, asked, &mut notebook::Strays(book))?;
    refuse_another_file(&kept.info, options, &session)?;
    let simulated = session.device.medium == Medium::Simulated;
    let (replay, elapsed_before_s) = if simulated {
        (VecDeque::from(std::mem::take(&mut kept.trials)), 0.0)
    } else {
        (VecDeque::new(), kept.info.elapsed_s)
    };
    // A run that ended while it was being prepared begins that anew. A simulated device is as large as it was, unless
    // others that took turns with it were smaller.
    let shared = replay.iter().filter(|_| !kept.info.in_turn_with.is_empty());
    let begun = shared.chain(&kept.trials).any(|trial| trial.round > 0);
    let prepared_before_bytes = begun.then_some(kept.info.device.working_set_bytes);
    if simulated {
        kept.info.bytes_written = 0;
    }
    kept.info.precision = precision;
    kept.info.options = serde_json::to_value(options).map_err(Failure::failed)?;
    kept.info.device = session.device.clone();
    kept.info.host = session.host.clone();
    let fresh = Measurement::new(options, session, book, kept, screen);
    Ok(Measurement { prepared_before_bytes, replay, elapsed_before_s, ..fresh })
}

/// The word to overwrite was given for one file, and holds for no other that has its name now.
fn refuse_another_file(run: &RunInfo, options: &Options, session: &Session) -> Result<(), Failure> {
    if options.destroy.is_none() || options.destroyed == session.identity {
        return Ok(());
    }
    let (id, target) = (&run.id, &run.target);
    Err(Failure::usage(format!(
        "{target} is not the file that run {id} was told to overwrite; to overwrite this one:  iosonde run --like {id} \
         {target} --destroy"
    )))
}

//! A campaign that goes on: from the notebook, with the same seeds and so in the same order.

use std::collections::VecDeque;

use iosonde_model::{Medium, Run, RunInfo, RunState, Study};
use iosonde_store::{Notebook, RunLock};

use super::{Campaign, turn::Turn};
use crate::{
    destination::Destination,
    failure::Failure,
    joined,
    measure::{Measurement, book::Book},
    notebook,
    options::Options,
    output,
    screen::Screen,
    session::{Asked, Session},
    studies,
};

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

impl Campaign {
    /// The campaign of a run with all runs that took turns with it; those that have not ended go on.
    pub fn resume(
        mut book: Notebook,
        id: &str,
        destination: &Destination,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let first = book.info(id)?;
        let members: Vec<&String> = std::iter::once(&first.id).chain(&first.in_turn_with).collect();
        let alone = first.in_turn_with.is_empty();
        let listed = book.list()?.into_iter().rev().map(|run| run.id);
        let ids: Vec<String> = listed.filter(|id| members.contains(&id)).collect();
        let mut open = Vec::new();
        for id in &ids {
            // Claimed before it is read, or another process might go on with the same trials.
            let claim = book.claim(id)?;
            let kept = book.load(id)?;
            if kept.info.state == RunState::Done {
                continue;
            }
            if kept.info.study_source.is_empty() {
                return Err(Failure::usage(format!(
                    "{id} is a single point or a search, which has nothing to go on with; run it again:  {}",
                    kept.info.command
                )));
            }
            let options = Options::kept(&kept, "cannot go on")?;
            let which = if alone { id.clone() } else { format!("{id}, {}", kept.info.target) };
            screen.say(&format!("resuming      run {which}: {} trials are kept", kept.trials.len()));
            open.push(Continued { precision: kept.info.precision, kept, options, claim });
        }
        if open.is_empty() {
            let which = if alone { format!("run {id} is") } else { "these runs are".to_owned() };
            screen.say(&format!("{which} complete; nothing is left to measure"));
        }
        Self::opened(&book, ids, open, alone, destination, screen)
    }

    /// Continues one run, alone or with those that it took turns with.
    pub fn go_on(
        book: &Notebook,
        one: Continued,
        destination: &Destination,
        screen: Screen,
    ) -> Result<Self, Failure> {
        Self::opened(book, vec![one.kept.info.id.clone()], vec![one], true, destination, screen)
    }

    fn opened(
        book: &Notebook,
        ids: Vec<String>,
        open: Vec<Continued>,
        alone: bool,
        destination: &Destination,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let (mut turns, mut lost) = (Vec::new(), Vec::new());
        for one in open {
            destination.check(&output::inputs([one.kept.info.target.as_str()]), screen)?;
            let own = Notebook::open(book.path()).map_err(Failure::usage)?;
            let id = one.kept.info.id.clone();
            match opened_again(own, one, alone, screen) {
                Ok(turn) => turns.push(turn),
                // A target that is gone holds up no other, and its run stays as it was.
                Err(failure) if !alone => {
                    Screen::complain(&format!("run {id} cannot go on: {}", failure.text));
                    lost.push(id);
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(Self { notebook: book.path().to_owned(), ids, lost, turns, alone, screen })
    }
}

/// A kept run on its target, as it stood.
fn opened_again(
    mut book: Notebook,
    continued: Continued,
    alone: bool,
    screen: Screen,
) -> Result<Turn, Failure> {
    let Continued { mut kept, options, precision, claim } = continued;
    let before = (kept.info.clone(), kept.trials.len());
    let study = Study::parse(&kept.info.study_source, &kept.info.study).map_err(Failure::failed)?;
    let apart = notebook::files(book.path());
    let asked = Asked {
        command: "iosonde run",
        writes: studies::writes(&study)?,
        apart: &apart,
        workers: studies::workers(&study)?,
        place: None,
    };
    let session = joined::open(&kept.info.target, &options, asked, &mut notebook::Strays(&mut book))?;
    refuse_another_file(&kept.info, &options, &session)?;
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
    kept.info.options = serde_json::to_value(&options).map_err(Failure::failed)?;
    kept.info.device = session.device.clone();
    kept.info.host = session.host.clone();
    let fresh = Measurement::new(options, session, Some(Book::new(book, claim)), kept, screen);
    let mut measurement = Measurement { prepared_before_bytes, replay, elapsed_before_s, ..fresh };
    measurement.note_state(RunState::Running)?;
    Ok(Turn::new(measurement, study, alone, Some(before)))
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

//! Workloads that are measured once each: a point, or the jobs of a fio job file.

use std::path::PathBuf;

use iosonde_model::{Run, RunState, fio::FioJobs};
use iosonde_store::Notebook;

use crate::{
    failure::{Failure, INTERRUPTED},
    measure::{Measurement, book::Book, info::new_info},
    notebook,
    options::Options,
    screen::Screen,
    session::Session,
};

/// What the run is called in the notebook.
pub struct Titles {
    /// Name in place of a study's.
    pub study: &'static str,
    /// The user's name for it.
    pub label: Option<String>,
    /// The user's note.
    pub note: Option<String>,
    /// The jobs, where they came from fio.
    pub fio: Option<FioJobs>,
}

/// Begins a run on an open target; returns it with the path of its notebook.
pub fn begin(
    target: &str,
    titles: Titles,
    options: Options,
    (session, mut book): (Session, Notebook),
    screen: Screen,
) -> Result<(Measurement, PathBuf), Failure> {
    let id = notebook::new_id(&book, &session, options.seed)?;
    let mut info = new_info(id, target, &options, &session);
    info.study = titles.study.into();
    (info.label, info.note, info.fio) = (titles.label, titles.note, titles.fio);
    for note in &info.device.notes {
        screen.say(&format!("note          {}", iosonde_report::note(note)));
    }
    let lock = book.begin(&info)?;
    let run = Run::new(info, Vec::new());
    let path = book.path().to_owned();
    Ok((Measurement::new(options, session, Some(Book::new(book, lock)), run, screen), path))
}

/// Measures and writes down how it ended.
pub fn measured(
    mut measurement: Measurement,
    measure: impl FnOnce(&mut Measurement) -> Result<(), Failure>,
) -> Result<Run, Failure> {
    let measured = measure(&mut measurement);
    measurement.note_state(match &measured {
        Ok(()) => RunState::Done,
        Err(failure) if failure.code == INTERRUPTED => RunState::Interrupted,
        Err(_) => RunState::Failed,
    })?;
    measured.map_err(|failure| match failure.code {
        INTERRUPTED => {
            Failure { text: "interrupted; a workload that did not end is not kept".into(), ..failure }
        }
        _ => failure,
    })?;
    Ok(measurement.run)
}

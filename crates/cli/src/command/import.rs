//! `iosonde import`: runs of another machine, and other tools' results, into the notebook.

use std::path::{Path, PathBuf};

use iosonde_model::Run;
use iosonde_report::text::imported::{headline, kept};
use iosonde_store::{Notebook, holds_run, read_run};

use crate::{args::ImportArgs, failure::Failure, notebook, results, screen::Screen};

/// Keeps runs and results.
pub fn run(args: &ImportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let (runs, others): (Vec<PathBuf>, Vec<PathBuf>) =
        args.files.iter().cloned().partition(|path| holds_run(path));
    let runs = runs.iter().map(|path| read_run(path).map_err(Failure::usage));
    let runs = runs.collect::<Result<Vec<Run>, _>>()?;
    let (sources, left) = results::read_all(&others)?;
    results::say_left(&left, screen);
    let mut book = notebook::open(store, &screen)?;
    for mut run in runs {
        let id = run.info.id.clone();
        if !book.id_is_free(&id)? {
            return Err(Failure::usage(format!(
                "{id} is in the notebook already; see it with  iosonde show {id}"
            )));
        }
        let text = kept(&run);
        keep(&mut book, &mut run, args, &text, screen)?;
    }
    for source in sources {
        let name = source.name.clone();
        let command = format!("iosonde import {name}");
        let mut run = results::run_of(&book.fresh_id()?, vec![source], &command)?;
        let text = headline(&run, &name);
        keep(&mut book, &mut run, args, &text, screen)?;
    }
    Ok(())
}

/// Writes a run whole or not at all.
fn keep(
    book: &mut Notebook,
    run: &mut Run,
    args: &ImportArgs,
    text: &str,
    screen: Screen,
) -> Result<(), Failure> {
    // The user's own name and note stay where no other is given.
    run.info.label = args.label.clone().or(run.info.label.take());
    run.info.note = args.note.clone().or(run.info.note.take());
    let id = &run.info.id;
    let written = {
        let _lock = book.begin(&run.info)?;
        let appended = run.trials.iter().try_for_each(|trial| book.append(id, trial));
        appended.and_then(|()| book.update(&run.info))
    };
    if let Err(error) = written {
        book.remove(&[id])?;
        return Err(error.into());
    }
    screen.result(&format!("{id}  {text}  (iosonde show {id})\n"))
}

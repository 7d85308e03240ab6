//! `iosonde import`: another tool's results into the notebook, a run for each file.

use std::path::Path;

use iosonde_report::text::imported::headline;

use crate::{args::ImportArgs, failure::Failure, notebook, results, screen::Screen};

/// Keeps results.
pub fn run(args: &ImportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let (sources, notes) = results::read_all(&args.files)?;
    notes.iter().for_each(|note| screen.say(&format!("note          {note}")));
    let mut book = notebook::open(store, &screen)?;
    for source in sources {
        let name = source.name.clone();
        let command = format!("iosonde import {name}");
        let mut run = results::run_of(&book.fresh_id()?, vec![source], &command)?;
        (run.info.label, run.info.note) = (args.label.clone(), args.note.clone());
        let _lock = book.begin(&run.info)?;
        for trial in &run.trials {
            book.append(&run.info.id, trial)?;
        }
        book.update(&run.info)?;
        let id = &run.info.id;
        screen.result(&format!("{id}  {}  (iosonde show {id})\n", headline(&run, &name)))?;
    }
    Ok(())
}

//! `iosonde resume`: goes on where a run stopped, and with all runs that took turns with it.

use std::path::Path;

use crate::{
    args::ResumeArgs, campaign::Campaign, destination::Destination, failure::Failure, notebook,
    screen::Screen,
};

/// Resumes a run.
pub fn run(args: &ResumeArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let destination = Destination {
        out: args.out.clone(),
        json: args.json.clone(),
        junit: None,
        strict: args.strict,
        kept_only: false,
    };
    destination.check(&[], screen)?;
    let book = notebook::open_to_change(store, &screen)?;
    let id = match &args.run {
        Some(reference) => book.resolve(Some(reference)).map_err(Failure::usage)?,
        None => book
            .resumable()?
            .ok_or_else(|| Failure::usage("no run was interrupted; `iosonde ls` lists them all"))?,
    };
    Campaign::resume(book, &id, &destination, screen)?.run(&destination)
}

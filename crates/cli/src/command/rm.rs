//! `iosonde rm`: removes runs from the notebook; all of them, or none if one is not there or under way.

use std::path::Path;

use crate::{args::RmArgs, failure::Failure, notebook, screen::Screen};

/// Removes runs.
pub fn run(args: &RmArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let mut notebook = notebook::open_to_change(store, &screen)?;
    let ids: Result<Vec<_>, _> =
        args.runs.iter().map(|reference| notebook.resolve(Some(reference))).collect();
    let mut ids = ids.map_err(Failure::usage)?;
    let mut named = std::collections::HashSet::new();
    // One run under two names is one run.
    ids.retain(|id| named.insert(id.clone()));
    notebook.remove(&ids)?;
    for id in ids {
        screen.say(&format!("removed       {id}"));
    }
    Ok(())
}

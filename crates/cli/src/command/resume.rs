//! `iosonde resume`: goes on where a run stopped, and with all runs that took turns with it.

use std::path::Path;

use iosonde_model::RunState;
use iosonde_store::RunSummary;

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
        None => book.resumable()?.ok_or_else(|| nothing_to_resume(&book.list().unwrap_or_default()))?,
    };
    Campaign::resume(book, &id, &destination, screen)?.run(&destination)
}

/// A run whose host 0 still closes its notebook looks like one that was forgotten.
fn nothing_to_resume(runs: &[RunSummary]) -> Failure {
    let under_way = runs.iter().find(|run| run.state == RunState::Running);
    let but = under_way.map(|run| format!(", and run {} is still under way", run.id)).unwrap_or_default();
    Failure::usage(format!("no run was interrupted{but}; `iosonde ls` lists them all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_is_under_way_is_named_where_none_can_go_on() {
        let run = |state| RunSummary {
            id: "16cacd".into(),
            label: None,
            note: None,
            study: "quick".into(),
            target: "./".into(),
            device: None,
            started_at: "2026-11-27T10:30:00Z".into(),
            kept_at: None,
            elapsed_s: 7.0,
            state,
            trials: 7,
            bytes_written: 0,
        };
        let said = |runs: &[RunSummary]| nothing_to_resume(runs).text;
        assert_eq!(said(&[run(RunState::Done)]), "no run was interrupted; `iosonde ls` lists them all");
        assert!(
            said(&[run(RunState::Done), run(RunState::Running)]).contains("run 16cacd is still under way")
        );
    }
}

//! `iosonde ls`: the notebook of runs, newest first.

use std::path::Path;

use iosonde_model::units;

use crate::{args::LsArgs, failure::Failure, notebook, screen::Screen};

/// Lists the runs.
pub fn run(args: &LsArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let runs = notebook::open(store, &screen)?.list()?;
    if args.json {
        let text = serde_json::to_string_pretty(&runs).map_err(Failure::failed)?;
        return screen.result(&format!("{text}\n"));
    }
    if runs.is_empty() {
        screen.say("the notebook is empty; begin with:  iosonde run quick ./");
        return Ok(());
    }
    let mut text =
        String::from("run     started              study         state        trials  time         target\n");
    for run in runs {
        let started = run.started_at.get(..19).unwrap_or(&run.started_at).replace('T', " ");
        let label = run.label.map_or_else(String::new, |label| format!("  [{label}]"));
        text += &format!(
            "{:7} {started:20} {:13} {:12} {:>6}  {:12} {}{label}\n",
            run.id,
            run.study,
            run.state,
            run.trials,
            units::duration(run.elapsed_s),
            run.target,
        );
    }
    screen.result(&text)
}

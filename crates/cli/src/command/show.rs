//! `iosonde show`: a run again, as it was shown at its end.

use std::path::Path;

use iosonde_infer::compare;
use iosonde_model::Run;
use iosonde_report::{terminal, text};

use crate::{
    args::ShowArgs,
    failure::Failure,
    notebook,
    output::{self, result},
    screen::Screen,
    sides,
};

/// Shows a run.
pub fn run(args: &ShowArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    output::check_beside(args.json.as_deref(), args.run.as_deref(), screen)?;
    let run = notebook::find(store, &screen, args.run.as_deref())?;
    if let Some(path) = &args.json {
        let text = iosonde_report::json(&run).map_err(Failure::failed)?;
        return result(path, &text, screen);
    }
    let paint = screen.paint();
    screen.result(&if run.info.is_imported() {
        iosonde_report::judged(&run, paint)
    } else if run.info.fio.is_some() {
        terminal::jobs(&run, screen.verbose, paint)
    } else if run.info.study == "point" {
        terminal::trial(&run, screen.verbose, paint)
    } else {
        let page = format!("\nreport    `iosonde report {}`\n", run.info.id);
        terminal::summary(&run, paint) + &series(&run, store, screen)? + &page
    })
}

/// Where the run is one of several repeats: which, how far they lie apart, and what takes them all.
fn series(run: &Run, store: Option<&Path>, screen: Screen) -> Result<String, Failure> {
    let Some(repeat) = run.info.repeat else { return Ok(String::new()) };
    let Some(side) = sides::load(store, &screen, &[&run.info.id])?.pop() else { return Ok(String::new()) };
    let ids: Vec<&str> = side.runs.iter().map(|run| run.info.id.as_str()).collect();
    let said = text::series(repeat, &ids, compare::scatter(&side).as_ref());
    Ok(format!("\n{}", iosonde_report::paragraph(&said, screen.paint())))
}

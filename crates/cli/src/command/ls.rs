//! `iosonde ls`: the notebook of runs, newest first.

use std::path::Path;

use iosonde_model::units;
use iosonde_report::clean;
use iosonde_store::RunSummary;

use crate::{args::LsArgs, failure::Failure, notebook, screen::Screen};

/// The heads of the columns; the last one is as wide as it needs.
const HEADS: [&str; 7] = ["run", "started (UTC)", "study", "state", "trials", "time", "target"];
/// Where numbers stand, which end alike instead of beginning alike.
const TRIALS: usize = 4;

/// Lists the runs.
pub fn run(args: &LsArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let path = notebook::path(store)?;
    // Where there is no notebook yet there are no runs: nothing went wrong. An empty file is one that nothing was
    // ever written to.
    let missing =
        std::fs::metadata(&path).map_or_else(|_| !path.exists(), |found| found.is_file() && found.len() == 0);
    let runs = if missing { Vec::new() } else { notebook::open_existing(store, &screen)?.list()? };
    if args.json {
        let text = serde_json::to_string_pretty(&runs).map_err(Failure::failed)?;
        return screen.result(&format!("{text}\n"));
    }
    if runs.is_empty() {
        let path = path.display();
        screen.say(&match missing {
            true => format!("there is no notebook of runs yet at {path}; the first run makes it:"),
            false => format!("the notebook {path} holds no runs yet; begin with:"),
        });
        screen.say("  iosonde run quick ./");
        return Ok(());
    }
    screen.result(&table(&runs))
}

fn table(runs: &[RunSummary]) -> String {
    let rows: Vec<[String; 7]> = runs.iter().map(row).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([HEADS[column].len()]).max().unwrap_or(0)
    };
    let widths: [usize; 7] = std::array::from_fn(width);
    let heads = HEADS.map(str::to_owned);
    std::iter::once(&heads).chain(&rows).map(|row| line(row, &widths)).collect()
}

fn line(row: &[String; 7], widths: &[usize; 7]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| match column {
        TRIALS => format!("{cell:>width$}"),
        _ => format!("{cell:width$}"),
    });
    format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
}

fn row(run: &RunSummary) -> [String; 7] {
    let label = run.label.as_ref().map_or_else(String::new, |label| format!("  [{label}]"));
    [
        run.id.clone(),
        started(run),
        run.study.clone(),
        run.state.to_string(),
        run.trials.to_string(),
        units::duration(run.elapsed_s),
        // A name with a line break in it must not break the table.
        clean(&format!("{}{label}", run.target)),
    ]
}

/// The clock of a simulated run began in 1970 in earlier versions; what its reader looks for is the day on which it was
/// made.
fn started(run: &RunSummary) -> String {
    let simulated = run.target.starts_with("sim:");
    match if simulated { run.kept_at.as_deref() } else { Some(run.started_at.as_str()) } {
        Some(moment) => moment.get(..19).unwrap_or(moment).replace('T', " "),
        None => "(virtual)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::RunState;

    fn summary(target: &str, kept_at: Option<&str>) -> RunSummary {
        RunSummary {
            id: "7f3a91".into(),
            label: None,
            note: None,
            study: "quick".into(),
            target: target.into(),
            device: None,
            started_at: "1970-01-01T00:00:00Z".into(),
            kept_at: kept_at.map(str::to_owned),
            elapsed_s: 90.0,
            state: RunState::Done,
            trials: 104,
            bytes_written: 0,
        }
    }

    #[test]
    fn a_simulated_run_shows_the_day_on_which_it_was_made() {
        let known = table(&[summary("sim:ideal", Some("2026-11-21T10:30:00Z"))]);
        assert!(known.contains("2026-11-21 10:30:00") && !known.contains("1970"), "{known}");
        let unknown = table(&[summary("sim:ideal", None)]);
        assert!(unknown.contains("(virtual)") && !unknown.contains("1970"), "{unknown}");
        // A machine whose clock is wrong is shown as it is.
        assert!(table(&[summary("/data", Some("2026-11-21T10:30:00Z"))]).contains("1970-01-01 00:00:00"));
    }

    #[test]
    fn columns_fit_what_is_in_them_and_names_stay_on_their_line() {
        let runs =
            [summary("./", None), RunSummary { study: "a-study-of-mine".into(), ..summary("a\nb", None) }];
        let text = table(&runs);
        let places: Vec<_> = text.lines().map(|line| line.find("done").or(line.find("state"))).collect();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(places.iter().all(|place| *place == places[0] && place.is_some()), "{text}");
    }
}

//! `iosonde compare`: runs side by side, point by point.

use std::path::Path;

use iosonde_infer::compare;
use iosonde_infer::compare::FIGURES;
use iosonde_infer::compare::Question;
use iosonde_model::nearest;

use crate::{args::CompareArgs, failure::Failure, output::result, screen::Screen, sides};

/// Compares every run with the first, or with the baseline.
pub fn run(args: &CompareArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let question =
        Question { figure: figure(&args.figure)?, margin: args.margin, confidence: args.confidence };
    let references: Vec<&String> = args.baseline.iter().chain(&args.runs).collect();
    let mut sides = sides::load(store, &screen, &references)?;
    if args.baseline.is_some() {
        // The baseline may stand among the runs, too.
        let baseline = sides[0].runs[0].info.id.clone();
        let mut first = true;
        sides
            .retain(|side| std::mem::take(&mut first) || side.runs.iter().all(|run| run.info.id != baseline));
    }
    let compared = compare::compare(&sides, &question).map_err(Failure::usage)?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&compared).map_err(Failure::failed)? + "\n";
        result(path, &text, screen)?
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        screen.result(&iosonde_report::comparison(&compared, screen.paint()))?;
    }
    sides::slower(&compared).filter(|_| args.strict).map_or(Ok(()), Err)
}

fn figure(name: &str) -> Result<usize, Failure> {
    let names = FIGURES.map(|(name, _)| name);
    FIGURES.iter().position(|(known, _)| *known == name).ok_or_else(|| {
        let meant = nearest(name, names).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Failure::usage(format!("`{name}` cannot be compared: {} can{meant}", names.join(", ")))
    })
}

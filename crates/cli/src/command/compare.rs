//! `iosonde compare`: runs side by side, point by point.

use std::path::Path;

use iosonde_infer::compare;
use iosonde_infer::compare::Question;
use iosonde_report::text;

use crate::{
    args::CompareArgs,
    failure::Failure,
    output::{self, result},
    screen::Screen,
    sides,
};

/// Compares every run with the first, or with the baseline.
pub fn run(args: &CompareArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let question = Question {
        figure: args.figure.parse().map_err(Failure::usage)?,
        margin: args.margin,
        confidence: args.confidence,
        over: args.over,
    };
    let references: Vec<&String> = args.baseline.iter().chain(&args.runs).collect();
    output::check_beside(args.json.as_deref(), references.iter().map(|word| word.as_str()), screen)?;
    let mut sides = sides::load(store, &screen, &references)?;
    if args.baseline.is_some() {
        // The baseline may stand among the runs, too.
        let baseline = sides[0].runs[0].info.id.clone();
        let mut first = true;
        sides
            .retain(|side| std::mem::take(&mut first) || side.runs.iter().all(|run| run.info.id != baseline));
    }
    let compared =
        compare::compare(&sides, &question).map_err(|why| Failure::usage(text::compare::nothing(&why)))?;
    if let Some(path) = &args.json {
        let text = iosonde_report::compared_json(&compared).map_err(Failure::failed)?;
        result(path, &text, screen)?
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        screen.result(&iosonde_report::comparison(&sides, &compared, screen.verbose, screen.paint()))?;
    }
    sides::slower(&compared).filter(|_| args.strict).map_or(Ok(()), Err)
}

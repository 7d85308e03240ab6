//! `iosonde compare`: runs side by side, point by point.

use std::path::Path;

use iosonde_lab::compare::{self, FIGURES, Question, Side};
use iosonde_model::{Likeness, Run, RunInfo, RunState, nearest};
use iosonde_report::Paint;
use iosonde_store::Notebook;

use crate::{
    args::CompareArgs,
    failure::{DOUBT, Failure},
    notebook,
    output::write,
    screen::Screen,
};

/// Older runs that are looked at for how much repeats differ; the newest ones.
const HISTORY_MAX: usize = 12;

/// Compares every run with the first, or with the baseline.
pub fn run(args: &CompareArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let question =
        Question { figure: figure(&args.figure)?, margin: args.margin, confidence: args.confidence };
    let notebook = notebook::open_existing(store, &screen)?;
    let mut references: Vec<&String> = args.baseline.iter().chain(&args.runs).collect();
    if args.baseline.is_some() {
        // The baseline may stand among the runs, too.
        let of = |reference: &String| notebook.resolve(Some(reference.as_str())).map_err(Failure::usage);
        let baseline = of(references[0])?;
        let mut kept = vec![references[0]];
        for reference in &references[1..] {
            if of(reference)? != baseline {
                kept.push(reference);
            }
        }
        references = kept;
    }
    let sides: Result<Vec<Side>, Failure> = references.iter().map(|name| side(&notebook, name)).collect();
    let compared = compare::compare(&sides?, &question).map_err(Failure::usage)?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&compared).map_err(Failure::failed)? + "\n";
        if path == Path::new("-") { screen.result(&text)? } else { write(path, text.as_bytes())? }
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        screen.result(&iosonde_report::comparison(
            &compared,
            Paint { color: screen.color, width: screen.width },
        ))?;
    }
    let slower = |pair: &iosonde_model::ComparedPair| {
        pair.geometric_means.iter().any(|mean| mean.verdict == Likeness::Slower)
    };
    let slower = compared.pairs.iter().any(slower)
        || compared.comparisons.iter().any(|line| line.verdict == Likeness::Slower);
    if args.strict && slower {
        return Err(Failure { code: DOUBT, text: "--strict: something is slower with certainty".into() });
    }
    Ok(())
}

fn figure(name: &str) -> Result<usize, Failure> {
    let names = FIGURES.map(|(name, _)| name);
    FIGURES.iter().position(|(known, _)| *known == name).ok_or_else(|| {
        let meant = nearest(name, names).map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Failure::usage(format!("`{name}` cannot be compared: {} can{meant}", names.join(", ")))
    })
}

/// The series of a run; where that is one run, also what older runs say of how much repeats differ.
fn side(notebook: &Notebook, reference: &str) -> Result<Side, Failure> {
    let first = notebook::load(notebook, Some(reference))?;
    let name = first.info.label.clone().unwrap_or_else(|| first.info.id.clone());
    let others: Result<Vec<Run>, Failure> =
        alike(notebook, &first.info)?.into_iter().map(|id| notebook::load(notebook, Some(&id))).collect();
    let (series, history): (Vec<Run>, Vec<Run>) =
        others?.into_iter().partition(|run| head(&run.info) == head(&first.info));
    let mut runs = vec![first];
    runs.extend(series);
    runs.sort_by_key(|run| run.info.repeat);
    Ok(Side { name, runs, history: history.into_iter().take(HISTORY_MAX).collect() })
}

/// The id of the series that a run belongs to.
fn head(info: &RunInfo) -> &str {
    info.series.as_deref().unwrap_or(&info.id)
}

/// Other finished runs of the same study on the same storage of the same machine, the newest first.
fn alike(notebook: &Notebook, info: &RunInfo) -> Result<Vec<String>, Failure> {
    let mut ids = Vec::new();
    for summary in notebook.list()? {
        let candidate =
            summary.study == info.study && summary.state == RunState::Done && summary.id != info.id;
        if candidate && same_storage(info, &notebook.info(&summary.id)?) {
            ids.push(summary.id);
        }
    }
    Ok(ids)
}

fn same_storage(a: &RunInfo, b: &RunInfo) -> bool {
    let storage = |info: &RunInfo| {
        let (device, host) = (&info.device, &info.host);
        (
            (info.target.clone(), info.study_source.clone(), host.name.clone(), host.kernel.clone()),
            (device.kind.clone(), device.name.clone(), device.model.clone(), device.file_system.clone()),
            (device.engine.clone(), device.direct, device.working_set_bytes),
        )
    };
    storage(a) == storage(b)
}

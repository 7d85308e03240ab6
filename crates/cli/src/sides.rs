//! Sides of a comparison: each reference with all its repeats, from the notebook or from a run's file.

use std::path::Path;

use iosonde_infer::compare::Question;
use iosonde_infer::compare::Side;
use iosonde_model::{Compared, ComparedFigure, ComparedUnit, Likeness, Run, RunInfo, RunState};
use iosonde_store::Notebook;

use crate::{
    failure::{DOUBT, Failure},
    notebook,
    screen::Screen,
};

/// Older runs that are looked at for how much repeats differ; the newest ones.
const HISTORY_MAX: usize = 12;

/// A side for each reference, named apart. A file that `export -f run` wrote needs no notebook, and knows of no
/// repeats but itself.
pub fn load(store: Option<&Path>, screen: &Screen, references: &[&String]) -> Result<Vec<Side>, Failure> {
    let mut notebook: Option<Notebook> = None;
    let mut sides = Vec::new();
    for reference in references {
        if Path::new(reference.as_str()).is_file() {
            let run = notebook::find(store, screen, Some(reference.as_str()))?;
            sides.push(Side { name: name(&run), runs: vec![run], history: Vec::new() });
            continue;
        }
        if notebook.is_none() {
            notebook = Some(notebook::open_existing(store, screen)?);
        }
        let notebook = notebook.as_ref().expect("it was opened above");
        sides.push(side(notebook, notebook::load(notebook, Some(reference.as_str()))?)?);
    }
    // A run that is compared tells nothing of how much equal runs differ.
    let compared: Vec<String> =
        sides.iter().flat_map(|side| &side.runs).map(|run| run.info.id.clone()).collect();
    for side in &mut sides {
        side.history.retain(|run| !compared.contains(&run.info.id));
    }
    let one_storage = sides.iter().all(|side| same_storage(&sides[0].runs[0].info, &side.runs[0].info));
    if sides.len() > 1 && one_storage {
        before_all(&mut sides);
    }
    for side in &mut sides {
        side.history.truncate(HISTORY_MAX);
    }
    tell_apart(&mut sides);
    Ok(sides)
}

/// Leaves the history before all sides: what was measured since the earlier one may have changed as well, and would
/// count the change that is asked about as how much equal runs differ.
fn before_all(sides: &mut [Side]) {
    let begun = sides.iter().flat_map(|side| &side.runs).map(|run| run.info.started_at.clone()).min();
    for side in sides {
        side.history.retain(|run| begun.as_ref().is_some_and(|begun| run.info.started_at < *begun));
    }
}

/// Default question: the rate, with a margin of 2 %, at the confidence of the first run.
pub fn usual_question(sides: &[Side]) -> Question {
    let measured = sides[0].runs[0].info.confidence;
    // Another tool's result knows of none.
    Question {
        figure: ComparedFigure::Iops,
        margin: 0.02,
        confidence: if measured > 0.0 { measured } else { 0.95 },
        over: false,
    }
}

/// How `--strict` ends where something is slower, the first of it by name, or where nothing could be compared.
pub fn slower(compared: &Compared) -> Option<Failure> {
    if compared.pairs.iter().all(|pair| pair.geometric_means.is_empty()) {
        return Some(Failure { code: DOUBT, text: "--strict: nothing could be compared".to_owned() });
    }
    let slower = |verdict| verdict == Likeness::Slower;
    let lines = compared.pairs.iter().flat_map(|pair| compared.lines(pair));
    let lines: Vec<_> = lines.filter(|line| slower(line.verdict)).collect();
    let mut means = compared.pairs.iter().flat_map(|pair| &pair.geometric_means);
    let what = match &lines[..] {
        [] => format!("{} taken together", means.find(|mean| slower(mean.verdict))?.of),
        [line] => line.spec.describe(),
        [first, more @ ..] => format!("{}, and {} more", first.spec.describe(), more.len()),
    };
    let one_run_each =
        compared.pairs.iter().all(|pair| (pair.unit, pair.repeats) == (ComparedUnit::Run, [1, 1]));
    let text = match one_run_each {
        true => format!("--strict: slower in these two runs: {what}; --repeats tells how much runs differ"),
        false => format!("--strict: slower with 95 % confidence: {what}"),
    };
    Some(Failure { code: DOUBT, text })
}

/// The label that its user gave it, else what was measured: an id says nothing to anybody.
fn name(run: &Run) -> String {
    run.info.label.clone().unwrap_or_else(|| run.info.target.clone())
}

/// Sides of one name are told apart by their machines, else by their ids.
fn tell_apart(sides: &mut [Side]) {
    let by_host = |side: &Side| {
        let host = side.runs[0].info.host.name.as_deref();
        host.map_or_else(|| side.name.clone(), |host| format!("{} on {host}", side.name))
    };
    let by_id = |side: &Side| format!("{} ({})", side.name, side.runs[0].info.id);
    let hosts: Vec<String> = sides.iter().map(by_host).collect();
    let names: Vec<String> = sides.iter().map(|side| side.name.clone()).collect();
    let is_one = |names: &[String], name: &String| names.iter().filter(|other| *other == name).count() == 1;
    for (place, side) in sides.iter_mut().enumerate().filter(|(place, _)| !is_one(&names, &names[*place])) {
        side.name = if is_one(&hosts, &hosts[place]) { hosts[place].clone() } else { by_id(side) };
    }
}

/// The series of a run; where that is one run, also what older runs say of how much repeats differ.
fn side(notebook: &Notebook, first: Run) -> Result<Side, Failure> {
    let name = name(&first);
    let others: Result<Vec<Run>, Failure> =
        alike(notebook, &first.info)?.into_iter().map(|id| notebook::load(notebook, Some(&id))).collect();
    let (series, history): (Vec<Run>, Vec<Run>) =
        others?.into_iter().partition(|run| head(&run.info) == head(&first.info));
    let mut runs = vec![first];
    runs.extend(series);
    runs.sort_by_key(|run| run.info.repeat);
    Ok(Side { name, runs, history })
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

//! What a campaign has to show: one run, the last of its repeats, or several targets compared.

use std::path::Path;

use iosonde_infer::compare;
use iosonde_infer::compare::{Scattered, Side};
use iosonde_model::{DeviceNote, Run};
use iosonde_report::{FORMATS, paragraph, terminal, text};
use iosonde_store::Notebook;

use crate::{
    destination::{Destination, Shown, default_out, failure_of},
    failure::Failure,
    notebook,
    screen::Screen,
    sides,
};

/// Shows the runs that are done, from the notebook; several are compared, in pairs.
pub fn finish(
    done: &[String],
    failed: &[String],
    path: &Path,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    match done {
        _ if destination.kept_only => {}
        [] => {}
        [id] => {
            let run = notebook::load(&Notebook::open_existing(path).map_err(Failure::usage)?, Some(id))?;
            let then = run.info.against.clone();
            let against = then.map(|then| against(&run, &then, path, screen)).transpose()?;
            let (below, slower) = against.unwrap_or_default();
            show(&run, &below, &notebook::option(path), destination, screen)?;
            let slower = slower.filter(|_| destination.strict);
            failure_of(&run, destination.strict).or(slower).map_or(Ok(()), Err)?;
        }
        ids => {
            let references: Vec<&String> = ids.iter().collect();
            let sides = sides::load(Some(path), &screen, &references)?;
            compared(&sides, &notebook::option(path), destination, screen)?;
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    let failed = failed.join(", ");
    Err(Failure::failed(format!("failed, as said above: {failed}; what was measured of it is kept")))
}

/// The last repeat, and how far all of them lie apart.
pub fn repeats(
    runs: Vec<Run>,
    path: &Path,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    let mut last = runs.last().cloned().ok_or_else(|| Failure::failed("no repeat was run"))?;
    let first = runs[0].info.id.clone();
    let ended = runs.iter().find_map(|run| failure_of(run, destination.strict));
    let spread = compare::scatter(&Side { name: first.clone(), runs, history: Vec::new() });
    let note = spread.map(|Scattered { repeats, run, point }| DeviceNote::RepeatSpread {
        repeats,
        first,
        run_share: run,
        point_share: point,
    });
    let said = note.as_ref().map(|note| paragraph(&iosonde_report::note(note), screen.paint()));
    last.info.device.notes.extend(note);
    let below = said.map_or_else(String::new, |said| format!("\n{said}"));
    show(&last, &below, &notebook::option(path), destination, screen)?;
    ended.map_or(Ok(()), Err)
}

/// A run beside the earlier one that it is compared with: what to say, and how `--strict` ends.
fn against(run: &Run, then: &str, path: &Path, screen: Screen) -> Result<(String, Option<Failure>), Failure> {
    let (then, now) = (then.to_owned(), run.info.id.clone());
    let mut sides = match sides::load(Some(path), &screen, &[&then, &now]) {
        Ok(sides) => sides,
        // The measurement stands, whatever became of the other.
        Err(failure) => return Ok((format!("\nnot compared with run {then}: {}\n", failure.text), None)),
    };
    let before = &sides[0].runs[0].info;
    let day = before.started_at.chars().take(DAY).collect::<String>();
    // One label for both would tell them apart no more than the target does.
    let label = before.label.clone().filter(|_| before.label != run.info.label);
    let named = label.unwrap_or_else(|| format!("{day} ({})", before.id));
    (sides[0].name, sides[1].name) = (named, run.info.label.clone().unwrap_or_else(|| "now".to_owned()));
    let compared = compare::compare(&sides, &sides::usual_question(&sides))
        .map_err(|why| Failure::failed(text::compare::nothing(&why)))?;
    let mut said =
        format!("\n{}", iosonde_report::comparison(&sides, &compared, screen.verbose, screen.paint()));
    if let Some(other) = text::slower_than_then::other_storage(&sides[0].runs[0].info, &run.info) {
        said += &format!("\n{}", paragraph(&other, screen.paint()));
    } else if let Some(remedy) = text::slower_than_then::remedy(run, &compared) {
        said += &format!("\n{}", paragraph(&remedy, screen.paint()));
    }
    // The run's own page has nothing of the other.
    said += &format!("\nboth on one page  iosonde report {then} {now}\n");
    Ok((said, sides::slower(&compared)))
}

/// Letters of `2026-11-23`.
const DAY: usize = 10;

/// One run, and what is to be said under its summary.
fn show(
    run: &Run,
    below: &str,
    store: &str,
    destination: &Destination,
    screen: Screen,
) -> Result<(), Failure> {
    let paint = screen.paint();
    let shown = Shown {
        text: &|| terminal::summary(run, paint) + below,
        // A check is one question: its page is written only with `-o`.
        html: &|| {
            let asked = destination.out.is_some() || text::requirement::of_run(run).is_none();
            Ok(asked.then(|| iosonde_report::html(run).into_bytes()))
        },
        junit: &|| iosonde_report::requirement_junit(run),
        json: &|| iosonde_report::json(run).map_err(Failure::failed),
        name: default_out(run, "html"),
        again: format!("iosonde show {}{store}", run.info.id),
    };
    destination.show(shown, screen)
}

fn compared(sides: &[Side], store: &str, destination: &Destination, screen: Screen) -> Result<(), Failure> {
    let compared = compare::compare(sides, &sides::usual_question(sides))
        .map_err(|why| Failure::failed(text::compare::nothing(&why)))?;
    let paint = screen.paint();
    let ids: Vec<&str> = sides.iter().map(|side| side.runs[0].info.id.as_str()).collect();
    let alone = default_out(&sides[0].runs[0], "html").to_string_lossy().into_owned();
    let html = FORMATS.find("html").map_err(Failure::failed)?;
    let shown = Shown {
        text: &|| iosonde_report::comparison(sides, &compared, screen.verbose, paint),
        html: &|| html.several(sides, &compared).map(Some).map_err(Failure::failed),
        junit: &|| None,
        json: &|| iosonde_report::compared_json(&compared).map_err(Failure::failed),
        name: alone.replace(ids[0], &ids.join("-")).into(),
        again: format!("iosonde compare {}{store}\none alone  iosonde show {}{store}", ids.join(" "), ids[0]),
    };
    destination.show(shown, screen)?;
    let failed = sides.iter().filter_map(|side| failure_of(&side.runs[0], destination.strict));
    let failed = failed.reduce(|a, b| {
        let text = if a.text == b.text { a.text } else { format!("{}; {}", a.text, b.text) };
        Failure { code: a.code.min(b.code), text }
    });
    failed.or_else(|| sides::slower(&compared).filter(|_| destination.strict)).map_or(Ok(()), Err)
}

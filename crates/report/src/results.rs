//! Another tool's results, judged: a table of their figures, then a line each, the worst first, then what was not
//! checked and how to check it.

use crate::text::imported::ResultLine;
use crate::text::imported::across_depths;
use crate::text::imported::headline;
use crate::text::imported::of_all;
use crate::text::imported::result_lines;
use crate::text::imported::unjudged;
use crate::text::imported::would_settle;
use crate::text::validity::Weight;
use iosonde_model::{Run, Trial};

use crate::paint::{Ink, Paint, clean, columns, pad};
use crate::{terminal::results_table, text};

/// The screen for a run of imported results.
pub fn judged(run: &Run, paint: Paint) -> String {
    let lines = result_lines(run);
    let named = lines.len() > 1 && lines.iter().any(|line| !name(line, run).is_empty());
    // A job's name may be as long as a sentence; the workload behind it must be read, and the verdict beside it.
    let room = paint.width / 2;
    let workload = |line: &ResultLine| match name(line, run) {
        name if named && !name.is_empty() => {
            let left = room.saturating_sub(columns(&line.workload) + 2).max(NAME_MIN);
            format!("{}: {}", shortened(&name, left), line.workload)
        }
        _ => line.workload.clone(),
    };
    let named_workload = |line: &ResultLine| clean(&workload(line));
    let widest = lines.iter().map(|line| columns(&named_workload(line))).max().unwrap_or(0);
    let verdicts = lines.iter().map(|line| columns(&line.verdict)).max().unwrap_or(0);
    let mut out = paint.hang("", 0, &clean(&headline(run, &origin(run))));
    out.push('\n');
    let results: Vec<(String, &Trial)> = run
        .trials
        .iter()
        .filter_map(|trial| Some((named_workload(lines.iter().find(|l| l.trial == trial.id)?), trial)))
        .collect();
    let table = results_table(&results, paint);
    if !table.is_empty() {
        out += &table;
        out.push('\n');
    }
    for (mark, verdict, why) in of_all(run) {
        let lead =
            format!("  {}  {}  ", pad("all results", widest), paint.ink(ink(mark), &pad(&verdict, verdicts)));
        out += &paint.hang(&lead, widest + 4, &clean(&why));
    }
    let mut meant: Vec<&str> = Vec::new();
    for line in &lines {
        let lead = format!("  {}  ", pad(&named_workload(line), widest));
        let verdict = paint.ink(ink(line.mark), &pad(&line.verdict, verdicts));
        out += &paint.hang(&format!("{lead}{verdict}  "), widest + 4, &clean(&line.why));
        // Once is enough for those who read downwards.
        if let Some(meaning) = line.meaning.as_deref().filter(|meaning| !meant.contains(meaning)) {
            meant.push(meaning);
            out += &paint.hang(&" ".repeat(widest + 4), widest + 4, meaning);
        }
    }
    let across = across_depths(run);
    if !across.is_empty() {
        out.push('\n');
    }
    for claim in &across {
        out += &paint.hang("Across depths: ", 2, claim);
    }
    for note in run.info.device.notes.iter().map(text::note) {
        out += &paint.hang("Note: ", 2, &format!("{}.", clean(&note)));
    }
    out += &paint.hang("\nNot checked: ", 2, &format!("{}.", unjudged(run).join(", ")));
    if let Some(command) = would_settle(run) {
        let time = "(a few seconds, with device counters)";
        out += &paint.hang("To check: ", 2, &format!("{command}  {time}"));
    }
    out
}

/// Minimum width of a name, in columns.
const NAME_MIN: usize = 8;

/// A name without its middle, where it is longer than so many columns: beginnings and ends tell jobs apart.
fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let (head, tail) = (most / 2, most - most / 2 - 1);
    let of = |part: &[char]| part.iter().collect::<String>();
    format!("{}…{}", of(&letters[..head]), of(&letters[letters.len() - tail..]))
}

/// The file's own name for a result, where it says more than "result".
fn name(line: &ResultLine, run: &Run) -> String {
    let name = run.trial(line.trial).map_or("", |trial| trial.experiment.as_str());
    if name == "result" { String::new() } else { clean(name) }
}

/// What measured: `fio 3.38 (io_uring)`, or the table's file.
fn origin(run: &Run) -> String {
    let program = run.info.options.get("program").and_then(|program| program.as_str());
    match (program, run.info.device.engine.as_str()) {
        (Some(program), "" | "unknown") => program.to_owned(),
        (Some(program), engine) => format!("{program} ({engine})"),
        (None, _) => clean(&run.info.target),
    }
}

fn ink(mark: Weight) -> Ink {
    match mark {
        Weight::Yes => Ink::Good,
        Weight::Note => Ink::Quiet,
        Weight::Doubt => Ink::Doubt,
        Weight::No => Ink::Bad,
    }
}

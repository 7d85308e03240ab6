//! Another tool's results, judged: a table of their figures, then a line each, the worst first, then what was not
//! checked and how to check it.

use crate::text::imported::ResultLine;
use crate::text::imported::across_depths;
use crate::text::imported::headline;
use crate::text::imported::of_all;
use crate::text::imported::result_lines;
use crate::text::imported::shared_depth;
use crate::text::imported::unjudged;
use crate::text::imported::would_settle;
use crate::text::validity::Weight;
use iosonde_model::{Run, Trial};
use std::collections::HashMap;

use crate::paint::{Ink, Paint, clean, columns, pad};
use crate::{terminal::results_table, text};

/// The screen for a run of imported results.
pub fn judged(run: &Run, paint: Paint) -> String {
    let lines = result_lines(run);
    let named = lines.len() > 1 && lines.iter().any(|line| !name(line, run).is_empty());
    let depth = shared_depth(&lines);
    // A job's name may be as long as a sentence; the workload behind it must be read, and the verdict beside it.
    let workload = |line: &ResultLine, room: usize| {
        let workload = line.workload.beside(depth);
        clean(&match name(line, run) {
            name if named && !name.is_empty() => {
                let left = room.saturating_sub(columns(&workload) + 2).max(NAME_MIN);
                format!("{}: {workload}", shortened(&name, left))
            }
            _ => workload,
        })
    };
    let mut out = paint.hang("", 0, &clean(&headline(run, &origin(run))));
    out.push('\n');
    let of_trial: HashMap<u64, &ResultLine> = lines.iter().map(|line| (line.trial, line)).collect();
    let label = |trial: &Trial, room: usize| {
        of_trial.get(&trial.id).map_or_else(String::new, |line| workload(line, room))
    };
    let table = results_table(&run.trials, label, paint);
    if !table.is_empty() {
        out += &table;
        out.push('\n');
    }
    out += &verdicts(run, &lines, |line| workload(line, paint.width / 2), paint);
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

/// A line for each verdict: what all results have in common, each result, and together the most with one verdict.
fn verdicts(run: &Run, lines: &[ResultLine], label: impl Fn(&ResultLine) -> String, paint: Paint) -> String {
    let of_all = of_all(run);
    let all_invalid = of_all.iter().any(|(mark, ..)| *mark == Weight::No);
    // A fault of all results leaves none without a fault.
    let own: Vec<&ResultLine> =
        lines.iter().filter(|line| !all_invalid || line.mark != Weight::Yes).collect();
    let most = most_alike(&own);
    let (alike, told): (Vec<&ResultLine>, Vec<&ResultLine>) =
        own.iter().partition(|line| most.is_some_and(|most| line.is_like(most)));
    let mut rows: Vec<(String, &ResultLine)> = told.iter().map(|line| (label(line), *line)).collect();
    rows.extend(alike.first().map(|first| match (alike.len(), told.len()) {
        (count, 0) => (format!("all {count}"), *first),
        (count, _) => (format!("{count} others"), *first),
    }));
    let widest = rows.iter().map(|(label, _)| columns(label)).max().unwrap_or(0).max(ALL.len());
    let verdicts = rows.iter().map(|(_, line)| columns(&line.verdict)).max().unwrap_or(0);
    let mut out = String::new();
    for (mark, verdict, why) in of_all {
        let lead = format!("  {}  {}  ", pad(ALL, widest), paint.ink(ink(mark), &pad(&verdict, verdicts)));
        out += &paint.hang(&lead, widest + 4, &clean(&why));
    }
    let mut meant: Vec<&str> = Vec::new();
    for (label, line) in &rows {
        let lead = format!("  {}  ", pad(label, widest));
        let verdict = paint.ink(ink(line.mark), &pad(&line.verdict, verdicts));
        out += &paint.hang(&format!("{lead}{verdict}  "), widest + 4, &clean(&line.why));
        // Once is enough for those who read downwards.
        if let Some(meaning) = line.meaning.as_deref().filter(|meaning| !meant.contains(meaning)) {
            meant.push(meaning);
            out += &paint.hang(&" ".repeat(widest + 4), widest + 4, meaning);
        }
    }
    out
}

/// One of the most lines with one verdict in common, where they are enough to be told together.
fn most_alike<'a>(lines: &[&'a ResultLine]) -> Option<&'a ResultLine> {
    let mut groups: Vec<(&ResultLine, usize)> = Vec::new();
    for &line in lines.iter().filter(|line| line.alike.is_some()) {
        match groups.iter_mut().find(|(first, _)| line.is_like(first)) {
            Some((_, count)) => *count += 1,
            None => groups.push((line, 1)),
        }
    }
    let (line, count) = groups.into_iter().rev().max_by_key(|(_, count)| *count)?;
    (count >= ALIKE_MIN).then_some(line)
}

const ALL: &str = "all results";
/// Lines with one verdict in common, from which on they are one.
const ALIKE_MIN: usize = 3;

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

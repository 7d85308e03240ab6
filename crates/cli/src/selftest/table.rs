//! The table that a selftest prints, and that stands in `docs/checks.md`.

use std::fmt::Write;

use super::{Cell, Score};

fn percent(count: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * count as f64 / of.max(1) as f64)
}

/// In Markdown: clean devices, then each check at every size of its effect.
pub fn table(cells: &[Cell], scores: &[Score]) -> String {
    let mut out = String::from(
        "| clean device | runs | runs with a doubt or void | void trials |\n|---|---|---|---|\n",
    );
    let pairs = || cells.iter().zip(scores);
    for (cell, score) in pairs().filter(|(cell, _)| cell.check.is_empty()) {
        let (share, void) = (percent(score.others, score.runs), score.void_trials);
        let _ = writeln!(out, "| {} | {} | {share} | {void} |", cell.name, score.runs);
    }
    let clean = || pairs().filter(|(cell, _)| cell.check.is_empty()).map(|(_, score)| score);
    let runs: usize = clean().map(|score| score.runs).sum();
    let false_alarms: usize = clean().map(|score| score.others).sum();
    let void: usize = clean().map(|score| score.void_trials).sum();
    let _ = writeln!(out, "| **all** | {runs} | **{}** | {void} |", percent(false_alarms, runs));
    out += "\n| check | effect | size | runs | caught |\n|---|---|---|---|---|\n";
    for (cell, score) in pairs().filter(|(cell, _)| !cell.check.is_empty()) {
        let mark = if cell.stated { "**" } else { "" };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} % | {} | {mark}{}{mark} |",
            cell.check,
            cell.name,
            cell.level * 100.0,
            score.runs,
            percent(score.caught, score.runs)
        );
    }
    out
}

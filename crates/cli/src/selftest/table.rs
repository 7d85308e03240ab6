//! The table that a selftest prints, and that is copied into `docs/checks.md`.

use std::fmt::Write;

use super::{Cell, Score};

fn percent(count: usize, of: usize) -> String {
    format!("{:.1} %", 100.0 * count as f64 / of.max(1) as f64)
}

/// A bar of at most 20 signs: below each other, those of one effect draw its curve from nothing to certain.
fn bar(count: usize, of: usize) -> String {
    let length = (20.0 * count as f64 / of.max(1) as f64).round() as usize;
    if length == 0 { "·".to_owned() } else { "█".repeat(length) }
}

/// `outliers 3, drift 1`.
fn doubted_by<'a>(scores: impl IntoIterator<Item = &'a Score>) -> String {
    let mut all = std::collections::BTreeMap::new();
    for (check, count) in scores.into_iter().flat_map(|score| &score.wrong) {
        *all.entry(check.as_str()).or_insert(0) += count;
    }
    let mut all: Vec<(&str, usize)> = all.into_iter().collect();
    all.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    all.iter().map(|(check, count)| format!("`{check}` {count}")).collect::<Vec<_>>().join(", ")
}

/// In Markdown: clean devices, then each check at every size of its effect.
pub fn table(cells: &[Cell], scores: &[Score]) -> String {
    let mut out = String::from(
        "| clean device | runs | runs with a warning or invalid | invalid trials | warned by |\n\
         |---|---|---|---|---|\n",
    );
    let pairs = || cells.iter().zip(scores);
    for (cell, score) in pairs().filter(|(cell, _)| cell.check.is_none()) {
        let (share, void) = (percent(score.others, score.runs), score.void_trials);
        let _ =
            writeln!(out, "| {} | {} | {share} | {void} | {} |", cell.name, score.runs, doubted_by([score]));
    }
    let clean = || pairs().filter(|(cell, _)| cell.check.is_none()).map(|(_, score)| score);
    let runs: usize = clean().map(|score| score.runs).sum();
    let false_alarms: usize = clean().map(|score| score.others).sum();
    let void: usize = clean().map(|score| score.void_trials).sum();
    let share = percent(false_alarms, runs);
    let _ = writeln!(out, "| **all** | {runs} | **{share}** | {void} | {} |", doubted_by(clean()));
    out += "\n| check | effect | size | runs | caught | |\n|---|---|---|---|---|---|\n";
    for (cell, score) in pairs().filter(|(cell, _)| cell.check.is_some()) {
        let mark = if cell.stated { "**" } else { "" };
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {mark}{}{mark} | {} |",
            cell.check_name(),
            cell.name,
            cell.size(),
            score.runs,
            percent(score.caught, score.runs),
            bar(score.caught, score.runs)
        );
    }
    out
}

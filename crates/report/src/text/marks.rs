//! Which warnings have a mark on the first screen: those that qualify a figure that is shown there. A mark whose
//! figure stands nowhere would be looked for.

use iosonde_infer::validity::{Fact, Touched, Validity, WeighedFact, Weight, validity};
use iosonde_model::Run;

use super::{
    advice::{Advised, advised},
    footnote::{Footnotes, MARKS, WARNINGS_MAX},
    result_table,
    table::ResultTable,
};

/// Footnotes of a concluded run.
pub(super) fn footnotes(run: &Run) -> Footnotes {
    let facts = validity(run);
    let marked = marks(&facts, run).into_iter().zip(&facts.lines).filter(|(mark, _)| mark.is_some());
    Footnotes::new(marked.filter_map(|(_, line)| touched(line).cloned()))
}

/// Its tables, those with at least one row.
pub fn result_tables(run: &Run) -> Vec<ResultTable> {
    result_table::result_tables(run, &footnotes(run))
}

/// Its advice, with marks.
pub fn marked_advice(run: &Run) -> Vec<Advised> {
    advised(run, &footnotes(run))
}

/// The mark of each line, for those warnings that qualify a figure of the tables or of advice.
pub(super) fn marks(facts: &Validity, run: &Run) -> Vec<Option<char>> {
    // A mark without its warning on the same screen would lead nowhere either.
    let doubts = facts.lines.iter().filter(|line| line.mark == Weight::Doubt).take(WARNINGS_MAX);
    let candidates: Vec<&WeighedFact> = doubts.filter(|line| touched(line).is_some()).collect();
    let all = Footnotes::new(candidates.iter().filter_map(|line| touched(line).cloned()));
    let tables = result_table::result_tables(run, &all);
    let cells = tables.iter().flat_map(|table| &table.rows).flat_map(|row| row.cells.iter().flatten());
    let mut shown: String = cells.map(|cell| cell.marks.as_str()).collect();
    shown.extend(advised(run, &all).into_iter().map(|advised| advised.marks));
    let is_shown = |line: &WeighedFact| {
        let place = candidates.iter().position(|own| std::ptr::eq(*own, line));
        place.is_some_and(|place| shown.contains(MARKS[place]))
    };
    let mut free = MARKS.into_iter();
    facts.lines.iter().map(|line| is_shown(line).then(|| free.next())?).collect()
}

fn touched(line: &WeighedFact) -> Option<&Touched> {
    match &line.fact {
        Fact::Warnings { touched, .. } => Some(touched),
        _ => None,
    }
}

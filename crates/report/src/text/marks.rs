//! Which warnings have a mark on the first screen: those that qualify a figure that is shown there. A mark whose
//! figure stands nowhere would be looked for.

use iosonde_infer::validity::{Touched, Validity, WeighedFact, Weight, validity};
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
    line.fact.touched()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_infer::conclude::conclude;
    use iosonde_model::{About, Cause, CheckName, Judgement, Op, Outcome, cause};
    use iosonde_testkit::pretend::{Pretend, QUICK};

    /// A run with two groups of latency at all 4 KiB random reads of these queue depths, and the marks of its lines.
    fn two_groups_at(is_it: fn(u64) -> bool) -> (Run, Vec<(Weight, Option<char>)>) {
        let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let groups = cause::Multimodal::Groups {
            op: Op::Read,
            low_share: 0.9,
            low_ns: 115e3,
            high_share: 0.1,
            high_ns: 387e3,
            mean_ns: 142.2e3,
        };
        let reads = run.points.iter().filter(|point| {
            let spec = &point.spec;
            spec.block_size_bytes == 4096
                && !spec.rw.is_mixed()
                && spec.rw.has(Op::Read)
                && is_it(spec.asked_in_flight())
        });
        let warned: Vec<Judgement> = reads
            .map(|point| Judgement {
                scope: "point".into(),
                trial: None,
                point: Some(point.id),
                check: CheckName::Multimodal,
                verdict: Outcome::Warning,
                about: About::Latency,
                cause: Some(Cause::Multimodal(groups.clone())),
            })
            .collect();
        assert!(!warned.is_empty());
        run.verdicts.extend(warned);
        let facts = validity(&run);
        let marks = marks(&facts, &run);
        let told = facts.lines.iter().zip(marks).map(|(line, mark)| (line.mark, mark)).collect();
        (run, told)
    }

    fn cells_of(run: &Run, label: &str) -> Vec<String> {
        let tables = result_tables(run);
        let row = tables.iter().flat_map(|table| &table.rows).find(|row| row.label == label);
        row.expect(label).cells.iter().flatten().map(|cell| cell.marks.clone()).collect()
    }

    #[test]
    fn a_warning_marks_the_means_that_it_is_about_and_no_percentile() {
        let (run, told) = two_groups_at(|depth| depth == 1);
        assert!(told.contains(&(Weight::Doubt, Some('¹'))), "{told:?}");
        assert_eq!(cells_of(&run, "mean latency at QD 1"), ["¹", ""]);
        assert_eq!(cells_of(&run, "p99 latency at QD 1"), ["", ""]);
    }

    #[test]
    fn a_warning_about_no_figure_that_is_shown_is_a_note_without_a_mark() {
        // Deeper than the depth that is recommended.
        let (run, told) = two_groups_at(|depth| depth >= 64);
        assert!(told.iter().any(|(weight, _)| *weight == Weight::Note), "{told:?}");
        assert!(told.iter().all(|(weight, mark)| *weight != Weight::Doubt && mark.is_none()), "{told:?}");
        let tables = result_tables(&run);
        let cells = tables.iter().flat_map(|table| &table.rows).flat_map(|row| row.cells.iter().flatten());
        assert!(cells.into_iter().all(|cell| cell.marks.is_empty()));
    }
}

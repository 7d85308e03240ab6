//! Tables of training: accelerators that reads keep busy, and how long checkpoints take.

use iosonde_infer::finding::lookup::estimate;
use iosonde_model::{Detail, Finding, FindingName, Op, Run, Unit, units};

use super::{
    footnote::Footnotes,
    number::{Figure, Style, figure},
    table::{Cell, ResultRow, ResultTable},
};

/// Findings of these tables.
pub(super) const FINDINGS: [FindingName; 2] = [FindingName::AcceleratorsFed, FindingName::CheckpointTime];

/// Accelerators that are fed, a row for each model; times of checkpoints, a row for each model.
pub(super) fn tables(run: &Run, footnotes: &Footnotes) -> [Option<ResultTable>; 2] {
    let cell = |finding: &Finding, figure: Figure| {
        let figure = if finding.at_least { figure.at_least() } else { figure };
        Some(Cell { figure, marks: footnotes.of_finding(run, finding) })
    };
    let mut fed: Vec<ResultRow> = Vec::new();
    let mut saved: Vec<ResultRow> = Vec::new();
    for finding in &run.findings {
        match &finding.detail {
            Detail::TrainingFed(facts) => {
                let number = figure(Style::bare(Unit::Accelerators), &estimate(finding));
                let cells = vec![cell(finding, number)];
                fed.push(ResultRow { label: facts.model.label().to_owned(), indented: false, cells });
            }
            Detail::CheckpointSaved(facts) => {
                let label = format!("{}, {}", facts.of.model, units::decimal_bytes(facts.of.bytes));
                let at = saved.iter().position(|row| row.label == label).unwrap_or_else(|| {
                    saved.push(ResultRow { label, indented: false, cells: vec![None, None] });
                    saved.len() - 1
                });
                let column = usize::from(finding.conditions.op != Some(Op::Write));
                saved[at].cells[column] = cell(finding, figure(Unit::Time, &estimate(finding)));
            }
            _ => {}
        }
    }
    [
        ResultTable::new("training", &["H100s kept busy"], fed),
        ResultTable::new("checkpoint", &["save", "read back"], saved),
    ]
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        detail::{CheckpointSaved, TrainingFed},
        training::{CHECKPOINTS, TrainingModel},
    };
    use iosonde_testkit::pretend::{Pretend, QUICK};

    use super::*;
    use crate::text::finding::example;

    #[test]
    fn each_model_has_a_row_and_each_direction_of_a_checkpoint_a_column() {
        let facts = TrainingFed { model: TrainingModel::ResNet50, most_tried: 16, bytes_per_s: 3.5e9 };
        let mut most = example::found(
            FindingName::AcceleratorsFed,
            Op::Read,
            (19.0, Unit::Accelerators),
            Detail::TrainingFed(facts),
        );
        most.at_least = true;
        let saved = |op: Op, ns: f64| {
            let (of, writers, measured_bytes, bytes_per_s, trials) = (CHECKPOINTS[0], 8, 1 << 30, 480e6, 12);
            let facts = CheckpointSaved { of, writers, measured_bytes, bytes_per_s, trials };
            example::found(FindingName::CheckpointTime, op, (ns, Unit::Time), Detail::CheckpointSaved(facts))
        };
        let mut run = Pretend::usual().run(QUICK, 1);
        run.findings = vec![most, saved(Op::Read, 30e9), saved(Op::Write, 219e9)];
        let [fed, checkpoints] = tables(&run, &super::super::marks::footnotes(&run));
        let told = |table: Option<ResultTable>| {
            let table = table.expect("it has a row");
            let [row] = &table.rows[..] else { panic!("{table:?}") };
            let cells: Vec<_> = row.cells.iter().flatten().map(|cell| cell.figure.whole()).collect();
            (row.label.clone(), cells)
        };
        assert_eq!(told(fed), ("ResNet-50".to_owned(), vec!["≥ 19.0 ±2 %".to_owned()]));
        let cells = vec!["219 s ±2 %".to_owned(), "30.0 s ±2 %".to_owned()];
        assert_eq!(told(checkpoints), ("Llama 3 8B, 105 GB".to_owned(), cells));
    }
}

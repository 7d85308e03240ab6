//! Marks that tie a warning to the figures that it qualifies: `¹` behind both.

use iosonde_infer::{
    finding::{ReadWhen, kind, lookup::trials_behind},
    validity::{Fact, Touched, Validity, Weight, figure_of, validity},
};
use iosonde_model::{About, Finding, Run, Status};

/// Maximum number of warnings on the first screen: the others are counted, or folded.
pub const WARNINGS_MAX: usize = 3;
/// Marks of the warnings, in their order.
pub(super) const MARKS: [char; WARNINGS_MAX] = ['¹', '²', '³'];

/// Warnings of the first screen that qualify some of its figures, in their order.
pub struct Footnotes(Vec<Touched>);

impl Footnotes {
    /// Footnotes of a concluded run.
    pub fn of(run: &Run) -> Self {
        let facts = validity(run);
        let marked = marks(&facts, run).into_iter().zip(&facts.lines);
        let touched = marked.filter_map(|(mark, line)| match &line.fact {
            Fact::Warnings { touched, .. } if mark.is_some() => Some(touched.clone()),
            _ => None,
        });
        Self(touched.collect())
    }

    /// Marks of a finding, or none.
    pub fn of_finding(&self, run: &Run, finding: &Finding) -> String {
        self.of_trials(figure_of(finding.unit), &trials_behind(run, finding))
    }

    /// Marks of a figure that rests on these trials.
    pub fn of_trials(&self, figure: About, trials: &[u64]) -> String {
        let own = MARKS.iter().zip(&self.0).filter(|(_, touched)| touched.qualifies(figure, trials));
        own.map(|(mark, _)| mark).collect()
    }
}

/// The mark of each line, for those warnings that qualify a figure of the tables.
pub(super) fn marks(facts: &Validity, run: &Run) -> Vec<Option<char>> {
    let in_table = |finding: &&Finding| {
        let when = kind(finding.name).told().when;
        finding.status == Status::Found && [ReadWhen::Always, ReadWhen::Each, ReadWhen::Found].contains(&when)
    };
    let figures: Vec<(About, Vec<u64>)> = run
        .findings
        .iter()
        .filter(in_table)
        .map(|finding| (figure_of(finding.unit), trials_behind(run, finding)))
        .collect();
    let mut free = MARKS.into_iter();
    // A mark without its warning on the same screen would lead nowhere.
    let mut shown = 0;
    let mark = |line: &iosonde_infer::validity::WeighedFact| {
        shown += usize::from(line.mark == Weight::Doubt);
        match &line.fact {
            Fact::Warnings { touched, .. } if line.mark == Weight::Doubt && shown <= WARNINGS_MAX => figures
                .iter()
                .any(|(figure, trials)| touched.qualifies(*figure, trials))
                .then(|| free.next())?,
            _ => None,
        }
    };
    facts.lines.iter().map(mark).collect()
}

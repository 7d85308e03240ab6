//! Marks that tie a warning to the figures that it qualifies: `¹` behind both.

use iosonde_infer::{
    finding::lookup::{figures_behind, trials_behind},
    validity::Touched,
};
use iosonde_model::{About, Finding, Run};

/// Maximum number of warnings on the first screen: the others are counted, or folded.
pub const WARNINGS_MAX: usize = 3;
/// Marks of the warnings, in their order.
pub(super) const MARKS: [char; WARNINGS_MAX] = ['¹', '²', '³'];

/// Warnings of the first screen that qualify some of its figures, in their order.
pub struct Footnotes(Vec<Touched>);

impl Footnotes {
    /// Warnings, in their order.
    pub(super) fn new(warnings: impl Iterator<Item = Touched>) -> Self {
        Self(warnings.collect())
    }

    /// Marks of a finding, or none.
    pub(super) fn of_finding(&self, run: &Run, finding: &Finding) -> String {
        self.of_trials(figures_behind(finding), &trials_behind(run, finding))
    }

    /// Marks of a figure that rests on these trials.
    pub(super) fn of_trials(&self, figures: &[About], trials: &[u64]) -> String {
        self.those(|touched| touched.qualifies(figures, trials))
    }

    /// Marks of a percentile of the latency of these trials.
    pub(super) fn of_percentile(&self, trials: &[u64]) -> String {
        self.those(|touched| touched.qualifies_percentile(trials))
    }

    fn those(&self, qualifies: impl Fn(&Touched) -> bool) -> String {
        let own = MARKS.iter().zip(&self.0).filter(|(_, touched)| qualifies(touched));
        own.map(|(mark, _)| mark).collect()
    }
}

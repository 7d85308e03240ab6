//! For tests: a finding concluded from a storage whose law is known.

use iosonde_model::Finding;
pub(crate) use iosonde_testkit::pretend::{Pretend, QUICK, coverage};

use crate::finding::FindingKind;

/// Conclusions of one kind of finding.
pub(crate) trait Conclusions {
    /// Concludes from a study's points, once for each seed.
    fn conclusions(&self, kind: &dyn FindingKind, study: &str, seeds: u64) -> Vec<Vec<Finding>>;
}

impl Conclusions for Pretend {
    fn conclusions(&self, kind: &dyn FindingKind, study: &str, seeds: u64) -> Vec<Vec<Finding>> {
        self.conclusions_by(|points| kind.conclude("pretend", points, 0.95), study, seeds)
    }
}

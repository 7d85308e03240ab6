//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct GeneratorBound;

impl Named for GeneratorBound {
    fn name(&self) -> &'static str {
        "generator-bound"
    }
}

impl Check for GeneratorBound {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

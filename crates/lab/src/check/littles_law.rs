//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct LittlesLaw;

impl Named for LittlesLaw {
    fn name(&self) -> &'static str {
        "littles-law"
    }
}

impl Check for LittlesLaw {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

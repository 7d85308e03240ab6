//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct Units;

impl Named for Units {
    fn name(&self) -> &'static str {
        "units"
    }
}

impl Check for Units {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

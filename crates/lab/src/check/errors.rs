//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct Errors;

impl Named for Errors {
    fn name(&self) -> &'static str {
        "errors"
    }
}

impl Check for Errors {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

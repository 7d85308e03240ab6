//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct DirectIgnored;

impl Named for DirectIgnored {
    fn name(&self) -> &'static str {
        "direct-ignored"
    }
}

impl Check for DirectIgnored {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct DepthNotReached;

impl Named for DepthNotReached {
    fn name(&self) -> &'static str {
        "depth-not-reached"
    }
}

impl Check for DepthNotReached {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

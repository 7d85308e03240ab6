//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct TooFewSamples;

impl Named for TooFewSamples {
    fn name(&self) -> &'static str {
        "too-few-samples"
    }
}

impl Check for TooFewSamples {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

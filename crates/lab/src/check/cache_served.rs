//! To be written.

use iosonde_model::{Named, Run, Scope, Verdict};

use super::{Check, Specimens};

pub(super) struct CacheServed;

impl Named for CacheServed {
    fn name(&self) -> &'static str {
        "cache-served"
    }
}

impl Check for CacheServed {
    fn check(&self, _scope: Scope, _run: &Run) -> Option<Verdict> {
        None
    }

    fn specimens(&self) -> Specimens {
        Specimens::default()
    }
}

//! Whether several workers get more than one does.
//!
//! The same small requests are made by 1, 2, 4, .. workers (threads, each with its own queue of `depth`), each
//! number being a point. One worker is limited by its processor and by the path that its requests share; where
//! more workers get more, the storage was not the limit.
//!
//! Parameters: `rw` (patterns), `block_size`, `jobs` (workers), `depth` (in flight, of each).
//!
//! How to read it: compare equal numbers in flight. 8 workers with one request each and one worker with 8 ask the
//! storage for the same; where the workers get more, one processor was the limit, and the check
//! `generator-bound` should have said so of the single one.
//!
//! Traps:
//! - More workers than processors wait for each other.
//! - Workers on the same file share its locks: buffered writes to one file go one at a time on most file systems.

use iosonde_model::Named;

use super::{Experiment, Parameter, grid};
use crate::finding::{FindingKind, MaxIops};

pub(super) struct Jobs;

const PARAMETERS: &[Parameter] =
    &[grid::rw("\"randread\""), grid::block_size("\"4k\""), grid::jobs("\"1..8*2\""), grid::depth("1")];

impl Named for Jobs {
    fn name(&self) -> &'static str {
        "jobs"
    }
}

impl Experiment for Jobs {
    fn question(&self) -> &'static str {
        "Do several workers get more out of this storage than one?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn point_by_point(&self) -> bool {
        true
    }

    fn findings(&self) -> &'static [&'static dyn FindingKind] {
        &[&MaxIops]
    }
}

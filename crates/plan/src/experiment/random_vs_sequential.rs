//! Whether it matters in which order blocks are asked for, and how many bytes per second the storage gives
//! at best.
//!
//! The same requests, large and several in flight, go once through the span in order and once to random
//! blocks. Everything else is equal, so that the ratio of the two rates is the effect of order and of
//! nothing else.
//!
//! Parameters: `rw` (patterns), `block_size`, `depth`. A ratio needs both patterns of a direction, for
//! example `read` and `randread`.
//!
//! How to read it: a ratio of 1 means that order is free, as on flash; a disk that seeks gives a tenth or
//! less at small sizes. "As fast" is said only when the whole interval of the ratio lies within 5 % of 1,
//! "faster" or "slower" only when all of it lies on one side; otherwise this run cannot tell.
//!
//! Traps:
//! - Sequential requests are easy to guess: read-ahead and caches, in the device or outside a virtual
//!   machine, serve them early. That is a property of the whole path, not of the medium.
//! - A span that fits a cache makes random as fast as sequential on anything.
//! - At one block size the answer holds for that block size: from some size on, order is free on every
//!   medium.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct RandomVsSequential;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"read\", \"randread\", \"write\", \"randwrite\"]"),
    grid::block_size("\"1M\""),
    grid::depth("8"),
];

impl Experiment for RandomVsSequential {
    fn id(&self) -> ExperimentName {
        ExperimentName::RandomVsSequential
    }

    fn question(&self) -> &'static str {
        "Does the order of addresses matter, and how many bytes per second does this storage give at best?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

//! Whether the order of addresses matters, and the highest bandwidth of the storage.
//!
//! The same requests, large and at a high queue depth, go once through the span in order and once to random blocks.
//! Everything else is equal, so that the ratio of the two throughputs is the effect of order alone.
//!
//! Parameters: `rw` (patterns), `block_size`, `depth`. A ratio needs both patterns of a direction, for example
//! `read` and `randread`.
//!
//! How to read it: a ratio of 1 means that order does not matter, as on flash; a disk that seeks gives a tenth or
//! less at small sizes. "As fast" is said only when the whole interval of the ratio lies within 5 % of 1, "faster"
//! or "slower" only when all of it lies on one side. Otherwise it is inconclusive.
//!
//! Traps:
//! - Sequential requests are predictable: read-ahead and caches, in the device or outside a virtual machine, serve
//!   them early. That is a property of the whole path, not of the medium.
//! - A span that fits a cache makes random as fast as sequential on any storage.
//! - The answer holds for its block size: from some size on, order does not matter on any medium.

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

//! The cost of requests that do not begin at the storage's own block boundaries.
//!
//! The same random requests are made at addresses that are multiples of the block size, and shifted by `offset`
//! bytes, each offset being a point. Storage keeps its data in units of its own. A request that begins inside one
//! touches one unit more, and a write of a part of a unit must first read the rest of it.
//!
//! Parameters: `rw` (patterns), `block_size`, `offset` (0 and others), `depth` (queue depth).
//!
//! How to read it: equal throughput means that the storage's unit is no larger than the offset, or that it is
//! hidden. Writes that are much slower at an offset than at 0 indicate a unit that is read, changed and written
//! again.
//!
//! Traps:
//! - Direct I/O accepts only addresses that are multiples of the device's sector; other offsets are left out.
//! - The file system decides where a file begins on its device. On a file, 0 is the file's beginning, and extents
//!   are usually aligned to 4 KiB and to no more.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct Alignment;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"randread\", \"randwrite\"]"),
    grid::block_size("\"4k\""),
    grid::offset("[0, 512, 1024, 2048]"),
    grid::depth("1"),
];

impl Experiment for Alignment {
    fn id(&self) -> ExperimentName {
        ExperimentName::Alignment
    }

    fn question(&self) -> &'static str {
        "What does a misaligned request cost?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

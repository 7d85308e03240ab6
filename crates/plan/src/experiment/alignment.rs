//! What requests cost that do not begin where the storage's own blocks begin.
//!
//! The same random requests are made at addresses that are multiples of the block size, and moved by `offset`
//! bytes, each offset being a point. Storage keeps its data in units of its own; a request that begins inside one
//! touches one unit more, and a write of a part of a unit must first read the rest of it.
//!
//! Parameters: `rw` (patterns), `block_size`, `offset` (0 and others), `depth` (in flight).
//!
//! How to read it: equal rates mean that the storage's unit is no larger than the offset, or that it hides it.
//! Writes that are much slower at an offset than at 0 tell of a unit that is read, changed and written again.
//!
//! Traps:
//! - Direct I/O takes no address that is not a multiple of the device's sector; such offsets are left out.
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
        "What do requests cost that do not begin where the storage's own blocks begin?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

//! Whether gaps between sequential requests matter.
//!
//! Requests of one size go through the span in order, each beginning `stride` bytes after the one before; a stride
//! of one block has no gaps. Each pass begins one block further on than the pass before, so that every block is
//! visited in the end.
//!
//! Parameters: `rw` (`read`, `write`), `block_size`, `stride`, `depth` (queue depth). Combinations whose stride is
//! smaller than the block are left out.
//!
//! How to read it: where each request costs the same whatever preceded it, the curve is flat. On a rotating disk it
//! falls as soon as the head skips; on flash it falls where the stride brings every request to the same unit.
//!
//! Traps:
//! - A strided pass over a small file that repeats itself requests few blocks. They stay in some cache, and the
//!   wider the stride the fewer they are. The throughput then grows with the stride, which no storage does. Passes
//!   that shift, direct I/O and the check `cache-served` are there for that.
//! - Kernels read ahead of buffered reads without gaps, and stop where there are gaps: then the effect is the
//!   kernel's.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct Stride;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"read\", \"write\"]"),
    grid::block_size("[\"4k\", \"64k\"]"),
    grid::stride("[\"4k\", \"64k\", \"256k\", \"1M\", \"4M\"]"),
    grid::depth("1"),
];

impl Experiment for Stride {
    fn id(&self) -> ExperimentName {
        ExperimentName::Stride
    }

    fn question(&self) -> &'static str {
        "Does it matter how far apart sequential requests are?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

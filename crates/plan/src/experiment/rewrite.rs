//! What a write costs that gives less than the storage keeps together.
//!
//! Storage rewrites its data in pieces. A write of less than a piece must first read the rest of it, so that a smaller
//! write takes longer than one of the whole piece. Writes of many sizes are made at random multiples of their size, one
//! at a time, each durable before the next: so no buffer gathers them.
//!
//! Parameters: `rw` (`randwrite`), `block_size`, `sync` (what makes a write durable).
//! Sizes that direct I/O does not allow here are left out.
//!
//! How to read it: the time of a write is level while pieces are rewritten whole, falls where the size reaches a piece,
//! and grows with the size from there.
//!
//! Traps:
//! - A drive whose memory outlives a power failure calls a write durable as soon as it is there, and shows no piece.
//! - Through the page cache it is the kernel's page that is read first: this asks for direct I/O.
//! - A file system may have pieces of its own; on a file, the smallest that shows is theirs or the device's.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Rewrite;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randwrite\""),
    grid::block_size("\"512..4M*2\""),
    grid::depth("1"),
    grid::sync("\"fdatasync:1\""),
];

impl Experiment for Rewrite {
    fn id(&self) -> ExperimentName {
        ExperimentName::Rewrite
    }

    fn question(&self) -> &'static str {
        "From which size on is a write its own, and nothing is read for it first?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let unit_bytes = device.logical_block_bytes.into_iter().chain(device.direct_alignment_bytes).max();
        let allowed = |spec: &TrialSpec| {
            !spec.direct || unit_bytes.is_none_or(|unit| spec.block_size_bytes.is_multiple_of(unit))
        };
        Ok(grid::cross(parameters, device)?.into_iter().filter(allowed).collect())
    }
}

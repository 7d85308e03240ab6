//! The cost of a write that is smaller than the unit that the storage rewrites.
//!
//! Storage rewrites its data in units. A smaller write must first read the rest of its unit, so that it takes
//! longer than a write of the whole unit. Writes of many sizes are made at random multiples of their size, at QD 1,
//! each durable before the next, so that no buffer gathers them.
//!
//! Parameters: `rw` (`randwrite`), `block_size`, `sync` (what makes a write durable). Sizes that direct I/O does
//! not allow here are left out.
//!
//! How to read it: the time of a write is level while it is smaller than a unit, falls where the size reaches a
//! unit, and grows with the size from there.
//!
//! Traps:
//! - A drive whose memory outlives a power failure calls a write durable as soon as it is there, and shows no unit.
//! - For buffered I/O it is the kernel's page that is read first: this experiment needs direct I/O.
//! - A file system may have units of its own; on a file, the smallest visible unit is the file system's or the
//!   device's.

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
        "What is the smallest write that needs no read first?"
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

//! The conditions of a data sheet's lines, as far as this storage and this budget allow them.
//!
//! Vendors state a few figures, each under its own conditions: sequential bandwidth with large blocks and deep
//! queues, random requests of 4 KiB over the whole device. Each row here is one of these lines, measured under the
//! conditions that it names.
//!
//! Parameters: `rows`, one for each line (patterns, block size, depth, jobs, mix), and the same keys beside it for
//! values common to all lines. The default is the usual four lines of a server drive.
//!
//! How to read it: a line is comparable only where its conditions were met. A sheet's "random write, 100 % span" is
//! sustained, over the whole device, after a full write. A figure from a 2 GiB file is none of these.
//!
//! Traps:
//! - "Up to" on a sheet is the best of some sample, not a promise.
//! - Writes into a buffer exceed every sheet. `sustained-write` shows for how long.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Spec;

/// Deep enough to be past the knee of a drive with 32 units that random addresses choose blindly.
const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randread\""),
    grid::block_size("\"4k\""),
    grid::depth("128"),
    grid::jobs("1"),
    grid::mix("70"),
    grid::span(""),
    Parameter {
        key: "rows",
        explain: "the lines of the sheet: a list of tables of the keys above",
        default: "[{ rw = \"read\", block_size = \"128k\" }, { rw = \"write\", block_size = \"128k\" }, \
                  { rw = \"randread\" }, { rw = \"randwrite\" }]",
    },
];

impl Experiment for Spec {
    fn id(&self) -> ExperimentName {
        ExperimentName::Spec
    }

    fn question(&self) -> &'static str {
        "What does this storage give under the conditions of its data sheet?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        grid::rows(parameters, PARAMETERS, device)
    }

    fn point_by_point(&self) -> bool {
        true
    }
}

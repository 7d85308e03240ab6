//! Throughput and latency of reads and writes that share the storage.
//!
//! Requests of one size are drawn at random as reads or writes, with a given share of reads, at a constant queue
//! depth. The two directions are counted, timed and shown separately, because a mean over both describes no
//! request.
//!
//! Parameters: `rw` (`randrw` or `rw`), `block_size`, `depth`, `mix` (percent of reads, one or several; 100 and 0
//! are reads and writes alone, with which `mix_interference` compares).
//!
//! How to read it: compare the reads' latency here with that of reads alone at the same queue depth. The difference
//! is what the writes cost the readers. The two throughputs have the ratio of the mix by construction: a lower read
//! throughput in a mix does not mean that reads became slower.
//!
//! Traps:
//! - Writes may fit a buffer for the length of a trial; then the mix looks better than it stays.
//! - In a closed loop the slower direction holds back the faster one, since both share the queue depth.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Mix;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randrw\""),
    grid::block_size("\"4k\""),
    grid::depth("32"),
    grid::mix("[0, 30, 50, 70, 100]"),
];

impl Experiment for Mix {
    fn id(&self) -> ExperimentName {
        ExperimentName::Mix
    }

    fn question(&self) -> &'static str {
        "What throughput and latency do reads and writes get when they share this storage?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        if let Some(plain) = parameters.patterns("rw")?.iter().find(|rw| !rw.is_mixed()) {
            return Err(
                parameters.wrong("rw", format!("`{plain}` is not mixed; `rw` is \"randrw\" or \"rw\" here"))
            );
        }
        grid::cross(parameters, device)
    }

    fn point_by_point(&self) -> bool {
        true
    }
}

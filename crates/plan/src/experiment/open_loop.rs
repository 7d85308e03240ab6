//! How latency depends on the offered load, whether or not the storage keeps up.
//!
//! Requests become due at a rate, as those of independent clients do, and latency counts from the moment when each
//! was due. The same workload is offered at several rates, each being a point.
//!
//! Parameters: `rw` (patterns that only read or only write), `block_size`, `rate` (requests per second, a list),
//! `depth` (the maximum of outstanding requests), `arrivals` (`fixed` or `poisson`), `limit` (a latency limit, such
//! as `p99=1ms`; the finding `iops_at_latency` gives the highest load within it).
//!
//! How to read it: latency is flat while the storage has capacity left, bends, and then grows without bound where
//! the offered load exceeds it. Higher rates are not lowered: requests that were never sent are counted, and the
//! check `missed-rate` says so.
//!
//! Traps:
//! - A closed loop (a constant queue depth) cannot show this: it stops sending when the storage stalls, and leaves
//!   out the requests that would have waited longest.
//! - An engine whose calls block keeps one request outstanding: its late requests are the storage's delay.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct OpenLoop;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randread\""),
    grid::block_size("\"4k\""),
    grid::rate("\"1000..16000*2\""),
    grid::depth("128"),
    grid::arrivals("\"poisson\""),
    grid::limit("\"p99=1ms\""),
];

impl Experiment for OpenLoop {
    fn id(&self) -> ExperimentName {
        ExperimentName::OpenLoop
    }

    fn question(&self) -> &'static str {
        "How much load can this storage take before latency suffers?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

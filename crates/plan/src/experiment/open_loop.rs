//! How latency answers to the load that is offered, whether or not the storage keeps up.
//!
//! Requests become due at a rate, as those of independent clients do, and latency counts from the moment that each
//! was due. The same workload is offered at several rates, each being a point.
//!
//! Parameters: `rw` (patterns that only read or only write), `block_size`, `rate` (requests a second, a list), `depth`
//! (the most that may be outstanding), `arrivals` (`fixed` or `poisson`), `limit` (a latency to keep, such as
//! `p99=1ms`; the finding `iops_at_latency` says up to which load it is kept).
//!
//! How to read it: latency is flat while the storage has room, bends, and then grows without bound where more is asked
//! than can be served. Rates beyond that are not lowered: what was never sent is counted, and the check
//! `missed-rate` says so.
//!
//! Traps:
//! - A closed loop (a fixed number in flight) cannot show this: it stops asking when the storage stalls, and so leaves
//!   out just those requests that would have waited longest.
//! - An engine whose calls block keeps one request outstanding: what it sends late is the storage's doing.

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

//! Latency of single and of concurrent requests, in the middle and in the tail.
//!
//! The same small requests are made at QD 1 and at higher depths, reads and writes separately, and with `sync` also
//! writes that wait until they are durable. Every point keeps the whole distribution of its latencies, so that the
//! report shows percentiles and not only means.
//!
//! Parameters: `rw` (patterns), `block_size`, `depth` (queue depth), `sync` (for writes, as `fdatasync:1`), `rate`
//! (requests per second: an offered load instead of a constant queue depth; `depth` is then the limit), `buffered`
//! (use the page cache: an append of 2,300 bytes is no multiple of a sector, which direct I/O needs).
//!
//! How to read it: the mean at QD 1 is the lower limit for every program. The distance between the median and the
//! 99th percentile says how even the service is. The growth of the 99th percentile from one queue depth to the next
//! is the cost of concurrency.
//!
//! Traps:
//! - A write without a flush ends when some memory has it. Its latency is that of the memory.
//! - At a constant queue depth the program stops sending while the storage stalls. It leaves out the requests that
//!   would have waited longest; `rate` and the experiment `open-loop` do not.
//! - A percentile needs ten values beyond it: 1,000 requests for the 99th, 10,000 for the 99.9th.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct Latency;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"randread\", \"randwrite\"]"),
    grid::block_size("\"4k\""),
    grid::depth("[1, 4, 16]"),
    grid::sync("\"none\""),
    grid::rate(""),
    grid::arrivals("\"poisson\""),
    grid::buffered("false"),
];

impl Experiment for Latency {
    fn id(&self) -> ExperimentName {
        ExperimentName::Latency
    }

    fn question(&self) -> &'static str {
        "How long does a request take, at QD 1 and at higher depths, in the median and in the tail?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn point_by_point(&self) -> bool {
        true
    }
}

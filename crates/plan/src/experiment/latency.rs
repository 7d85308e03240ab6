//! How long requests take, alone and in company, in the middle and in the tail.
//!
//! The same small requests are made one at a time and with several in flight, reads and writes apart, and with
//! `sync` also writes that wait until they are durable. Every point keeps the whole distribution of its
//! latencies, so that the report shows percentiles and not only means.
//!
//! Parameters: `rw` (patterns), `block_size`, `depth` (in flight), `sync` (for writes, as `fdatasync:1`), `rate`
//! (requests a second: an offered load instead of a number in flight, which is then the most outstanding), `buffered`
//! (through the page cache: an append of 2,300 bytes is no multiple of a sector, which direct I/O needs).
//!
//! How to read it: the mean of one request at a time is the floor of every program. The distance between the
//! median and the 99th percentile says how even the service is; what the 99th percentile does from one number in
//! flight to the next is the price of company.
//!
//! Traps:
//! - A write without a flush ends when some memory has it. Its latency is that of the memory.
//! - With a number in flight the program stops asking while the storage stalls, and so leaves out the requests
//!   that would have waited longest; `rate` and the experiment `open-loop` do not.
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
        "How long does a request take, alone and in company, usually and at worst?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn point_by_point(&self) -> bool {
        true
    }
}

//! How latency and throughput of single requests depend on block size.
//!
//! Requests of different sizes are made at QD 1 (or at `depth`), each size being a point. At QD 1, the time of a
//! request of b bytes is close to t₀ + b/B on nearly all storage: a fixed cost per request, plus its bytes at a
//! constant bandwidth (Hockney's law of a pipe). Small requests show t₀, large ones show B. The size that reaches
//! half of B, n½ = t₀·B, says what "small" means here.
//!
//! Parameters: `rw` (patterns), `block_size` (a list or a range such as `"4k..4M*4"`), `depth` (queue depth).
//!
//! How to read it: the curve of bytes per second rises and levels off. Where it levels off, larger requests no
//! longer increase throughput. Left of half size, each request costs nearly the same, and doubling its size nearly
//! doubles the throughput.
//!
//! Traps:
//! - At QD 1, B is what one stream gets, not the storage's limit: `random-vs-sequential` at a higher depth shows
//!   that.
//! - Kernels cut large requests into pieces (1,280 KiB is a common limit) that run in parallel, so the last sizes
//!   may lie above the line.
//! - For buffered I/O, this curve shows the cost of a system call and of copying, not the device's page size. These
//!   trials are invalid as statements about the device.
//! - Throughput alone says that larger is better; the latency of a request says the opposite. Both are shown.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct BlockSize;

const PARAMETERS: &[Parameter] =
    &[grid::rw("[\"randread\", \"randwrite\"]"), grid::block_size("\"4k..4M*4\""), grid::depth("1")];

impl Experiment for BlockSize {
    fn id(&self) -> ExperimentName {
        ExperimentName::BlockSize
    }

    fn question(&self) -> &'static str {
        "How do latency and throughput depend on block size?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

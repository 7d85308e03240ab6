//! How time and throughput of single requests depend on their size.
//!
//! Requests of different sizes are made one at a time (or `depth` at a time), each size being a point. With
//! one in flight, the time of a request of b bytes is close to t₀ + b/B on nearly all storage: a cost that
//! every request pays, whatever its size, and a rate at which its bytes then flow (Hockney's law of a
//! pipe). Small requests show t₀, large ones show B, and the size at which half of B is reached, n½ = t₀·B,
//! says what "small" means here.
//!
//! Parameters: `rw` (patterns), `block_size` (a list or a range such as `"4k..4M*4"`), `depth` (in flight).
//!
//! How to read it: the curve of bytes per second rises and levels off. Where it levels off, larger requests
//! buy nothing; left of half size, each request costs nearly the same and doubling it nearly doubles the
//! rate.
//!
//! Traps:
//! - With one in flight, B is what one stream gets, not what the storage can do: `random-vs-sequential`
//!   with several in flight tells that.
//! - Kernels cut large requests into pieces (1,280 KiB is a common limit) that run side by side, so the
//!   last sizes may lie above the line.
//! - Through the page cache, this curve shows the cost of a system call and of copying, not the device's
//!   page size. Such trials are void as statements about the device.
//! - Throughput alone says that larger is better; the latency of a request says the opposite. Both are
//!   shown.

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
        "What does a request cost whatever its size, and from which size on do larger ones buy nothing?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

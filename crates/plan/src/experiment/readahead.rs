//! What reading ahead gives: sequential reads against random ones, block size by block size.
//!
//! One reader goes through the span in order and another jumps, with one request at a time, through the page cache
//! and past it. Whoever reads ahead (the kernel when reads are buffered, the device, a host) can only guess where a
//! sequential reader goes next.
//!
//! Parameters: `rw` (`read`, `randread`), `block_size`, `depth`, `buffered` (`true`, `false` or both).
//!
//! How to read it: at each size, the ratio of sequential to random says what guessing right is worth there. Past the
//! page cache it is the device's or the host's guess, through it mostly the kernel's. From the size on at which the
//! ratio is 1, requests are as large as what would have been read ahead.
//!
//! Traps:
//! - Buffered reads of what memory holds already are neither: the check `cache-served` voids them. Use a `--size`
//!   above the machine's memory to see the kernel's read-ahead at work.
//! - The kernel's window is in /sys/block/NAME/queue/read_ahead_kb, and doubles while a reader goes on in order.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct Readahead;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"read\", \"randread\"]"),
    grid::block_size("\"4k..1M*4\""),
    grid::depth("1"),
    grid::buffered("false"),
];

impl Experiment for Readahead {
    fn id(&self) -> ExperimentName {
        ExperimentName::Readahead
    }

    fn question(&self) -> &'static str {
        "What is it worth to this storage that it can guess the next read?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

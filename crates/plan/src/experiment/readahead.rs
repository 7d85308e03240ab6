//! The gain of read-ahead: sequential reads against random ones, by block size.
//!
//! One reader goes through the span in order and another at random, at QD 1, buffered and with direct I/O.
//! Read-ahead (by the kernel when reads are buffered, by the device, by a host) can only predict a sequential
//! reader.
//!
//! Parameters: `rw` (`read`, `randread`), `block_size`, `depth`, `buffered` (`true`, `false` or both).
//!
//! How to read it: at each size, the ratio of sequential to random is the gain of a correct prediction. With direct
//! I/O the device or the host predicts, with buffered I/O mostly the kernel. From the size on at which the ratio is
//! 1, requests are as large as the read-ahead.
//!
//! Traps:
//! - Buffered reads of data that is already in memory show neither: the check `cache-served` makes them invalid.
//!   Use a `--size` above the machine's memory to see the kernel's read-ahead.
//! - The kernel's window is in /sys/block/NAME/queue/read_ahead_kb, and doubles during sequential reading.

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
        "How much does read-ahead gain on this storage?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

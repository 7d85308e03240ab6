//! How many requests must be in flight before the storage is busy, and what waiting costs beyond that.
//!
//! The same small requests are made with 1, 2, 4, .. in flight, each number being a point. Few in flight
//! leave parts of the storage idle; many only wait in line. Between them lies the knee, N* = X_max · R₀:
//! the number at which a storage that never made requests wait for each other would just be busy.
//!
//! Parameters: `rw` (patterns), `block_size` (usually one), `depth` (a list or a range such as
//! `"1..1024*2"`).
//!
//! How to read it: throughput against the number in flight rises, bends and levels off; latency stays flat,
//! bends at the same place and then grows in proportion. One law binds the two curves, whatever the
//! storage: throughput × mean latency = number in flight (Little). Left of the knee you give away
//! throughput, right of it you give away latency.
//!
//! Traps:
//! - A number that was asked for and not reached (the check `depth-not-reached`) belongs to no queue model.
//! - If the program is busier than the storage (`generator-bound`), the plateau is the program's.
//! - Units that random addresses choose blindly, such as the dies of an SSD, have a queue each. With N*
//!   requests in flight some of them have two and others none, so at the knee such storage gives only 51 to
//!   62 % of its best; `depth_for_95_percent` says how many it takes.
//! - An engine whose calls block (`psync`) has one in flight, and then this experiment has one point.

use iosonde_model::ExperimentName;

use super::{Experiment, Parameter, grid};

pub(super) struct QueueDepth;

const PARAMETERS: &[Parameter] =
    &[grid::rw("\"randread\""), grid::block_size("\"4k\""), grid::depth("\"1..1024*2\"")];

impl Experiment for QueueDepth {
    fn id(&self) -> ExperimentName {
        ExperimentName::QueueDepth
    }

    fn question(&self) -> &'static str {
        "How many requests must be in flight before this storage is busy?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

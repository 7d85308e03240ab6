//! The queue depth that makes the storage busy, and the cost of a deeper one.
//!
//! The same small requests are made at QD 1, 2, 4, .., each depth being a point. A low depth leaves parts of the
//! storage idle; at a high one requests only wait. Between them lies the saturation point, N* = X_max · R₀: the
//! depth that would just keep the storage busy if no request waited for another.
//!
//! Parameters: `rw` (patterns), `block_size` (usually one), `depth` (a list or a range such as `"1..1024*2"`).
//!
//! How to read it: throughput against queue depth rises, bends and levels off; latency stays flat, bends at the
//! same place and then grows in proportion. One law connects the two curves, whatever the storage: throughput ×
//! mean latency = queue depth (Little). Left of the saturation point you lose throughput, right of it you lose
//! latency.
//!
//! Traps:
//! - A requested depth that was not reached (the check `depth-not-reached`) belongs to no queue model.
//! - If the program is busier than the storage (`generator-bound`), the plateau is the program's.
//! - Units to which random addresses assign requests without balance, such as the dies of an SSD, have a queue
//!   each. At a depth of N* some of them have two requests and others none, so this storage gives only 51 to 62 %
//!   of its maximum there; `depth_for_95_percent` gives the depth that it needs.
//! - An engine whose calls block (`psync`) has QD 1, and then this experiment has one point.

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
        "Which queue depth saturates this storage?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }
}

//! How much of the storage can be addressed before a cache no longer holds it.
//!
//! The same random requests go to a small part of the storage, to a larger one, and so on, each span being a point.
//! A span that a cache holds (in the device, in its controller, in a host behind a virtual machine) is answered
//! from there, and faster.
//!
//! Parameters: `rw` (patterns), `block_size`, `span` (bytes, or shares of what is prepared), `depth` (queue depth),
//! `buffered` (the page cache is then the cache that is looked for).
//!
//! Spans are visited from the smallest to the largest. Before each trial its span is read once, in order and in
//! large blocks, so that a cache holds as much of it as it can: a cold cache looks like a small one.
//!
//! How to read it: a level curve means that no cache is in the way, or that even the largest span fits it. A step
//! down means a cache whose size lies between the last span on the step and the first below it.
//!
//! Traps:
//! - A cache must have seen a block before it can serve it. The pass before a trial ends after 20 s at the latest.
//!   A span that needs longer gives no answer, and `cache_bytes` then says so.
//! - A cache that ignores sequential reads is filled by the random requests alone. Then a span becomes faster
//!   within its trials, and the finding is inconclusive.
//! - A device's tables can be cached as well: then small spans are faster although no data is cached.
//! - Where the page cache holds the span, the check `cache-served` makes the trial invalid: that is memory, not
//!   storage.

use iosonde_model::ExperimentName;

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};

pub(super) struct WorkingSet;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randread\""),
    grid::block_size("\"16k\""),
    grid::span("[\"4M..1G*4\", \"100%\"]"),
    grid::depth("8"),
    grid::buffered("false"),
];

impl Experiment for WorkingSet {
    fn id(&self) -> ExperimentName {
        ExperimentName::WorkingSet
    }

    fn question(&self) -> &'static str {
        "How large a part of this storage can be addressed before it becomes slower?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn manner(&self, _parameters: &Parameters) -> Result<Manner, ParameterError> {
        // From small to large: what a cache holds of one span lies within the next. A trial is too short to fill a
        // cache of hundreds of MB by single reads, and one that is not full yet looks small.
        Ok(Manner { in_order: true, pass_first: true, ..Manner::default() })
    }
}

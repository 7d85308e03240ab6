//! Whether throughput is limited by a setting, and how much passes before the limit applies.
//!
//! One load at a high queue depth continues until --time is up, trial after trial. A cloud volume lets a burst pass
//! until a credit is spent, and then keeps its own rate exactly. A container's limit applies from the first second
//! on.
//!
//! Parameters: `rw` (patterns), `block_size`, `depth`, `trial` (length of each trial).
//!
//! How to read it: throughput that falls at one moment and then stays within 1 % is a limit. The bytes moved beyond
//! it until then are the credit. Throughput that falls and scatters as before is a medium that became slower: heat,
//! or for writes a full buffer (see `sustained-write`).
//!
//! Traps:
//! - The credit of large volumes lasts for half an hour: set --time accordingly, or the fall is not seen.
//! - Filling the working set spends credit too: a small --size spends little.
//! - It must be the only experiment of its study: trials of others in between would spend the credit unseen.
//! - A limit that holds from the first second on and has no witness looks like the storage's own limit.

use iosonde_model::ExperimentName;

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};

pub(super) struct Limit;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randread\""),
    grid::block_size("\"4k\""),
    grid::depth("32"),
    Parameter { key: "trial", explain: "how long each trial takes", default: "\"3s\"" },
];

impl Experiment for Limit {
    fn id(&self) -> ExperimentName {
        ExperimentName::Limit
    }

    fn question(&self) -> &'static str {
        "Is the throughput of this storage limited by a setting, and after how many bytes?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn manner(&self, parameters: &Parameters) -> Result<Manner, ParameterError> {
        let trial_s_min = parameters.seconds("trial")?;
        if trial_s_min < 1.0 {
            return Err(parameters.wrong("trial", "it is at least 1s: a limit's grain is up to 100 ms"));
        }
        Ok(Manner {
            in_order: true,
            from_the_start: true,
            to_the_end: true,
            trial_s_min,
            ..Manner::default()
        })
    }
}

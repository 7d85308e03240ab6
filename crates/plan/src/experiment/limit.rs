//! Whether somebody limits the rate, and how much passes before the limit holds.
//!
//! One load goes on until --time is up, trial after trial, with many requests in flight. A cloud volume lets a burst
//! pass until a credit is spent, and then keeps its own rate exactly; a container's limit keeps it from the first
//! second on.
//!
//! Parameters: `rw` (patterns), `block_size`, `depth`, `trial` (how long each trial takes).
//!
//! How to read it: a rate that falls at one moment and then stays within 1 % is a limit. What was moved beyond it
//! until then is the credit. A rate that falls and scatters as before is a medium that became slower: heat, or for
//! writes a buffer that is full (see `sustained-write`).
//!
//! Traps:
//! - The credit of large volumes lasts for half an hour: give --time accordingly, or the fall is not seen.
//! - Filling the working set spends credit too: a small --size spends little.
//! - Alone in its study: trials of other experiments in between would spend the credit unseen.
//! - A limit that holds from the first second on and has no witness looks like the storage's own rate.

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
        "Does somebody limit the rate of this storage, and after how much?"
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

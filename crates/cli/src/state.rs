//! The state that storage is brought to before it is measured: history changes results, flash most of all.
//!
//! `fresh` trims the prepared part and fills it again in order, as new as it gets without the vendor's tools.
//! `filled:P%` writes that share of it again in order. `steady` writes small blocks at random, in rounds of a tenth of
//! the prepared part, until the rule of the check `not-steady` says that the rate holds: after ten rounds at the
//! earliest, which write the part once. It ends without that, and says so, after 60 rounds. All of it takes time of its
//! own, beside `--time`.
//!
//! A single pass that leaves the layout of a drive written at random for long (fio's `sprandom`) would save about one
//! pass. It has to be told the drive's spare, which no drive reports; and whether the guess was right only the rate
//! tells.

use std::{fmt, str::FromStr};

use iosonde_judge::preconditioning::{ROUNDS_MAX, ROUNDS_PER_PASS};
use iosonde_model::{Distribution, Rw, TrialSpec, units};
use serde::{Deserialize, Serialize};

/// A state of storage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum State {
    /// Trimmed and filled once, in order.
    Fresh,
    /// This share written again, in order.
    Filled(f64),
    /// Written at random until the rate no longer changes.
    Steady,
}

/// Small enough to stir up what the storage keeps of its mapping.
const BLOCK_BYTES: u64 = 4096;
const DEPTH: u32 = 32;

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || "a state is fresh, filled:P% (as in filled:50%) or steady".to_owned();
        match text {
            "fresh" => Ok(Self::Fresh),
            "steady" => Ok(Self::Steady),
            _ => {
                let share = text.strip_prefix("filled:").ok_or_else(fail)?;
                let share = units::parse_percent(share).map_err(|_| fail())?;
                if share > 0.0 && share <= 1.0 { Ok(Self::Filled(share)) } else { Err(fail()) }
            }
        }
    }
}

impl TryFrom<String> for State {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<State> for String {
    fn from(state: State) -> Self {
        state.to_string()
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => f.write_str("fresh"),
            Self::Filled(share) => write!(f, "filled:{}%", share * 100.0),
            Self::Steady => f.write_str("steady"),
        }
    }
}

impl State {
    /// The least that it writes: for a steady state the rounds that are judged first, and a filling before them where
    /// the prepared part is not `filled` yet.
    pub fn least_bytes(self, working_set_bytes: u64, filled: bool) -> u64 {
        match self {
            Self::Fresh => working_set_bytes,
            Self::Filled(share) => (working_set_bytes as f64 * share) as u64,
            Self::Steady => rounds_bytes(ROUNDS_PER_PASS, working_set_bytes, filled),
        }
    }

    /// The most that it writes.
    pub fn cost_bytes(self, working_set_bytes: u64, filled: bool) -> u64 {
        match self {
            Self::Fresh | Self::Filled(_) => self.least_bytes(working_set_bytes, filled),
            Self::Steady => rounds_bytes(ROUNDS_MAX as u64, working_set_bytes, filled),
        }
    }

    /// Line that announces the state and its cost.
    pub fn announce(self, working_set_bytes: u64, filled: bool) -> String {
        let [least, most] =
            [Self::least_bytes, Self::cost_bytes].map(|of| units::size(of(self, working_set_bytes, filled)));
        let range = if least == most { most } else { format!("{least} to {most}") };
        format!("{self}: writes {range}, in addition to --time")
    }
}

/// The workload that makes storage steady.
pub fn stirring(engine: &str, direct: bool, span_bytes: u64, blocking: bool) -> TrialSpec {
    TrialSpec {
        rw: Rw::RandWrite,
        block_size_bytes: BLOCK_BYTES,
        queue_depth: if blocking { 1 } else { DEPTH },
        span_bytes,
        engine: engine.to_owned(),
        direct,
        distribution: Distribution::Uniform,
        ..TrialSpec::default()
    }
}

/// Bytes of so many rounds, and of the filling before them.
fn rounds_bytes(rounds: u64, working_set_bytes: u64, filled: bool) -> u64 {
    let filling_bytes = if filled { 0 } else { working_set_bytes };
    filling_bytes + rounds * stirring_ios(working_set_bytes) * BLOCK_BYTES
}

/// Requests of one round of stirring.
pub fn stirring_ios(span_bytes: u64) -> u64 {
    (span_bytes / BLOCK_BYTES).div_ceil(ROUNDS_PER_PASS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_read_as_they_are_written() {
        for text in ["fresh", "filled:50%", "steady"] {
            assert_eq!(text.parse::<State>().unwrap().to_string(), text);
        }
        for wrong in ["", "filled", "filled:0%", "filled:200%", "stale"] {
            assert!(wrong.parse::<State>().unwrap_err().contains("filled:50%"), "{wrong}");
        }
        assert_eq!("filled:50%".parse::<State>().unwrap().cost_bytes(1000, true), 500);
    }

    #[test]
    fn a_steady_state_writes_one_to_six_passes() {
        let area = 1000 * BLOCK_BYTES;
        assert_eq!(
            (State::Steady.least_bytes(area, true), State::Steady.cost_bytes(area, true)),
            (area, 6 * area)
        );
        assert_eq!(
            (State::Steady.least_bytes(area, false), State::Steady.cost_bytes(area, false)),
            (2 * area, 7 * area)
        );
        let said = State::Steady.announce(area << 8, false);
        assert_eq!(said, "steady: writes 1.95 GiB to 6.84 GiB, in addition to --time");
        // Ten rounds are at least one pass, with any remainder.
        assert!(stirring_ios(1001 * BLOCK_BYTES) * ROUNDS_PER_PASS >= 1001);
    }
}

//! The state that storage is brought to before it is measured: history changes results, flash most of all.
//!
//! `fresh` trims the prepared part and fills it again in order, as new as it gets without the vendor's tools.
//! `filled:P%` writes that share of it again in order. `steady` writes small blocks at random until the rate no
//! longer changes: the last five of its trials lie within 10 % of their mean. It ends without that, and says so, when
//! twice the prepared part was written. All of it takes time of its own, beside `--time`.

use std::{fmt, str::FromStr};

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

/// Trials that must agree before the rate counts as steady, and by how much: the window of five rounds within 10 %
/// of SNIA's test (Solid State Storage Performance Test Specification, 2.0.2, section 2.1.24).
const AGREEING: usize = 5;
const AGREE_WITHIN: f64 = 0.1;
/// As often as the prepared part is written at most.
const PASSES_MAX: u64 = 2;
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
    /// The most that it writes.
    pub fn cost_bytes(self, working_set_bytes: u64) -> u64 {
        match self {
            Self::Fresh => working_set_bytes,
            Self::Filled(share) => (working_set_bytes as f64 * share) as u64,
            Self::Steady => PASSES_MAX * working_set_bytes,
        }
    }

    /// What it is, and what it costs.
    pub fn announce(self, working_set_bytes: u64) -> String {
        format!(
            "{self}: writes up to {}, in time of its own",
            units::size(self.cost_bytes(working_set_bytes))
        )
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

/// Requests of one trial of stirring: a tenth of a pass.
pub fn stirring_ios(span_bytes: u64) -> u64 {
    (span_bytes / BLOCK_BYTES / 10).max(1)
}

/// Whether stirring has come to an end, by the bytes that each trial wrote and its bytes a second: steady, or enough.
pub fn is_stirred(trials: &[(u64, f64)], span_bytes: u64) -> bool {
    written_bytes(trials) >= PASSES_MAX * span_bytes || is_steady(trials, span_bytes)
}

fn written_bytes(trials: &[(u64, f64)]) -> u64 {
    trials.iter().map(|(bytes, _)| bytes).sum()
}

/// Whether the rate no longer changes.
pub fn is_steady(trials: &[(u64, f64)], span_bytes: u64) -> bool {
    let rates: Vec<f64> = trials.iter().rev().take(AGREEING).map(|(_, rate)| *rate).collect();
    let mean = rates.iter().sum::<f64>() / AGREEING as f64;
    // A whole pass first: until then the storage meets what the fill left in order.
    written_bytes(trials) >= span_bytes && rates.iter().all(|rate| (rate / mean - 1.0).abs() <= AGREE_WITHIN)
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
        assert_eq!("filled:50%".parse::<State>().unwrap().cost_bytes(1000), 500);
    }

    #[test]
    fn steady_is_a_pass_and_five_that_agree_or_two_passes() {
        let falling: Vec<_> = (0..10).map(|i| (100, 1000.0 * 0.8f64.powi(i))).collect();
        let level = [(100, 1000.0); 10];
        assert!(!is_steady(&falling, 1000) && is_steady(&level, 1000));
        assert!(!is_steady(&level[..9], 1000), "less than a pass");
        let twice = [falling.clone(), falling].concat();
        assert!(
            is_stirred(&twice, 1000) && !is_steady(&twice, 1000),
            "two passes are enough, and not steady"
        );
        assert!(is_stirred(&level, 1000));
    }
}

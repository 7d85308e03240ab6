//! The state in which a simulated device begins: fresh, filled or steady.

use std::{fmt, str::FromStr};

use iosonde_model::{toml_file::from_text, units};
use serde::{Deserialize, Deserializer};

/// State of a device at the start. Only flash depends on it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum StartState {
    /// Never written.
    #[default]
    Fresh,
    /// A share of it was written once, in sequence.
    Filled {
        /// Share of the capacity, above 0 and at most 1.
        share: f64,
    },
    /// Completely written at random until nothing changes any more.
    Steady,
}

impl fmt::Display for StartState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => f.write_str("fresh"),
            // To a ten-thousandth of a percent: 0.07 x 100 is 7.000000000000001.
            Self::Filled { share } => write!(f, "filled:{}%", (share * 1e6).round() / 1e4),
            Self::Steady => f.write_str("steady"),
        }
    }
}

impl FromStr for StartState {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || format!("`{text}` is no state; it is fresh, filled:P% (as filled:50%) or steady");
        match (text.trim(), text.trim().strip_prefix("filled:")) {
            ("fresh", _) => Ok(Self::Fresh),
            ("steady", _) => Ok(Self::Steady),
            (_, Some(share)) => {
                let share = units::parse_percent(share).map_err(|_| fail())?;
                if share > 0.0 && share <= 1.0 { Ok(Self::Filled { share }) } else { Err(fail()) }
            }
            _ => Err(fail()),
        }
    }
}

impl<'de> Deserialize<'de> for StartState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, "\"fresh\", \"filled:P%\" (as \"filled:50%\") or \"steady\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_read_back() {
        for state in [StartState::Fresh, StartState::Filled { share: 0.07 }, StartState::Steady] {
            assert_eq!(state.to_string().parse(), Ok(state));
        }
        for wrong in ["filled", "filled:0%", "filled:120%", "stable", ""] {
            assert!(wrong.parse::<StartState>().unwrap_err().contains("it is fresh"), "{wrong}");
        }
    }
}

//! Which requests of a random pattern are random: `all`, `75%`, `every:8`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{as_text::as_text, distribution::tidy};
use crate::units::parse_percent;

/// Which requests of a random pattern are random. The others begin where the last one of their direction ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Randomness {
    /// Every request.
    #[default]
    All,
    /// A share of them, drawn for each.
    Share {
        /// The share.
        share: f64,
    },
    /// The first of so many.
    Every {
        /// Requests from one random one to the next.
        requests: u32,
    },
}

impl Randomness {
    /// `75 % random`, `one of 8 random`.
    pub fn describe(&self) -> String {
        match self {
            Self::All => "random".to_owned(),
            Self::Share { share } => format!("{} % random", tidy(*share)),
            Self::Every { requests } => format!("one of {requests} random"),
        }
    }
}

impl fmt::Display for Randomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Share { share } => write!(f, "{}%", tidy(*share)),
            Self::Every { requests } => write!(f, "every:{requests}"),
        }
    }
}

impl FromStr for Randomness {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let fail =
            || format!("`{text}`: random requests are all, a share as in 75%, or one of some as in every:8");
        match text.strip_prefix("every:") {
            Some(requests) => match requests.parse() {
                Ok(requests @ 1..) => Ok(Self::Every { requests }),
                _ => Err(fail()),
            },
            None if text == "all" => Ok(Self::All),
            None => parse_percent(text).map(|share| Self::Share { share }).map_err(|_| fail()),
        }
    }
}

as_text!(Randomness);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_back_as_they_are_printed() {
        for text in ["all", "75%", "every:8"] {
            assert_eq!(text.parse::<Randomness>().unwrap().to_string(), text);
        }
        for text in ["every:0", "some", "every:"] {
            assert!(text.parse::<Randomness>().unwrap_err().contains("every:8"), "{text}");
        }
    }
}
